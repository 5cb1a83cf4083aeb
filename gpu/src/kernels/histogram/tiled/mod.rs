//! `tiled`, mireg's own method for the joint histogram: it counts bricks of voxels.
//!
//! Once for many transforms, the fixed image is arranged in [bricks](brick), in the order in which warps read it, and
//! the moving image in [strips]. In a round, every lane of a thread block first decides about one brick (`list`). A
//! brick outside the moving image is skipped. A brick is counted in one step if its fixed bins are all equal and the
//! [cells](brick) of the moving image show that all its samples are in one bin. The other bricks are put on a list.
//! Then each warp takes bricks from the list (`samples`), with one voxel per lane and four planes together. If the
//! brick is entirely inside the moving image, there are no bounds checks. The y of the grid is the number of the
//! transform.
//!
//! Counters are in shared memory, in words or in halves of words. Rows of counters are padded so that neighbouring
//! pairs are in different banks. A block counts fewer than 2^32 samples, so that words cannot overflow. With halves,
//! each round is checked for overflow, which is rare. A round that overflowed is counted again, in parts that are too
//! small to overflow.

pub mod brick;
mod counters;
mod list;
mod samples;
pub mod strips;

use crate::kernels::sample::{Cubic, Sampler};
use crate::kernels::{WARP, batch, block_warps, each_of, thread_number, warp_number};
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

/// The largest number of bricks whose voxels cannot overflow a 16-bit counter.
const SAFE_PART: u32 = 65_535 / brick::VOXELS;

/// Counts with nearest-neighbour interpolation in words. Thread blocks of whole warps along x, at most 1024 threads;
/// `words` words of dynamic shared memory.
///
/// # Safety
/// The slices are as long as their documentation says, and bricks and cells have been made. Each image has 2 to 256
/// bins.
#[kernel]
pub unsafe fn tiled_nearest(p: Tiled) {
    // SAFETY: by this function's contract.
    unsafe { count::<Nearest, Words>(&p) }
}

/// Counts with trilinear interpolation in words; otherwise as [`tiled_nearest`].
///
/// # Safety
/// As [`tiled_nearest`].
#[kernel]
pub unsafe fn tiled_linear(p: Tiled) {
    // SAFETY: by this function's contract.
    unsafe { count::<Linear, Words>(&p) }
}

/// Counts with cubic interpolation in words; otherwise as [`tiled_nearest`].
///
/// # Safety
/// As [`tiled_nearest`].
#[kernel]
pub unsafe fn tiled_cubic(p: Tiled) {
    // SAFETY: by this function's contract.
    unsafe { count::<Cubic, Words>(&p) }
}

/// Counts with nearest-neighbour interpolation in halves of words; otherwise as [`tiled_nearest`].
///
/// # Safety
/// As [`tiled_nearest`].
#[kernel]
pub unsafe fn tiled_nearest_halves(p: Tiled) {
    // SAFETY: by this function's contract.
    unsafe { count::<Nearest, Halves>(&p) }
}

/// Counts with trilinear interpolation in halves of words; otherwise as [`tiled_nearest`].
///
/// # Safety
/// As [`tiled_nearest`].
#[kernel]
pub unsafe fn tiled_linear_halves(p: Tiled) {
    // SAFETY: by this function's contract.
    unsafe { count::<Linear, Halves>(&p) }
}

/// Counts with cubic interpolation in halves of words; otherwise as [`tiled_nearest`].
///
/// # Safety
/// As [`tiled_nearest`].
#[kernel]
pub unsafe fn tiled_cubic_halves(p: Tiled) {
    // SAFETY: by this function's contract.
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
            let last = first + block_warps() * grid_dim_x() >= groups;
            count_round::<S, C>(p, &affine, list, counters, scratch, last);
            sync_threads();
        }
        first += block_warps() * grid_dim_x();
    }
}

/// Counts the listed bricks. Narrow counters are added to the global ones after every round, others after the last
/// round.
#[inline(always)]
unsafe fn count_round<S: Sampler, C: Counters>(
    p: &Tiled,
    affine: &Affine,
    list: List,
    counters: C,
    scratch: SharedSlice<u32>,
    last: bool,
) {
    // SAFETY: all threads come here, and there is a barrier between counting and reading the counters.
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

/// Adds the block's counters to the global ones, one row of words per warp at a time.
#[inline(always)]
unsafe fn flush<C: Counters>(p: &Tiled, counters: C) {
    let [fixed_bins, moving_bins] = p.images.bins;
    let rows = if C::NARROW { moving_bins.div_ceil(2) } else { moving_bins };
    let mut row = warp_number();
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
            fixed += WARP;
        }
        row += block_warps();
    }
}
