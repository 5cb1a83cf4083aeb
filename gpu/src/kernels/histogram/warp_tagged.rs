//! `warp-tagged` and `warp-tagged-direct`: Method 1 of Shams & Kennedy (Shams 2009 section 4.1.1) for joint histograms,
//! which is the base algorithm of Ledig section 2.2. A word holds one 27-bit counter below the tag of a lane: see
//! [`tagged`](super::tagged).
//!
//! `warp-tagged` first makes the combined image (Ledig eq. 4), with 32 bits per voxel. Each launch counts a range of
//! bins from that image. Eq. 4 stores an intensity, from which a bin is computed again. This implementation stores the
//! joint index itself, in the separable form (see [`bin`](crate::math::bin)), or a number outside every range if the
//! voxel is not counted. `warp-tagged-direct` needs no memory for the combined image: every launch samples the moving
//! image again.

use super::tagged::{VOXELS, count, sampled, voxels};
use crate::kernels::{block_threads, thread_number};
use crate::params::Tagged;
use cuda_std::kernel;
use cuda_std::thread::{block_idx_x, grid_dim_x};

/// Makes the combined image. Thread blocks and grid of any size.
///
/// # Safety
/// The slices are as long as the sizes say, and every size is at least 1.
#[kernel]
pub unsafe fn combine(p: Tagged<[u32; 2]>) {
    let last = voxels(&p.images).div_ceil(VOXELS);
    let mut word = block_idx_x() * block_threads() + thread_number();
    while word < last {
        // SAFETY: in the image.
        unsafe { p.stored.set(word as usize, sampled(&p.images, word)) };
        word += block_threads() * grid_dim_x();
    }
}

/// Counts a range of the combined image. Thread blocks of whole warps; `range` words of dynamic shared memory per warp.
///
/// # Safety
/// As [`combine`], and the range ends where the histogram does or before.
#[kernel]
pub unsafe fn tagged_combined(p: Tagged<[u32; 2]>) {
    // SAFETY: by this function's contract.
    unsafe { count_combined::<1>(&p) }
}

/// Samples the moving image, and counts a range. Thread blocks of whole warps; `range` words of dynamic shared memory
/// per warp.
///
/// # Safety
/// As [`tagged_combined`], without the combined image.
#[kernel]
pub unsafe fn tagged_direct(p: Tagged<u32>) {
    let counters = |word| {
        // SAFETY: in the image.
        let [one, other] = unsafe { sampled(&p.images, word) };
        [one.wrapping_sub(p.first), other.wrapping_sub(p.first)]
    };
    // SAFETY: by this function's contract.
    unsafe { count::<1, _>(&p, counters, |counter| p.first + counter) }
}

/// Counts a range of the combined image with `N` counters in a word.
///
/// # Safety
/// As [`count`].
#[inline(always)]
pub unsafe fn count_combined<const N: u32>(p: &Tagged<[u32; 2]>) {
    let counters = |word| {
        // SAFETY: in the combined image, which no launch writes now.
        let [one, other] = unsafe { p.stored.as_slice().get_cached(word as usize) };
        [one.wrapping_sub(p.first), other.wrapping_sub(p.first)]
    };
    // SAFETY: by this function's contract.
    unsafe { count::<N, _>(p, counters, |counter| p.first + counter) }
}
