//! The seed determines the order of threads. With the same seed, results are the same.

use cuda_std::emulator::{Launch, run};
use cuda_std::prelude::*;
use std::collections::BTreeSet;

/// Writes the order in which the threads of the block ran.
#[kernel]
unsafe fn queue(order: DeviceSliceMut<u32>) {
    let next = shared_slice![u32; 1];
    // SAFETY: `order` has an element for each thread, and the barrier is behind the first store.
    unsafe {
        if thread::thread_idx_x() == 0 {
            next.store(0, 0);
        }
        thread::sync_threads();
        let place = next.fetch_add(0, 1);
        order.set(place as usize, thread::thread_idx_x());
    }
}

/// Adds floats whose sum depends on the order.
#[kernel]
unsafe fn float_sum(sum: DeviceSliceMut<f32>) {
    // SAFETY: `sum` has one element; the addition is atomic.
    unsafe { sum.add(0, 1.0 / (1.0 + thread::thread_idx_x() as f32)) }
}

/// Takes a lock, changes the value that it guards, and releases it.
#[kernel]
unsafe fn locked(total: DeviceSliceMut<u32>) {
    let lock = shared_slice![u32; 1];
    // SAFETY: the barrier is behind the first store, and the lock guards `total`.
    unsafe {
        if thread::thread_idx_x() == 0 {
            lock.store(0, 0);
        }
        thread::sync_threads();
        while lock.compare_exchange(0, 0, 1) != 0 {}
        thread::nanosleep(10);
        total.set(0, total.get(0) + 1);
        lock.exchange(0, 0);
    }
}

fn queue_of(seed: u64) -> Vec<u32> {
    let mut order = vec![0; 70];
    // SAFETY: the memory outlives the launch, which alone uses it.
    let slice = unsafe { DeviceSliceMut::new(order.as_mut_ptr(), 70) };
    // SAFETY: 70 threads and elements.
    run("queue", &Launch::default().block(70).seed(seed), || unsafe { queue(slice) }).unwrap();
    order
}

#[test]
fn seeds_change_the_order_of_threads() {
    let orders: BTreeSet<_> = (0..10).map(queue_of).collect();
    assert_eq!(orders.len(), 10);
    let all: BTreeSet<_> = (0..70).collect();
    assert!(orders.iter().all(|order| order.iter().copied().collect::<BTreeSet<_>>() == all));
}

#[test]
fn a_seed_repeats_its_order() {
    assert!((0..5).all(|seed| queue_of(seed) == queue_of(seed)));
}

#[test]
fn float_sums_depend_on_the_order() {
    let sum = |seed| {
        let mut sum = 0.0_f32;
        // SAFETY: the memory outlives the launch, which alone uses it.
        let slice = unsafe { DeviceSliceMut::new(&raw mut sum, 1) };
        // SAFETY: one element.
        run("float_sum", &Launch::default().block(256).seed(seed), || unsafe { float_sum(slice) }).unwrap();
        sum.to_bits()
    };
    assert!((0..20).map(sum).collect::<BTreeSet<_>>().len() > 1);
}

#[test]
fn spinning_on_a_lock_ends() {
    let mut total = 0;
    // SAFETY: the memory outlives the launch, which alone uses it.
    let slice = unsafe { DeviceSliceMut::new(&raw mut total, 1) };
    // SAFETY: one element.
    run("locked", &Launch::default().block(50), || unsafe { locked(slice) }).unwrap();
    assert_eq!(total, 50);
}
