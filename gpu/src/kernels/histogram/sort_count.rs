//! The joint histogram by bitonic sort and count (Method 3: Shams 2009, sections 3.2 to 3.8 and 4.1.3).
//!
//! In each step a block of N threads takes 2 N voxels, sorts and counts their joint indices in shared memory ([`super::bitonic`]) and adds
//! the counters that are not 0 to a partial histogram of its own in global memory. Each bin has one of them, so that plain additions
//! suffice. A reduction ([`super::partials`]) adds the partial histograms.
//!
//! A voxel that is not counted is an element whose counter is 0. It takes part in the sort, and no bin number is lost to it: all 65536
//! of 16 bits can be in use. A step counts 2 N <= 2048 voxels, less than the 65535 that 16 bits hold. More than 65536 pairs of bins take
//! elements of 64 bits, half of them the bin's number.
//!
//! With partial volumes (section 3.4) a voxel makes eight elements, whose counters begin with the weights: in whole numbers
//! ([`crate::math::partial_volume`]), not in floats as in the paper. Four threads make two each. A step's weights add up to
//! N / 4 * 2^12 <= 2^20, too much for 16 bits, so that these elements have 64 bits as well.

use super::bitonic::{Element, sort_and_count};
use super::pair::{self, NONE};
use super::partial_volume::neighbours;
use crate::kernels::{block_threads, thread_number};
use crate::math::partial_volume::ROWS;
use crate::params::SortCount;
use cuda_std::kernel;
use cuda_std::shared;
use cuda_std::thread::{block_idx_x, grid_dim_x, sync_threads};

/// Counts at most 65536 pairs of bins. Blocks of a power of two of threads, 32 to 1024; two words of dynamic shared memory per thread.
///
/// # Safety
/// The images are as their documentation says, there is a partial histogram for each block, and every size is at least 1.
#[kernel]
pub unsafe fn sort_count(p: SortCount) {
    // SAFETY: as this function's.
    unsafe { count::<u32>(&p, 2 * block_threads(), |first| pairs(&p, first)) }
}

/// Counts any number of pairs; twice the shared memory, otherwise as [`sort_count`].
///
/// # Safety
/// As [`sort_count`].
#[kernel]
pub unsafe fn sort_count_wide(p: SortCount) {
    // SAFETY: as this function's.
    unsafe { count::<u64>(&p, 2 * block_threads(), |first| pairs(&p, first)) }
}

/// Counts each neighbour by its weight; otherwise as [`sort_count_wide`].
///
/// # Safety
/// As [`sort_count`].
#[kernel]
pub unsafe fn sort_count_partial_volume(p: SortCount) {
    let me = thread_number();
    // SAFETY: as this function's.
    unsafe {
        count::<u64>(&p, block_threads() / ROWS, |first| {
            let [low, high] = neighbours(&p.images, first + me / ROWS, me % ROWS);
            [Element::new(low.0, low.1), Element::new(high.0, high.1)]
        })
    }
}

/// Counts this block's share of the voxels, `voxels` per step. `elements` makes this thread's two elements of the step that begins with a
/// voxel.
#[inline(always)]
unsafe fn count<E: Element>(p: &SortCount, voxels: u32, elements: impl Fn(u32) -> [E; 2]) {
    let [width, height, depth] = p.images.fixed_size;
    let (me, threads, all) = (thread_number(), block_threads(), width * height * depth);
    // SAFETY: the launch gives two elements per thread.
    let shared = unsafe { shared::dynamic::<E>(0, 2 * threads) };
    let mut first = block_idx_x() * voxels;
    while first < all {
        let [a, b] = elements(first);
        // SAFETY: these two elements are this thread's until the barrier, and from the end of the sort on.
        unsafe {
            shared.store(me, a);
            shared.store(me + threads, b);
            sync_threads();
            sort_and_count(shared);
            add(p, shared.load(me));
            add(p, shared.load(me + threads));
        }
        first += grid_dim_x() * voxels;
    }
}

/// Adds a counter to the block's partial histogram. No other thread has one of the same bin in this step, and barriers lie between steps.
#[inline(always)]
unsafe fn add<E: Element>(p: &SortCount, element: E) {
    if element.counter() > 0 {
        let pairs = p.images.bins[0] * p.images.bins[1];
        let at = block_idx_x() as usize * pairs as usize + element.bin() as usize;
        // SAFETY: an element that counts has a bin of the histogram.
        unsafe { p.partials.set(at, p.partials.get(at) + element.counter()) };
    }
}

/// The elements of this thread's two voxels of a step; neighbouring threads take neighbouring voxels.
#[inline(always)]
unsafe fn pairs<E: Element>(p: &SortCount, first: u32) -> [E; 2] {
    let voxel = first + thread_number();
    // SAFETY: as the kernel's.
    unsafe { [pair(p, voxel), pair(p, voxel + block_threads())] }
}

#[inline(always)]
unsafe fn pair<E: Element>(p: &SortCount, voxel: u32) -> E {
    // SAFETY: the voxel is in the fixed image.
    let pair = unsafe { pair::pair_if_there(&p.images, voxel) };
    E::new(pair, u32::from(pair != NONE))
}
