//! Invalid launches, kernels that panic, and how a faulty launch ends.

use super::{fault_of, faulty, thread_and_kind};
use cuda_std::emulator::{FaultKind, Launch, run};
use cuda_std::prelude::*;
use cuda_std::shared;

#[test]
fn what_a_device_would_refuse() {
    let misuse = |launch: Launch, body: fn()| match run("refused", &launch, body).map_err(|fault| fault.kind) {
        Err(FaultKind::Misuse(text)) => text,
        other => panic!("{other:?}"),
    };
    assert!(misuse(Launch::default().block(1025), || {}).contains("1025"));
    assert!(misuse(Launch::default().grid(0), || {}).contains("grid"));
    assert!(misuse(Launch::default().shared_bytes(1 << 20), || {}).contains("1048576"));
    // SAFETY: the emulator stops the kernel at its fault.
    let dynamic = |byte_offset, len| unsafe { shared::dynamic::<u32>(byte_offset, len) };
    assert_eq!(dynamic_of(dynamic, 0, 16), None);
    assert!(dynamic_of(dynamic, 4, 16).unwrap().contains("68 bytes"));
    assert!(dynamic_of(dynamic, 2, 1).unwrap().contains("unaligned"));
    assert!(misuse(Launch::default(), || _ = shared_slice![u64; 6145]).contains("48 KiB"));
}

/// Returns what is wrong with a dynamic slice in a launch with 64 bytes of dynamic shared memory.
fn dynamic_of(slice: impl Fn(u32, u32) -> shared::SharedSlice<u32> + Sync, offset: u32, len: u32) -> Option<String> {
    let launch = Launch::default().shared_bytes(64);
    let body = || _ = slice(offset, len);
    match run("dynamic", &launch, body) {
        Ok(()) => None,
        Err(fault) => Some(fault.to_string()),
    }
}

#[kernel]
unsafe fn panics() {
    if faulty() {
        assert_ne!(thread::thread_idx_x(), 6, "six");
        thread::sync_threads();
    }
}

#[test]
fn a_panic() {
    // SAFETY: the emulator stops the kernel at its fault.
    let fault = fault_of(|| unsafe { panics() });
    let (thread, FaultKind::Panic(message)) = thread_and_kind(&fault) else { panic!("{fault}") };
    assert!(thread == 6 && message.contains("six"), "{message}");
}

/// Every block from block 3 on has a fault. That of block 3 comes long after the others.
#[kernel]
unsafe fn many_faults() {
    for _ in 0..if thread::block_idx_x() == 3 { 20_000 } else { 0 } {
        thread::sync_threads();
    }
    if thread::block_idx_x() >= 3 {
        // SAFETY: the emulator stops the kernel at its fault.
        unsafe { warp::ballot(0, true) };
    }
}

#[test]
fn the_lowest_faulty_block_is_reported() {
    let launch = Launch::default().grid(40).block(2);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    // SAFETY: the emulator stops the kernel at its fault.
    let fault = pool.install(|| run("many_faults", &launch, || unsafe { many_faults() })).unwrap_err();
    assert_eq!(fault.block, [3, 0, 0]);
}

/// Values on the stacks of threads that are ended by a fault are dropped.
#[test]
fn threads_are_unwound_after_a_fault() {
    use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
    struct Counted<'a>(&'a AtomicI32);
    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Relaxed);
        }
    }
    let alive = AtomicI32::new(0);
    let body = || {
        alive.fetch_add(1, Relaxed);
        let _counted = Counted(&alive);
        thread::sync_threads();
        assert_ne!(thread::thread_idx_x(), 5);
        thread::sync_threads();
    };
    assert!(run("unwound", &Launch::default().grid(4).block(64), body).is_err());
    assert_eq!(alive.into_inner(), 0);
}
