//! Ours: the joint histogram by bricks.
//!
//! The fixed image lies in [bricks](brick), in the order in which warps read it; it is laid out once for many transforms. In a round,
//! every lane of a block first decides about a brick of its own ([`brick::work`]): one that comes to lie outside is left
//! out; one whose fixed bins are all alike, and for which the [cells](brick) of the moving image show that all samples fall into one
//! bin, is counted in one step; the others are listed. Then each warp takes bricks from the list, a voxel a lane and four planes together,
//! without a look at borders where the whole brick lies inside. The y of the grid is the number of the transform.
//!
//! Counters lie in shared memory, in [words](counters::Words) or [halves](counters::Halves). A row of counters is longer than the fixed
//! bins by what spreads neighbouring pairs over the banks. A block counts fewer than 2^32 samples; what a
//! round of halves counts is checked, and in the rare case that a counter overflowed the round is counted again, straight to
//! global memory.

pub mod brick;
mod counters;

use crate::kernels::sample::{Cubic, Linear, Nearest, Sampler};
use crate::kernels::{batch, block_threads, thread_number};
use crate::math::{affine, bin, interpolate, whole};
use crate::params::{Affine, Tiled};
use brick::Work;
use counters::{Counters, Halves, Words};
use cuda_std::bits::permute;
use cuda_std::shared::{self, SharedSlice};
use cuda_std::thread::{block_idx_x, block_idx_y, grid_dim_x, sync_threads};
use cuda_std::{kernel, shared_slice, warp};

/// Threads of a block at most.
const MOST_THREADS: usize = 1024;

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

/// Bricks to be counted; those that lie inside are marked.
#[derive(Clone, Copy)]
struct List {
    bricks: SharedSlice<u32>,
    length: SharedSlice<u32>,
}

/// The mark of a brick that lies inside as a whole.
const INSIDE: u32 = 1 << 31;

#[inline(always)]
unsafe fn count<S: Sampler, C: Counters>(p: &Tiled) {
    // SAFETY: the launcher gives as many words.
    let counters = C::new(unsafe { shared::dynamic::<u32>(0, p.words) });
    let list = List { bricks: shared_slice![u32; MOST_THREADS], length: shared_slice![u32; 1] };
    let scratch = shared_slice![u32; 1];
    clear(counters.words());
    // SAFETY: the grid has a y for each transform.
    let affine = unsafe { batch::transform(&p.images.transform, p.transforms) };
    let groups = p.groups[0] * p.groups[1] * p.groups[2];
    let mut first = 0;
    while first < groups {
        if thread_number() == 0 {
            // SAFETY: a barrier before and after.
            unsafe { list.length.store(0, 0) };
        }
        sync_threads();
        // SAFETY: whole warps come here; lists are read after a barrier.
        unsafe {
            choose::<S, C>(p, &affine, own_group(first), list, counters);
            sync_threads();
            let mine = count_listed::<S, C>(p, &affine, list, counters);
            sync_threads();
            if counters.overflowed(mine, scratch) {
                clear(counters.words());
                count_again::<S>(p, &affine, list);
                sync_threads();
            }
            first += block_threads() / 32 * grid_dim_x();
            if C::NARROW || first >= groups {
                flush(p, counters);
            }
            if C::NARROW && first < groups {
                sync_threads();
                clear(counters.words());
            }
        }
    }
}

/// Sets this thread's share of the words to 0.
#[inline(always)]
fn clear(words: SharedSlice<u32>) {
    let mut i = thread_number();
    while i < words.len() {
        // SAFETY: in bounds; a barrier follows before others use it.
        unsafe { words.store(i, 0) };
        i += block_threads();
    }
}

/// The group of bricks of this warp in the round that starts with group `first`: neighbours in the image are decided about by
/// different blocks at the same time, and no block has only the middle or only the rim.
#[inline(always)]
fn own_group(first: u32) -> u32 {
    let (warp, blocks) = (thread_number() / 32, grid_dim_x());
    // SAFETY: there is a block.
    unsafe { core::hint::assert_unchecked(blocks > 0) };
    first + warp * blocks + (block_idx_x() + 37 * warp) % blocks
}

/// Decides about the bricks of a group, a lane each.
#[inline(always)]
unsafe fn choose<S: Sampler, C: Counters>(p: &Tiled, affine: &Affine, group: u32, list: List, counters: C) {
    let lane = warp::lane_id();
    let brick = 32 * group + lane;
    let there = group < p.groups[0] * p.groups[1] * p.groups[2];
    // SAFETY: there is this brick.
    let work = if there { unsafe { brick::work::<S>(p, affine, brick) } } else { Work::None };
    // SAFETY: the whole warp comes here.
    unsafe {
        let pair = match work {
            Work::Alike { fixed, moving } => fixed + p.stride * moving,
            _ => 0,
        };
        count_alike(p, matches!(work, Work::Alike { .. }), pair, counters);
        let listed = matches!(work, Work::Inside | Work::Mixed);
        let lanes = warp::ballot(warp::ALL, listed);
        let mut at = 0;
        if lane == 0 {
            at = list.length.fetch_add(0, lanes.count_ones());
        }
        let at = warp::shuffle_idx(warp::ALL, at, 0) + (lanes & ((1 << lane) - 1)).count_ones();
        if listed {
            list.bricks.store(at, if work == Work::Inside { brick | INSIDE } else { brick });
        }
    }
}

/// Counts the bricks of lanes in which `alike` holds, lanes with the same pair together.
#[inline(always)]
unsafe fn count_alike<C: Counters>(p: &Tiled, alike: bool, pair: u32, counters: C) {
    let lane = warp::lane_id();
    // SAFETY: the whole warp comes here.
    unsafe {
        let mut rest = warp::ballot(warp::ALL, alike);
        while rest > 0 {
            let first = rest.trailing_zeros();
            let of_first = warp::shuffle_idx(warp::ALL, pair, first);
            let same = warp::ballot(warp::ALL, alike && pair == of_first);
            if lane == first {
                let voxels = brick::VOXELS * same.count_ones();
                match C::NARROW {
                    // Too many for 16 bits.
                    true => p.counters.add(global(p, pair % p.stride, pair / p.stride), voxels),
                    false => counters.words().add(pair, voxels),
                }
            }
            rest &= !same;
        }
    }
}

/// The global counter of a pair of bins.
#[inline(always)]
fn global(p: &Tiled, fixed: u32, moving: u32) -> usize {
    let [fixed_bins, moving_bins] = p.images.bins;
    (block_idx_y() * fixed_bins * moving_bins + fixed + fixed_bins * moving) as usize
}

/// Counts the listed bricks, a warp each, and returns how many samples this thread counted.
#[inline(always)]
unsafe fn count_listed<S: Sampler, C: Counters>(p: &Tiled, affine: &Affine, list: List, counters: C) -> u32 {
    // SAFETY: written before the barrier.
    let length = unsafe { list.length.load(0) };
    let mut counted = 0;
    let mut i = thread_number() / 32;
    while i < length {
        // SAFETY: below the length, and the bricks are there.
        unsafe {
            let entry = list.bricks.load(i);
            let brick = entry & !INSIDE;
            if entry & INSIDE > 0 {
                count_inside::<S, C>(p, affine, brick, counters);
                counted += brick::SIZE[2];
            } else {
                counted += count_mixed::<S>(p, affine, brick, |counts, pair| counters.count(counts, pair));
            }
        }
        i += block_threads() / 32;
    }
    counted
}

/// Counts the listed bricks in global memory.
#[inline(always)]
unsafe fn count_again<S: Sampler>(p: &Tiled, affine: &Affine, list: List) {
    // SAFETY: as `count_listed`.
    let length = unsafe { list.length.load(0) };
    let mut i = thread_number() / 32;
    while i < length {
        // SAFETY: as `count_listed`.
        unsafe {
            count_mixed::<S>(p, affine, list.bricks.load(i) & !INSIDE, |counts, pair| {
                if counts {
                    p.counters.add(global(p, pair % p.stride, pair / p.stride), 1);
                }
            });
        }
        i += block_threads() / 32;
    }
}

/// Counts a brick that lies inside as a whole.
#[inline(always)]
unsafe fn count_inside<S: Sampler, C: Counters>(p: &Tiled, affine: &Affine, brick: u32, counters: C) {
    let scale = bin::scale(p.images.bins[1], S::FULL);
    // SAFETY: the brick is there.
    let ((base, z), bins) = unsafe {
        (brick::lane_position(p, affine, brick), p.bins.as_slice().get_cached((32 * brick + warp::lane_id()) as usize))
    };
    let bias = whole::BIAS.wrapping_mul(p.stride);
    let place = |plane: u32| S::place(true, affine::add_z(affine, base, z + plane), p.images.moving_size);
    // SAFETY: inside.
    let load = |place: S::Place| unsafe { S::load(&p.images, place) };
    let count = |words: S::Words, place: S::Place, bin: u32| {
        // SAFETY: values are between 0 and `FULL`.
        let moving = unsafe { bin::raw(S::value(words, place), scale) };
        // SAFETY: there is this counter.
        unsafe { counters.count_biased(bin.wrapping_add(moving.wrapping_mul(p.stride)), bias) };
    };
    let bins = [permute(bins, 0, 0x4440), permute(bins, 0, 0x4441), permute(bins, 0, 0x4442), permute(bins, 0, 0x4443)];
    if S::MANY_LOADS {
        for plane in 0..4 {
            let place = place(plane as u32);
            count(load(place), place, bins[plane]);
        }
        return;
    }
    let places = [place(0), place(1), place(2), place(3)];
    let words = [load(places[0]), load(places[1]), load(places[2]), load(places[3])];
    for plane in 0..4 {
        count(words[plane], places[plane], bins[plane]);
    }
}

/// Calls `count` for each voxel of a brick, with whether it counts and its counter, and returns how many of this thread's count.
#[inline(always)]
unsafe fn count_mixed<S: Sampler>(p: &Tiled, affine: &Affine, brick: u32, count: impl Fn(bool, u32)) -> u32 {
    let last = interpolate::last(p.images.moving_size);
    let scale = bin::scale(p.images.bins[1], S::FULL);
    let lane = warp::lane_id();
    // SAFETY: the brick is there.
    let ((base, z), bins, masks) = unsafe {
        (
            brick::lane_position(p, affine, brick),
            p.bins.as_slice().get_cached((32 * brick + lane) as usize),
            p.masks.as_slice().get_cached(brick as usize),
        )
    };
    let one = |plane: u32, bin: u32, mask: u32| {
        let position = affine::add_z(affine, base, z + plane);
        let counts = interpolate::inside(position, last) & (mask >> lane & 1 > 0);
        let place = S::place(counts, position, p.images.moving_size);
        // SAFETY: a place is safe to read, and values are between 0 and `FULL`.
        let moving = unsafe { bin::of(S::value(S::load(&p.images, place), place), scale) };
        count(counts, bin.wrapping_add(moving.wrapping_mul(p.stride)));
        u32::from(counts)
    };
    one(0, permute(bins, 0, 0x4440), masks[0])
        + one(1, permute(bins, 0, 0x4441), masks[1])
        + one(2, permute(bins, 0, 0x4442), masks[2])
        + one(3, permute(bins, 0, 0x4443), masks[3])
}

/// Adds the block's counters to the global ones: a warp a moving bin.
#[inline(always)]
unsafe fn flush<C: Counters>(p: &Tiled, counters: C) {
    let [fixed_bins, moving_bins] = p.images.bins;
    let mut moving = thread_number() / 32;
    while moving < moving_bins {
        let mut fixed = warp::lane_id();
        while fixed < fixed_bins {
            // SAFETY: there are these counters.
            unsafe {
                let count = counters.get(fixed + p.stride * moving);
                if count > 0 {
                    p.counters.add(global(p, fixed, moving), count);
                }
            }
            fixed += 32;
        }
        moving += block_threads() / 32;
    }
}
