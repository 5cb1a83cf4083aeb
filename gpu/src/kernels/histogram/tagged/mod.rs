//! Counting with warp-tagged counters, shared by several methods. A lane takes two neighbouring voxels at a time, and
//! each warp counts those pairs of bins that are in the launch's range in its own partial histogram.
//!
//! A range is as many counters as fit into a warp's share of shared memory. Several launches cover the joint histogram
//! (Shams 2009 section 4.1.1, Ledig section 2.2). A thread block sums the counters of its warps and adds them to global
//! memory. It does so at its end, and before that often enough that no counter overflows, whatever the image (Ledig
//! section 2.3): see [`Partial::ADDS`].

mod partial;
#[cfg(test)]
mod tests;

pub use partial::Partial;

use crate::kernels::histogram::pair::{self, NONE};
use crate::kernels::{block_threads, thread_number};
use crate::params::{Images, Tagged};
use cuda_std::thread::{block_idx_x, grid_dim_x};

/// Voxels that a lane takes at a time.
pub const VOXELS: u32 = 2;

/// Counts the voxels. `counters` returns the counter numbers of two voxels, minus the launch's first number; a number
/// that is not below the launch's range is not counted. `place` converts such a number to the index of the counter in
/// the joint histogram.
///
/// # Safety
/// Thread blocks consist of whole warps, with shared memory as [`Partial::new`] requires for the range. The slices are
/// as long as the sizes say.
#[inline(always)]
pub unsafe fn count<const N: u32, T: Copy>(
    p: &Tagged<T>,
    mut counters: impl FnMut(u32) -> [u32; VOXELS as usize],
    place: impl Fn(u32) -> u32,
) {
    let last = voxels(&p.images).div_ceil(VOXELS);
    let mut first = block_threads() * block_idx_x();
    let mut rounds = 0;
    // SAFETY: by this function's contract; `first` and `rounds` are the same in all threads of the block, so that these
    // take the same branches.
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

/// Returns what `pair` returns for the voxels `2 * word` and, if it is in the fixed image, `2 * word + 1`; else
/// [`NONE`] in its place. `pair` is called with x and a row, as [`pair::pair`].
///
/// # Safety
/// Voxel `2 * word` is in the fixed image, and the slices are as long as the sizes say.
#[inline(always)]
pub unsafe fn pairs(images: &Images, word: u32, pair: impl Fn(u32, u32) -> u32) -> [u32; VOXELS as usize] {
    let [width, height, depth] = images.fixed_size;
    // SAFETY: sizes are at least 1.
    unsafe { core::hint::assert_unchecked(width > 0) };
    let (x, row) = (VOXELS * word % width, VOXELS * word / width);
    let (next_x, next_row) = if x + 1 < width { (x + 1, row) } else { (0, row + 1) };
    [pair(x, row), if next_row < height * depth { pair(next_x, next_row) } else { NONE }]
}

/// Returns the joint indices of the two voxels of a word, by sampling the moving image.
///
/// # Safety
/// As [`pairs`].
#[inline(always)]
pub unsafe fn sampled(images: &Images, word: u32) -> [u32; VOXELS as usize] {
    // SAFETY: by this function's contract.
    unsafe { pairs(images, word, |x, row| pair::pair(images, x, row)) }
}

/// Voxels of the fixed image.
#[inline(always)]
pub fn voxels(images: &Images) -> u32 {
    let [width, height, depth] = images.fixed_size;
    width * height * depth
}
