//! Barriers that not all threads reach.

use super::{FAULTY, fault_of, faulty, thread_and_kind};
use cuda_std::emulator::{FaultKind, Launch, run};
use cuda_std::prelude::*;

#[kernel]
unsafe fn skips_barrier(who: u32) {
    if faulty() && thread::thread_idx_x() == who {
        return;
    }
    thread::sync_threads();
}

#[test]
fn a_barrier_that_a_thread_skips() {
    // SAFETY: the emulator stops the kernel at its fault.
    let fault = fault_of(|| unsafe { skips_barrier(37) });
    let expected = FaultKind::BarrierNotReached { name: "sync_threads", waiting: 63 };
    assert_eq!(thread_and_kind(&fault), (37, &expected));
    assert_eq!(
        fault.to_string(),
        "kernel planted, block (5, 0, 0), thread (37, 0, 0): exited before sync_threads, at which 63 threads wait"
    );
}

#[kernel]
unsafe fn mixes_barriers() {
    if faulty() && thread::thread_idx_x() == 0 {
        thread::sync_threads_count(1);
    } else {
        thread::sync_threads();
    }
}

#[test]
fn two_kinds_of_barrier() {
    let launch = Launch::default().grid(9).block(64);
    // SAFETY: the emulator stops the kernel at its fault.
    let fault = run("mixes_barriers", &launch, || unsafe { mixes_barriers() }).unwrap_err();
    assert_eq!(fault.block, [FAULTY, 0, 0]);
    assert!(matches!(fault.kind, FaultKind::BarrierMismatch { .. }), "{fault}");
}
