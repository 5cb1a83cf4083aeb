//! The recursive Gaussian filter of [`crate::math::recursive`], in place. A warp takes 32 neighbouring lines. It reads
//! and writes each sample once, with coalesced accesses, and keeps the output of the causal pass in shared memory until
//! the anticausal pass reads it.
//!
//! The `_long` kernels are for lines that are too long for shared memory. They keep the output of the causal pass in
//! global memory.

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

/// Filters lines along y or z. Thread blocks of [`LINES`] threads, one block per [`LINES`] lines of a slab: first all
/// slabs of `planes`, then those of `second_planes`.
///
/// # Safety
/// `planes` has `slabs * len * stride` samples and `second_planes` has `second_slabs * len * stride`, `len` is at least
/// 1, and the dynamic shared memory is [`bytes_across`] of `len`.
#[kernel]
pub unsafe fn recursive_across(p: Recursive) {
    // SAFETY: `across` has the same contract as this function.
    unsafe { across::<true>(&p) };
}

/// [`recursive_across`] without shared memory.
///
/// # Safety
/// As [`recursive_across`], but for the shared memory.
#[kernel]
pub unsafe fn recursive_across_long(p: Recursive) {
    // SAFETY: `across` has the same contract as this function.
    unsafe { across::<false>(&p) };
}

/// Filters lines along x, one per slab. Thread blocks of [`LINES`] threads, one block per [`LINES`] lines of `planes`,
/// then one per [`LINES`] lines of `second_planes`.
///
/// # Safety
/// `planes` has `slabs * len` samples and `second_planes` has `second_slabs * len`, `len` is at least 1, and the
/// dynamic shared memory is [`bytes_along`] of `len`.
#[kernel]
pub unsafe fn recursive_along(p: Recursive) {
    // SAFETY: `along` has the same contract as this function.
    unsafe { along::<true>(&p) };
}

/// [`recursive_along`] with the shared memory of a single chunk of each line.
///
/// # Safety
/// As [`recursive_along`], with [`bytes_along`] of 1.
#[kernel]
pub unsafe fn recursive_along_long(p: Recursive) {
    // SAFETY: `along` has the same contract as this function.
    unsafe { along::<false>(&p) };
}
