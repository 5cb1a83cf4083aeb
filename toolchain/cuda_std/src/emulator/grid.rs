//! Runs the blocks of a launch.

use super::block::Block;
use super::fault::{Fault, FaultKind};
use super::launch::Launch;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// The largest number of blocks that run at the same time. Their stacks are memory mappings, whose number is limited.
const MOST_WORKERS: usize = 16;

/// Runs a grid: calls `body`, which calls the kernel, once for each thread. Blocks run in parallel on rayon's pool.
///
/// # Errors
/// The fault of the lowest block that has one, with the name `kernel`. Higher blocks may not have run in that case.
pub fn run(kernel: &str, launch: &Launch, body: impl Fn() + Sync) -> Result<(), Fault> {
    let fault = |block, thread, kind| Fault { kernel: kernel.into(), block, thread, kind };
    if let Some(refusal) = launch.refusal() {
        return Err(fault([0; 3], [0; 3], FaultKind::Misuse(refusal)));
    }
    let workers = MOST_WORKERS.min(rayon::current_num_threads()).min(launch.blocks() as usize);
    let next = AtomicU64::new(0);
    let first_faulty = AtomicU64::new(u64::MAX);
    let first_fault = Mutex::new(None);
    let work = || {
        let mut worker = Block::new(launch);
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            // Blocks begin in order, so that all blocks below a faulty one have begun. They run to their end.
            let stopped = || first_faulty.load(Ordering::Relaxed) < number;
            if number >= launch.blocks() || stopped() {
                return;
            }
            if let Err((thread, kind)) = worker.run(number, &body, &stopped) {
                first_faulty.fetch_min(number, Ordering::Relaxed);
                let mut first = first_fault.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                if first.as_ref().is_none_or(|(other, _)| number < *other) {
                    *first = Some((number, fault(launch.block_idx(number), thread, kind)));
                }
            }
        }
    };
    rayon::scope(|scope| (0..workers).for_each(|_| scope.spawn(|_| work())));
    match first_fault.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
        Some((_, fault)) => Err(fault),
        None => Ok(()),
    }
}
