//! One small kernel for each kind of fault, and tests of where it is reported.

mod barriers;
mod launches;
mod memory;
mod races;
mod warps;

use cuda_std::emulator::{Fault, FaultKind, Launch, run};
use cuda_std::thread;

/// The block in which the faults below are planted.
const FAULTY: u32 = 5;

fn faulty() -> bool {
    thread::block_idx_x() == FAULTY
}

/// Runs 9 blocks of 64 threads with several seeds, and returns the fault, which must be the same for all.
fn fault_of(body: impl Fn() + Sync) -> Fault {
    let fault = |seed| {
        let launch = Launch::default().grid(9).block(64).shared_bytes(64).seed(seed);
        let fault = run("planted", &launch, &body).unwrap_err();
        assert_eq!((fault.kernel.as_str(), fault.block), ("planted", [FAULTY, 0, 0]), "{fault}");
        fault
    };
    let first = fault(0);
    assert!((1..6).all(|seed| fault(seed) == first));
    first
}

fn thread_and_kind(fault: &Fault) -> (u32, &FaultKind) {
    (fault.thread[0], &fault.kind)
}
