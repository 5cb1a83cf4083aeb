//! The recursive Gaussian of [`crate::math::recursive`], in place. A warp takes 32 neighbouring lines: it reads and writes each sample
//! once, whole rows of memory at a time, and keeps the output of the causal pass in shared memory until the anticausal pass reads it.
//!
//! Where lines are too long for shared memory, the `_long` kernels keep the output of the causal pass in global memory.

mod across;
mod along;
mod lines;

pub use lines::LINES;

use crate::params::Recursive;
use across::across;
use along::along;
use cuda_std::kernel;
use lines::{AHEAD, PADDED};

/// Bytes of dynamic shared memory for lines of `len` samples along x.
pub const fn bytes_along(len: u32) -> u32 {
    4 * PADDED * len.next_multiple_of(AHEAD)
}

/// Bytes of dynamic shared memory for lines of `len` samples along y or z.
pub const fn bytes_across(len: u32) -> u32 {
    4 * LINES * len
}

/// Filters lines along y or z. Blocks of [`LINES`] threads, one block per [`LINES`] lines of a slab, slab by slab, those beside
/// after the others.
///
/// # Safety
/// `planes` has `slabs * len * stride` samples and `beside` has `beside_slabs * len * stride`, `len` is at least 1, and the dynamic shared memory is [`bytes_across`].
#[kernel]
pub unsafe fn recursive_across(p: Recursive) {
    // SAFETY: this function asks of its caller what `across` asks.
    unsafe { across::<true>(&p) };
}

/// [`recursive_across`] without shared memory.
///
/// # Safety
/// As [`recursive_across`], but for the shared memory.
#[kernel]
pub unsafe fn recursive_across_long(p: Recursive) {
    // SAFETY: this function asks of its caller what `across` asks.
    unsafe { across::<false>(&p) };
}

/// Filters lines along x, one per slab. Blocks of [`LINES`] threads, one block per [`LINES`] lines, then as many as the lines beside need.
///
/// # Safety
/// `planes` has `slabs * len` samples and `beside` has `beside_slabs * len`, `len` is at least 1, and the dynamic shared memory is [`bytes_along`].
#[kernel]
pub unsafe fn recursive_along(p: Recursive) {
    // SAFETY: this function asks of its caller what `along` asks.
    unsafe { along::<true>(&p) };
}

/// [`recursive_along`] with no more shared memory than lines of one sample need.
///
/// # Safety
/// As [`recursive_along`], with [`bytes_along`] of 1.
#[kernel]
pub unsafe fn recursive_along_long(p: Recursive) {
    // SAFETY: this function asks of its caller what `along` asks.
    unsafe { along::<false>(&p) };
}
