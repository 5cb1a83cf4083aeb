//! Warp operations with wrong masks.

use super::{FAULTY, fault_of, faulty, thread_and_kind};
use cuda_std::emulator::{FaultKind, Launch, WarpProblem, run};
use cuda_std::prelude::*;

fn warp_fault(operation: &'static str, mask: u32, problem: WarpProblem) -> FaultKind {
    FaultKind::WarpMask { operation, mask, problem }
}

#[kernel]
unsafe fn calls_from_outside_the_mask() {
    if !faulty() || thread::thread_idx_x() == 40 {
        // SAFETY: the emulator stops the kernel at its fault.
        unsafe { warp::ballot(if faulty() { 0xff } else { warp::ALL }, true) };
    }
}

#[test]
fn a_mask_without_the_caller() {
    // SAFETY: the emulator stops the kernel at its fault.
    let fault = fault_of(|| unsafe { calls_from_outside_the_mask() });
    assert_eq!(thread_and_kind(&fault), (40, &warp_fault("ballot", 0xff, WarpProblem::CallerMissing(8))));
}

#[kernel]
unsafe fn leaves_its_warp(who: u32) {
    if !faulty() || thread::thread_idx_x() != who {
        // SAFETY: the emulator stops the kernel at its fault.
        unsafe { warp::sync_warp(warp::ALL) }
    }
}

#[test]
fn a_mask_with_a_lane_that_exits() {
    let launch = Launch::default().grid(9).block(64).seed(3);
    // SAFETY: the emulator stops the kernel at its fault.
    let fault = run("planted", &launch, || unsafe { leaves_its_warp(35) }).unwrap_err();
    assert_eq!(fault.block, [FAULTY, 0, 0]);
    assert!((32..64).contains(&fault.thread[0]) && fault.thread[0] != 35);
    assert_eq!(fault.kind, warp_fault("sync_warp", warp::ALL, WarpProblem::LaneExited(3)));
}

#[test]
fn a_mask_with_a_lane_that_the_block_lacks() {
    let launch = Launch::default().block(40);
    // SAFETY: the emulator stops the kernel at its fault.
    let fault = run("planted", &launch, || unsafe { leaves_its_warp(99) }).unwrap_err();
    assert!((32..40).contains(&fault.thread[0]));
    assert_eq!(fault.kind, warp_fault("sync_warp", warp::ALL, WarpProblem::LaneAbsent(8)));
}

#[kernel]
unsafe fn disagrees_on_the_mask() {
    if faulty() {
        // SAFETY: the emulator stops the kernel at its fault.
        unsafe { warp::any(if thread::thread_idx_x() == 0 { 0b11 } else { 0b111 }, true) };
    }
}

#[kernel]
unsafe fn disagrees_on_the_operation() {
    if !faulty() || thread::thread_idx_x() > 1 {
        return;
    }
    if thread::thread_idx_x() == 0 {
        // SAFETY: the emulator stops the kernel at its fault.
        unsafe { warp::sync_warp(0b11) }
    } else {
        // SAFETY: the emulator stops the kernel at its fault.
        unsafe { warp::shuffle_xor(0b11, 1, 1) };
    }
}

#[test]
fn lanes_that_disagree() {
    for body in [disagrees_on_the_mask as unsafe fn(), disagrees_on_the_operation] {
        // SAFETY: the emulator stops the kernel at its fault.
        let fault = run("planted", &Launch::default().grid(9).block(3), || unsafe { body() }).unwrap_err();
        assert_eq!(fault.block, [FAULTY, 0, 0]);
        let FaultKind::WarpMask { problem, .. } = fault.kind else { panic!("{fault}") };
        let other = 1 - fault.thread[0];
        assert!(matches!(problem, WarpProblem::Disagreement { lane, .. } if lane == other), "{problem}");
    }
}

#[kernel]
unsafe fn waits_elsewhere() {
    if faulty() && thread::thread_idx_x() == 33 {
        thread::sync_threads();
    }
    if !faulty() || thread::thread_idx_x() >= 32 {
        // SAFETY: the emulator stops the kernel at its fault.
        unsafe { warp::sync_warp(warp::ALL) }
    }
}

#[test]
fn a_mask_with_a_lane_that_waits_at_a_barrier() {
    // SAFETY: the emulator stops the kernel at its fault.
    let fault = fault_of(|| unsafe { waits_elsewhere() });
    assert_eq!(thread_and_kind(&fault), (32, &warp_fault("sync_warp", warp::ALL, WarpProblem::LaneStuck(1))));
}

#[kernel]
unsafe fn reads_a_lane_outside_the_mask() {
    let lane = warp::lane_id();
    if lane < 4 {
        let from = if faulty() && thread::thread_idx_x() == 34 { 9 } else { 0 };
        // SAFETY: the emulator stops the kernel at its fault.
        unsafe { warp::shuffle_idx(0xf, lane, from) };
    }
}

#[test]
fn a_shuffle_from_outside_the_mask() {
    // SAFETY: the emulator stops the kernel at its fault.
    let fault = fault_of(|| unsafe { reads_a_lane_outside_the_mask() });
    assert_eq!(thread_and_kind(&fault), (34, &warp_fault("shuffle_idx", 0xf, WarpProblem::SourceMissing(9))));
}
