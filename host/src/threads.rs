//! The threads that work is spread over. Results never depend on how many there are.

use crate::{Error, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread::available_parallelism;

/// Threads that are started once and used again and again.
///
/// Work that comes while other work is under way has threads of its own: in a shared pool a thread that waits for a part of one run would
/// take up another run whole, and the first would neither end nor stop before that.
#[derive(Debug)]
pub struct Threads {
    count: usize,
    idle: Mutex<Vec<ThreadPool>>,
}

impl Threads {
    /// Starts `count` threads; 0 for one per core.
    ///
    /// # Errors
    /// [`Error::Device`] where the operating system refuses them.
    pub fn start(count: usize) -> Result<Self> {
        Ok(Self { count, idle: Mutex::new(vec![pool(count)?]) })
    }

    /// Runs `work` with these threads for everything parallel in it.
    ///
    /// # Errors
    /// [`Error::Device`] where the operating system refuses threads; else what `work` returns.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = idle().pop();
        let pool = waiting.map_or_else(|| pool(self.count), Ok)?;
        let done = pool.install(work);
        idle().push(pool);
        done
    }
}

fn pool(count: usize) -> Result<ThreadPool> {
    // Rayon's own default would read the environment.
    let count = if count == 0 { available_parallelism().map_or(1, NonZero::get) } else { count };
    let pool = ThreadPoolBuilder::new().num_threads(count).build();
    pool.map_err(|e| Error::device("cpu", format!("cannot start {count} threads: {e}")))
}

/// Runs `work` with this many threads for everything parallel in it; 0 for one per core.
///
/// # Errors
/// [`Error::Device`] where the operating system refuses the threads; else what `work` returns.
pub fn with<T: Send>(threads: usize, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    Threads::start(threads)?.run(work)
}
