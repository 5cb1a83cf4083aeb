//! Counting with warp-tagged counters, for the methods that do: each warp goes over the fixed image, two neighbouring voxels per lane, and
//! counts the pairs in the launch's range in a partial histogram of its own.
//!
//! A range is what fits into a warp's share of shared memory; several launches cover the joint histogram (Shams 2009 section 4.1.1,
//! Ledig section 2.2). A block sums its warps' counters and adds them to global memory at its end, and before that as often as is needed
//! for none to overflow, whatever the image (Ledig section 2.3): see [`Partial::ADDS`].

mod partial;
#[cfg(test)]
mod tests;

pub use partial::{LANES, Partial};

use crate::kernels::histogram::pair::{self, NONE};
use crate::kernels::{block_threads, thread_number};
use crate::params::{Images, Tagged};
use cuda_std::thread::{block_idx_x, grid_dim_x};

/// Voxels that a lane takes at a time.
pub const VOXELS: u32 = 2;

/// Counts the voxels. `counters` gives the numbers of two voxels' counters, less the launch's first; a number not below the launch's range
/// is not counted. `place` gives the index of a counter in the joint histogram, from its number less the first.
///
/// # Safety
/// Blocks of whole warps, each with shared memory as [`Partial::new`] says for the range. The slices are as long as the sizes say.
#[inline(always)]
pub unsafe fn count<const N: u32, T: Copy>(
    p: &Tagged<T>,
    mut counters: impl FnMut(u32) -> [u32; VOXELS as usize],
    place: impl Fn(u32) -> u32,
) {
    let last = voxels(&p.images).div_ceil(VOXELS);
    let mut first = block_threads() * block_idx_x();
    let mut rounds = 0;
    // SAFETY: as this function's; `first` and `rounds` are the block's, so that its threads go through this together.
    unsafe {
        let partial = Partial::<N>::new(p.range);
        let flush = || partial.flush(p.counters, |counter| p.histogram + place(counter));
        partial.clear();
        while first < last {
            let word = first + thread_number();
            let [one, other] = if word < last { counters(word) } else { [NONE; 2] };
            partial.add(one < p.range, one);
            partial.add(other < p.range, other);
            rounds += 1;
            if rounds == Partial::<N>::ADDS / VOXELS {
                flush();
                partial.clear();
                rounds = 0;
            }
            first += block_threads() * grid_dim_x();
        }
        flush();
    }
}

/// The joint indices of the voxels `2 * word` and, if it is in the fixed image, `2 * word + 1`; [`NONE`] as in [`pair::pair`].
///
/// # Safety
/// The former is in the fixed image, and the slices are as long as the sizes say.
#[inline(always)]
pub unsafe fn pairs(images: &Images, word: u32, pair: impl Fn(u32, u32) -> u32) -> [u32; VOXELS as usize] {
    let [width, height, depth] = images.fixed_size;
    // SAFETY: sizes are at least 1.
    unsafe { core::hint::assert_unchecked(width > 0) };
    let (x, row) = (VOXELS * word % width, VOXELS * word / width);
    let (next_x, next_row) = if x + 1 < width { (x + 1, row) } else { (0, row + 1) };
    [pair(x, row), if next_row < height * depth { pair(next_x, next_row) } else { NONE }]
}

/// [`pairs`] by sampling the moving image.
///
/// # Safety
/// As [`pairs`].
#[inline(always)]
pub unsafe fn sampled(images: &Images, word: u32) -> [u32; VOXELS as usize] {
    // SAFETY: as this function's.
    unsafe { pairs(images, word, |x, row| pair::pair(images, x, row)) }
}

/// Voxels of the fixed image.
#[inline(always)]
pub fn voxels(images: &Images) -> u32 {
    let [width, height, depth] = images.fixed_size;
    width * height * depth
}
