//! Words from one memory to another, such as page-locked memory of the host.

use crate::params::CopyWords;
use cuda_std::kernel;
use cuda_std::thread::index_1d;

/// One thread a word, in any number of blocks that covers them.
///
/// # Safety
/// Both slices have `len` words.
#[kernel]
pub unsafe fn copy_words(p: CopyWords) {
    let at = index_1d();
    if at < p.len {
        // SAFETY: as this function's.
        unsafe { p.to.set(at as usize, p.from.get(at as usize)) };
    }
}
