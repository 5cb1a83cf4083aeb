//! The threads that work is spread over. Results never depend on how many there are.

use crate::{Error, Result};

/// Runs `work` with this many threads for everything parallel in it; 0 for one a core.
///
/// # Errors
/// [`Error::Device`] where the operating system refuses the threads; else what `work` returns.
pub fn with<T: Send>(threads: usize, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|e| Error::device("cpu", format!("cannot start {threads} threads: {e}")))?.install(work)
}
