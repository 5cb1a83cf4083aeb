//! Copies words to or from page-locked (pinned) memory of the host by a kernel, so that the copy is one more launch in
//! a stream.

use crate::params::CopyWords;
use cuda_std::kernel;
use cuda_std::thread::index_1d;

/// Copies `len` words: one thread per word, in blocks of any size that cover them.
///
/// # Safety
/// Both slices have `len` words.
#[kernel]
pub unsafe fn copy_words(p: CopyWords) {
    let at = index_1d();
    if at < p.len {
        // SAFETY: below `len`, which the caller says both slices have.
        unsafe { p.to.set(at as usize, p.from.get(at as usize)) };
    }
}
