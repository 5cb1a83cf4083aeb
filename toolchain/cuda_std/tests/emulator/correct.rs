//! Kernels without a fault must give the right result for every seed.

use cuda_std::emulator::{Launch, run};
use cuda_std::prelude::*;
use cuda_std::shared;

const THREADS: u32 = 128;
const BINS: usize = 40;

/// Sums `values` block by block, by shuffles within warps and through shared memory between them.
#[kernel]
unsafe fn block_sums(values: DeviceSlice<u32>, sums: DeviceSliceMut<u64>) {
    let partial = shared_slice![u32; 32];
    let warps = thread::block_dim_x() / 32;
    let i = thread::index_1d() as usize;
    // SAFETY: the launch has whole warps, at most 32; indices are checked against the slices' lengths.
    unsafe {
        let mut sum = if i < values.len() { values.get_cached(i) } else { 0 };
        for delta in [16, 8, 4, 2, 1] {
            sum += warp::shuffle_down(warp::ALL, sum, delta);
        }
        if warp::lane_id() == 0 {
            partial.store(thread::thread_idx_x() / 32, sum);
        }
        thread::sync_threads();
        if thread::thread_idx_x() < 32 {
            let lane = warp::lane_id();
            let sum = warp::reduce_add(warp::ALL, if lane < warps { partial.load(lane) } else { 0 });
            if lane == 0 {
                sums.add(0, sum.into());
            }
        }
    }
}

/// Counts `values` in shared memory, then adds the block's counts to `counts`.
#[kernel]
unsafe fn histogram(values: DeviceSlice<u8>, counts: DeviceSliceMut<u32>) {
    let bins = shared_slice![u32; BINS];
    let (me, threads) = (thread::thread_idx_x(), thread::block_dim_x());
    // SAFETY: bins are below `BINS`, and barriers lie between writing, counting and reading.
    unsafe {
        for bin in (me..bins.len()).step_by(threads as usize) {
            bins.store(bin, 0);
        }
        thread::sync_threads();
        let stride = (threads * thread::grid_dim_x()) as usize;
        for i in (thread::index_1d() as usize..values.len()).step_by(stride) {
            bins.add(u32::from(values.get(i)), 1);
        }
        thread::sync_threads();
        for bin in (me..bins.len()).step_by(threads as usize) {
            counts.add(bin as usize, bins.load(bin));
        }
    }
}

/// Reverses each block's values in the second half of dynamic shared memory, in bytes and in doubles.
#[kernel]
unsafe fn reverse(values: DeviceSliceMut<f64>, bytes: DeviceSliceMut<u8>) {
    let threads = thread::block_dim_x();
    let (me, i) = (thread::thread_idx_x(), thread::index_1d() as usize);
    // SAFETY: the launch has 9 bytes for each thread; each reads its own elements, and others' after the barrier.
    unsafe {
        let doubles = shared::dynamic::<f64>(0, threads);
        let small = shared::dynamic::<u8>(8 * threads, threads);
        doubles.store(me, values.get(i));
        small.store(me, bytes.get(i));
        thread::sync_threads();
        values.set(i, doubles.load(threads - 1 - me));
        bytes.set(i, small.load(threads - 1 - me));
    }
}

/// Passes values around the warp through shared memory, ordered by `sync_warp` only.
#[kernel]
unsafe fn rotate(rounds: u32, out: DeviceSliceMut<u32>) {
    let ring = shared_slice![u32; 64];
    let lane = warp::lane_id();
    let first = thread::thread_idx_x() - lane;
    // SAFETY: the launch has two whole warps, and each lane writes its own word between barriers of the warp.
    unsafe {
        ring.store(first + lane, lane);
        for _ in 0..rounds {
            warp::sync_warp(warp::ALL);
            let next = ring.load(first + (lane + 1) % 32);
            warp::sync_warp(warp::ALL);
            ring.store(first + lane, next);
        }
        out.set(thread::index_1d() as usize, ring.load(first + lane));
    }
}

/// Each block writes a part, and the last block to finish adds them up.
#[kernel]
unsafe fn last_block_sums(parts: DeviceSliceMut<f64>, done: DeviceSliceMut<u32>, sum: DeviceSliceMut<f64>) {
    // SAFETY: the slices have a part for each block and one element each.
    unsafe {
        parts.set(thread::block_idx_x() as usize, thread::block_idx_x().into());
        thread::device_fence();
        if done.fetch_add(0, 1) == thread::grid_dim_x() - 1 {
            thread::device_fence();
            sum.set(0, (0..parts.len()).map(|i| parts.load_relaxed(i)).sum());
        }
    }
}

/// The three barriers with a predicate, and what raw shared memory holds before it is written.
#[kernel]
unsafe fn barriers(limit: u32, out: DeviceSliceMut<u32>, stale: DeviceSliceMut<u32>) {
    let below = u32::from(thread::thread_idx_x() < limit);
    let raw = shared_array![u32; 1];
    // SAFETY: thread 0 alone uses the raw word; `out` has an element for each thread.
    unsafe {
        if thread::thread_idx_x() == 0 {
            stale.add(0, u32::from(*raw == 7));
            *raw = 7;
        }
        let all = thread::sync_threads_and(below);
        let any = thread::sync_threads_or(below);
        out.set(thread::index_1d() as usize, 100 * all + 1000 * any + thread::sync_threads_count(below));
    }
}

/// Calls all warp operations, in the even lanes alone and in all lanes.
#[kernel]
unsafe fn warp_operations(out: DeviceSliceMut<u64>) {
    let lane = warp::lane_id();
    const EVEN: u32 = 0x5555_5555;
    let mut hash = 0_u64;
    let mut put = |value: u64| hash = (hash ^ value).wrapping_mul(0x100_0000_01b3);
    // SAFETY: lanes call each operation with a mask of those that come here; `out` has an element for each thread.
    unsafe {
        if lane.is_multiple_of(2) {
            put(warp::ballot(EVEN, lane < 8).into());
            put(warp::reduce_add(EVEN, lane).into());
            put(warp::reduce_max(EVEN, lane).into());
            put(warp::shuffle_idx(EVEN, f64::from(lane), 6).to_bits());
        }
        put(warp::match_any(warp::ALL, lane / 5).into());
        put(warp::match_all(warp::ALL, lane / 32).into());
        put(warp::match_all(warp::ALL, lane).into());
        put(u64::from(warp::any(warp::ALL, lane == 3)) | u64::from(warp::all(warp::ALL, lane == 3)) << 1);
        put(warp::shuffle_up(warp::ALL, lane as f32, 3).to_bits().into());
        put(warp::shuffle_xor(warp::ALL, lane as i32, 5) as u64);
        put(warp::reduce_min(warp::ALL, lane + 9).into());
        out.set(thread::index_1d() as usize, hash);
    }
}

fn seeds(mut test: impl FnMut(u64)) {
    (0..8).for_each(&mut test);
}

#[test]
fn block_sums_are_right() {
    let values: Vec<u32> = (0..1000).map(|i| i * i % 977).collect();
    let expected: u64 = values.iter().map(|value| u64::from(*value)).sum();
    seeds(|seed| {
        let mut sum = 0_u64;
        let (input, output) =
            // SAFETY: the memory outlives the launch, which alone uses it.
            unsafe { (DeviceSlice::new(values.as_ptr(), 1000), DeviceSliceMut::new(&raw mut sum, 1)) };
        let launch = Launch::default().grid(8).block(THREADS).seed(seed);
        // SAFETY: the kernel stays within the slices, which have an element for each thread of this launch.
        run("block_sums", &launch, || unsafe { block_sums(input, output) }).unwrap();
        assert_eq!(sum, expected);
    });
}

#[test]
fn histogram_is_right() {
    let values: Vec<u8> = (0..50_000_u32).map(|i| (i * i % BINS as u32) as u8).collect();
    let mut expected = vec![0_u32; BINS];
    values.iter().for_each(|value| expected[usize::from(*value)] += 1);
    seeds(|seed| {
        let mut counts = vec![0_u32; BINS];
        // SAFETY: the memory outlives the launch, which alone uses it.
        let input = unsafe { DeviceSlice::new(values.as_ptr(), values.len() as u64) };
        // SAFETY: the memory outlives the launch, which alone uses it.
        let output = unsafe { DeviceSliceMut::new(counts.as_mut_ptr(), BINS as u64) };
        let launch = Launch::default().grid(5).block(96).seed(seed);
        // SAFETY: values are below `BINS`, of which there are as many counts.
        run("histogram", &launch, || unsafe { histogram(input, output) }).unwrap();
        assert_eq!(counts, expected);
    });
}

#[test]
fn dynamic_memory_holds_bytes_and_doubles() {
    seeds(|seed| {
        let mut values: Vec<f64> = (0..60).map(f64::from).collect();
        let mut bytes: Vec<u8> = (0..60).collect();
        // SAFETY: the memory outlives the launch, which alone uses it.
        let doubles = unsafe { DeviceSliceMut::new(values.as_mut_ptr(), 60) };
        // SAFETY: the memory outlives the launch, which alone uses it.
        let small = unsafe { DeviceSliceMut::new(bytes.as_mut_ptr(), 60) };
        let launch = Launch::default().grid(2).block(30).shared_bytes(270).seed(seed);
        // SAFETY: two blocks of 30 threads with 9 bytes each, and 60 elements.
        run("reverse", &launch, || unsafe { reverse(doubles, small) }).unwrap();
        let expected = (0..30).rev().chain((30..60).rev());
        assert!(expected.clone().map(f64::from).eq(values));
        assert!(expected.map(|value| value as u8).eq(bytes));
    });
}

#[test]
fn warp_synchronous_code_is_no_race() {
    seeds(|seed| {
        let mut out = vec![0; 128];
        // SAFETY: the memory outlives the launch, which alone uses it.
        let slice = unsafe { DeviceSliceMut::new(out.as_mut_ptr(), 128) };
        // SAFETY: the kernel stays within the slices, which have an element for each thread of this launch.
        run("rotate", &Launch::default().grid(2).block(64).seed(seed), || unsafe { rotate(5, slice) }).unwrap();
        assert!((0..128).all(|i| out[i as usize] == (i + 5) % 32));
    });
}

#[test]
fn blocks_see_what_others_wrote() {
    seeds(|seed| {
        let (mut parts, mut done, mut sum) = ([f64::NAN; 50], 0, 0.0);
        // SAFETY: the memory outlives the launch, which alone uses it.
        let parts = unsafe { DeviceSliceMut::new(parts.as_mut_ptr(), 50) };
        // SAFETY: the memory outlives the launch, which alone uses it.
        let (done, out) = unsafe { (DeviceSliceMut::new(&raw mut done, 1), DeviceSliceMut::new(&raw mut sum, 1)) };
        let launch = Launch::default().grid(50).seed(seed);
        // SAFETY: 50 blocks and 50 parts.
        run("last_block_sums", &launch, || unsafe { last_block_sums(parts, done, out) }).unwrap();
        assert_eq!(sum, 1225.0);
    });
}

#[test]
fn barriers_with_predicates_are_right() {
    for (limit, expected) in [(0, 0), (5, 1005), (40, 1140)] {
        let (mut out, mut stale) = (vec![0; 160], 0);
        // SAFETY: the memory outlives the launch, which alone uses it.
        let slice = unsafe { DeviceSliceMut::new(out.as_mut_ptr(), 160) };
        // SAFETY: the memory outlives the launch, which alone uses it.
        let stale_slice = unsafe { DeviceSliceMut::new(&raw mut stale, 1) };
        let launch = Launch::default().grid(4).block(40);
        // SAFETY: the kernel stays within the slices, which have an element for each thread of this launch.
        run("barriers", &launch, || unsafe { barriers(limit, slice, stale_slice) }).unwrap();
        assert!(out.iter().all(|value| *value == expected) && stale == 0);
    }
}

#[test]
fn warp_operations_are_right() {
    let expected: Vec<u64> = (0..32).map(expected_hash).collect();
    seeds(|seed| {
        let mut out = vec![0; 64];
        // SAFETY: the memory outlives the launch, which alone uses it.
        let slice = unsafe { DeviceSliceMut::new(out.as_mut_ptr(), 64) };
        let launch = Launch::default().block(64).seed(seed);
        // SAFETY: the kernel stays within the slices, which have an element for each thread of this launch.
        run("warp_operations", &launch, || unsafe { warp_operations(slice) }).unwrap();
        assert_eq!(out, [&expected[..], &expected[..]].concat());
    });
}

/// The result of `warp_operations` in `lane`, worked out by hand.
fn expected_hash(lane: u32) -> u64 {
    let mut values = Vec::new();
    if lane.is_multiple_of(2) {
        values.extend([0b101_0101, (0..32).step_by(2).sum(), 30, 6_f64.to_bits()]);
    }
    let group = lane / 5 * 5;
    values.push((group..(group + 5).min(32)).map(|lane| 1 << lane).sum());
    values.extend([u32::MAX.into(), 0, 1]);
    values.push((if lane < 3 { lane } else { lane - 3 } as f32).to_bits().into());
    values.extend([u64::from(lane ^ 5), 9]);
    values.into_iter().fold(0, |hash: u64, value: u64| (hash ^ value).wrapping_mul(0x100_0000_01b3))
}

/// Finds the greatest of the 16-bit halves of words.
#[kernel]
unsafe fn greatest_half(words: DeviceSlice<u32>, greatest: DeviceSliceMut<u32>) {
    let i = thread::index_1d() as usize;
    // SAFETY: words are aligned for their halves, and indices are checked.
    unsafe {
        let halves = words.cast::<u16>();
        if i < halves.len() {
            greatest.max(0, halves.get(i).into());
        }
    }
}

#[test]
fn words_are_read_by_halves_and_their_greatest_is_found() {
    let words: Vec<u32> = (0..1000).map(|i: u32| i.wrapping_mul(0x9E37_79B9)).collect();
    let expected = words.iter().flat_map(|word| [word & 0xFFFF, word >> 16]).max();
    let mut greatest = [7];
    // SAFETY: the memory outlives the launch, which alone uses it.
    let slices = unsafe { (DeviceSlice::new(words.as_ptr(), 1000), DeviceSliceMut::new(greatest.as_mut_ptr(), 1)) };
    let launch = Launch::default().grid(2000_u32.div_ceil(THREADS)).block(THREADS);
    // SAFETY: `greatest` has the one element that the kernel uses.
    run("greatest_half", &launch, || unsafe { greatest_half(slices.0, slices.1) }).unwrap();
    assert_eq!(Some(greatest[0]), expected);
}
