//! The joint histogram by bricks: mireg's own method.
//!
//! The fixed image is laid out in [bricks](brick), in the order in which warps read it, and the moving image in [strips], once for many
//! transforms. In a round, every lane of a block first decides about a brick of its own (`list`): a brick outside the moving image is
//! skipped; one whose fixed bins are all equal, and for which the [cells](brick) of the moving image show that all samples fall into one
//! bin, is counted in one step; the others are listed. Then each warp takes bricks from the list (`samples`), one voxel per lane and four
//! planes together, without checks of the borders where the whole brick lies inside. The y of the grid is the number of the transform.
//!
//! Counters lie in shared memory, in words or in halves of words. Rows of counters are padded, so that neighbouring pairs lie in different
//! banks. A block counts fewer than 2^32 samples. A round of halves is checked, and in the rare case that a counter overflowed it is
//! counted again in parts that are too small for that.

pub mod brick;
mod counters;
mod list;
mod samples;
pub mod strips;

use crate::kernels::batch;
use crate::kernels::sample::{Cubic, Sampler};
use crate::kernels::{block_threads, each_of, thread_number};
use crate::params::{Affine, Tiled};
use counters::{Counters, Halves, Words, global};
use cuda_std::shared::{self, SharedSlice};
use cuda_std::thread::{grid_dim_x, sync_threads};
use cuda_std::{kernel, shared_slice, warp};
use list::{List, choose, own_rank};
use samples::count_listed;
use strips::{Linear, Nearest};

/// The most threads of a block.
const MOST_THREADS: usize = 1024;

/// Bricks with too few voxels to overflow a 16-bit counter.
const SAFE_PART: u32 = 65_535 / brick::VOXELS;

/// Counts the nearest voxels in words. Blocks of whole warps along x, at most 1024 threads; `words` words of dynamic shared memory.
///
/// # Safety
/// The slices are as long as their documentation says, and bricks and cells have been made; bins are 2 to 256 a side.
#[kernel]
pub unsafe fn tiled_nearest(p: Tiled) {
    // SAFETY: as this function's.
    unsafe { count::<Nearest, Words>(&p) }
}

/// Counts with trilinear interpolation in words; otherwise as [`tiled_nearest`].
///
/// # Safety
/// As [`tiled_nearest`].
#[kernel]
pub unsafe fn tiled_linear(p: Tiled) {
    // SAFETY: as this function's.
    unsafe { count::<Linear, Words>(&p) }
}

/// Counts with cubic interpolation in words; otherwise as [`tiled_nearest`].
///
/// # Safety
/// As [`tiled_nearest`].
#[kernel]
pub unsafe fn tiled_cubic(p: Tiled) {
    // SAFETY: as this function's.
    unsafe { count::<Cubic, Words>(&p) }
}

/// Counts the nearest voxels in halves of words; otherwise as [`tiled_nearest`].
///
/// # Safety
/// As [`tiled_nearest`].
#[kernel]
pub unsafe fn tiled_nearest_halves(p: Tiled) {
    // SAFETY: as this function's.
    unsafe { count::<Nearest, Halves>(&p) }
}

/// Counts with trilinear interpolation in halves of words; otherwise as [`tiled_nearest`].
///
/// # Safety
/// As [`tiled_nearest`].
#[kernel]
pub unsafe fn tiled_linear_halves(p: Tiled) {
    // SAFETY: as this function's.
    unsafe { count::<Linear, Halves>(&p) }
}

/// Counts with cubic interpolation in halves of words; otherwise as [`tiled_nearest`].
///
/// # Safety
/// As [`tiled_nearest`].
#[kernel]
pub unsafe fn tiled_cubic_halves(p: Tiled) {
    // SAFETY: as this function's.
    unsafe { count::<Cubic, Halves>(&p) }
}

#[inline(always)]
unsafe fn count<S: Sampler, C: Counters>(p: &Tiled) {
    // SAFETY: the launcher gives as many words.
    let counters = C::new(unsafe { shared::dynamic::<u32>(0, p.words) });
    let list = List {
        bricks: shared_slice![u32; MOST_THREADS],
        rows: shared_slice![u32; MOST_THREADS],
        planes: shared_slice![u32; MOST_THREADS],
        inside: shared_slice![u32; 1],
        mixed: shared_slice![u32; 1],
    };
    let scratch = shared_slice![u32; 1];
    clear(counters.words());
    // SAFETY: the grid has a y for each transform.
    let affine = unsafe { batch::transform(&p.images.transform, p.transforms) };
    let groups = p.groups[0] * p.groups[1] * p.groups[2];
    let mut first = 0;
    while first < groups {
        if thread_number() == 0 {
            // SAFETY: a barrier before and after.
            unsafe { list.clear() };
        }
        sync_threads();
        // SAFETY: whole warps come here; lists are read after a barrier.
        unsafe {
            choose::<S, C>(p, &affine, own_rank(first), list, counters);
            sync_threads();
            let last = first + block_threads() / 32 * grid_dim_x() >= groups;
            count_round::<S, C>(p, &affine, list, counters, scratch, last);
            sync_threads();
        }
        first += block_threads() / 32 * grid_dim_x();
    }
}

/// Counts the listed bricks. Narrow counters are added to the global ones after every round, others after the last.
#[inline(always)]
unsafe fn count_round<S: Sampler, C: Counters>(
    p: &Tiled,
    affine: &Affine,
    list: List,
    counters: C,
    scratch: SharedSlice<u32>,
    last: bool,
) {
    // SAFETY: all threads come here, and a barrier lies between counting and looking.
    unsafe {
        let length = list.inside.load(0) + list.mixed.load(0);
        let (mut from, mut part) = (0, MOST_THREADS as u32);
        loop {
            let mine = count_listed::<S, C>(
                p,
                affine,
                list,
                from,
                if from + part < length { from + part } else { length },
                counters,
            );
            sync_threads();
            if counters.overflowed(mine, scratch) {
                part = SAFE_PART;
            } else {
                from += part;
                if C::NARROW || last {
                    flush(p, counters);
                }
            }
            let done = from >= length;
            if C::NARROW && !(done && last) {
                sync_threads();
                clear(counters.words());
                sync_threads();
            }
            if done {
                return;
            }
        }
    }
}

/// Sets this thread's share of the words to 0.
#[inline(always)]
fn clear(words: SharedSlice<u32>) {
    // SAFETY: in bounds; a barrier follows before others use it.
    each_of(words.len(), |i| unsafe { words.store(i, 0) });
}

/// Adds the block's counters to the global ones: one warp per row of words.
#[inline(always)]
unsafe fn flush<C: Counters>(p: &Tiled, counters: C) {
    let [fixed_bins, moving_bins] = p.images.bins;
    let rows = if C::NARROW { moving_bins.div_ceil(2) } else { moving_bins };
    let mut row = thread_number() / 32;
    while row < rows {
        let mut fixed = warp::lane_id();
        while fixed < fixed_bins {
            // SAFETY: there are these counters.
            unsafe {
                let word = counters.words().load(fixed + p.stride * row);
                let (low, high) = if C::NARROW { (word & 0xFFFF, word >> 16) } else { (word, 0) };
                if low > 0 {
                    p.counters.add(global(p, fixed, row), low);
                }
                if C::NARROW && high > 0 {
                    p.counters.add(global(p, fixed, row + rows), high);
                }
            }
            fixed += 32;
        }
        row += block_threads() / 32;
    }
}
