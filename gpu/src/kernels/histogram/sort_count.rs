//! The joint histogram by bitonic sort and count (Method 3: Shams 2009, sections 3.2 to 3.8 and 4.1.3).
//!
//! In each step, a thread block of N threads takes 2 N voxels, sorts and counts their joint indices in shared memory
//! ([`super::bitonic`]), and adds the counters that are not 0 to its own partial histogram in global memory. A bin has
//! at most one such counter, so that additions need not be atomic. A reduction ([`super::partials`]) adds the partial
//! histograms.
//!
//! A voxel that is not counted is an element whose counter is 0. It is sorted like the others and needs no bin number
//! of its own, so that all 65536 numbers of 16 bits can be pairs of bins. A step counts 2 N <= 2048 voxels, less than
//! 65536, so that a 16-bit counter suffices. More than 65536 pairs of bins need elements of 64 bits, with 32 bits for
//! the bin number.
//!
//! With partial volume interpolation (section 3.4), a voxel gives eight elements, whose counters begin with the
//! weights. Four threads make two of them each. The weights are integers ([`crate::math::partial_volume`]), not floats
//! as in the paper. In a step, they sum to up to N / 4 * 2^12 <= 2^20, too much for 16 bits, so that these elements
//! have 64 bits as well.

use super::bitonic::{Element, sort_and_count};
use super::pair::{self, NONE};
use super::partial_volume::neighbours;
use crate::kernels::{block_threads, thread_number};
use crate::math::partial_volume::ROWS;
use crate::params::SortCount;
use cuda_std::kernel;
use cuda_std::shared;
use cuda_std::thread::{block_idx_x, grid_dim_x, sync_threads};

/// Counts at most 65536 pairs of bins. The number of threads of a block is a power of two, 32 to 1024; two words of
/// dynamic shared memory per thread.
///
/// # Safety
/// The images are as their documentation says, there is a partial histogram for each block, and every size is at least 1.
#[kernel]
pub unsafe fn sort_count(p: SortCount) {
    // SAFETY: by this function's contract.
    unsafe { count::<u32>(&p, 2 * block_threads(), |first| pairs(&p, first)) }
}

/// Counts any number of pairs of bins, with twice the shared memory; otherwise as [`sort_count`].
///
/// # Safety
/// As [`sort_count`].
#[kernel]
pub unsafe fn sort_count_wide(p: SortCount) {
    // SAFETY: by this function's contract.
    unsafe { count::<u64>(&p, 2 * block_threads(), |first| pairs(&p, first)) }
}

/// Counts with partial volume interpolation; otherwise as [`sort_count_wide`].
///
/// # Safety
/// As [`sort_count`].
#[kernel]
pub unsafe fn sort_count_partial_volume(p: SortCount) {
    let me = thread_number();
    // SAFETY: by this function's contract.
    unsafe {
        count::<u64>(&p, block_threads() / ROWS, |first| {
            let [low, high] = neighbours(&p.images, first + me / ROWS, me % ROWS);
            [Element::new(low.0, low.1), Element::new(high.0, high.1)]
        })
    }
}

/// Counts this block's share of the voxels, `voxels` of them per step. `elements` returns this thread's two elements of
/// the step that begins at a given voxel.
#[inline(always)]
unsafe fn count<E: Element>(p: &SortCount, voxels: u32, elements: impl Fn(u32) -> [E; 2]) {
    let [width, height, depth] = p.images.fixed_size;
    let (me, threads, all) = (thread_number(), block_threads(), width * height * depth);
    // SAFETY: the launch gives two elements per thread.
    let shared = unsafe { shared::dynamic::<E>(0, 2 * threads) };
    let mut first = block_idx_x() * voxels;
    while first < all {
        let [a, b] = elements(first);
        // SAFETY: only this thread uses these two elements before the barrier and after the sort.
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

/// Adds a counter to the block's partial histogram. No other thread has a counter of the same bin in this step, and
/// there are barriers between steps.
#[inline(always)]
unsafe fn add<E: Element>(p: &SortCount, element: E) {
    if element.counter() > 0 {
        let pairs = p.images.bins[0] * p.images.bins[1];
        let at = block_idx_x() as usize * pairs as usize + element.bin() as usize;
        // SAFETY: an element that counts has a bin of the histogram.
        unsafe { p.partials.set(at, p.partials.get(at) + element.counter()) };
    }
}

/// Returns the elements of this thread's two voxels of a step. Neighbouring threads take neighbouring voxels, so that
/// reads are coalesced.
#[inline(always)]
unsafe fn pairs<E: Element>(p: &SortCount, first: u32) -> [E; 2] {
    let voxel = first + thread_number();
    // SAFETY: by the kernel's contract.
    unsafe { [pair(p, voxel), pair(p, voxel + block_threads())] }
}

#[inline(always)]
unsafe fn pair<E: Element>(p: &SortCount, voxel: u32) -> E {
    // SAFETY: the voxel is in the fixed image.
    let pair = unsafe { pair::pair_or_none(&p.images, voxel) };
    E::new(pair, u32::from(pair != NONE))
}
