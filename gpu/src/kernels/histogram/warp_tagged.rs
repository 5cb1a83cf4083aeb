//! `warp-tagged` and `warp-tagged-direct`: Method 1 of Shams & Kennedy (Shams 2009 section 4.1.1) for joint histograms, the base
//! algorithm of Ledig section 2.2. One 27-bit counter in a word under the lane's tag: see [`tagged`](super::tagged).
//!
//! `warp-tagged` first makes the combined image (Ledig eq. 4), of the size of an image in 32 bits a voxel; each launch over a range
//! of bins reads that. Where eq. 4 stores an intensity, from which a bin is made again, this stores the joint index itself, of the
//! separable form (see [`bin`](crate::math::bin)), and a number that is in no range for a voxel that is not counted.
//! `warp-tagged-direct` does without that memory: every launch samples again.

use super::tagged::{VOXELS, count, sampled, voxels};
use crate::kernels::{block_threads, thread_number};
use crate::params::Tagged;
use cuda_std::kernel;
use cuda_std::thread::{block_idx_x, grid_dim_x};

/// Makes the combined image. Any blocks and grid.
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

/// Counts a range of the combined image. Blocks of whole warps; `range` words of dynamic shared memory a warp.
///
/// # Safety
/// As [`combine`], and the range ends where the histogram does or before.
#[kernel]
pub unsafe fn tagged_combined(p: Tagged<[u32; 2]>) {
    // SAFETY: as this function's.
    unsafe { count_combined::<1>(&p) }
}

/// Samples, and counts a range. Blocks of whole warps; `range` words of dynamic shared memory a warp.
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
    // SAFETY: as this function's.
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
    // SAFETY: as this function's.
    unsafe { count::<N, _>(p, counters, |counter| p.first + counter) }
}
