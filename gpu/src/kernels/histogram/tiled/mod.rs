//! Ours: the joint histogram by bricks.
//!
//! The fixed image lies in [bricks](brick), in the order in which warps read it; it is laid out once for many transforms. In a round,
//! every lane of a block first decides about a brick of its own ([`brick::work`]): one that comes to lie outside is left
//! out; one whose fixed bins are all alike, and for which the [cells](brick) of the moving image show that all samples fall into one
//! bin, is counted in one step; the others are listed. Then each warp takes bricks from the list, a voxel a lane and four planes together,
//! without a look at borders where the whole brick lies inside. The y of the grid is the number of the transform.
//!
//! Counters lie in shared memory, in words or in halves of them. A row of counters is longer than the fixed
//! bins by what spreads neighbouring pairs over the banks. A block counts fewer than 2^32 samples; what a
//! round of halves counts is checked, and in the rare case that a counter overflowed the round is counted again in parts that are too
//! small for that.

pub mod brick;
mod counters;

use crate::kernels::sample::{Cubic, Linear, Nearest, Sampler};
use crate::kernels::{batch, block_threads, each_of, thread_number};
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

/// Bricks that no 16-bit counter can be too narrow for.
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

/// Bricks to be counted: their numbers, where those that lie inside as a whole are marked, and their first voxels, which would
/// take longer to read from global memory.
#[derive(Clone, Copy)]
struct List {
    bricks: SharedSlice<u32>,
    /// x, and y in the high half.
    rows: SharedSlice<u32>,
    planes: SharedSlice<u32>,
    length: SharedSlice<u32>,
}

/// The mark of a brick that lies inside as a whole.
const INSIDE: u32 = 1 << 31;

/// A brick of the list.
#[derive(Clone, Copy)]
struct Listed {
    brick: u32,
    first: [u32; 3],
}

impl List {
    /// # Safety
    /// There is this entry, and nobody reads it before a barrier.
    #[inline(always)]
    unsafe fn store(self, i: u32, brick: u32, [x, y, z]: [u32; 3]) {
        // SAFETY: as this function's.
        unsafe {
            self.bricks.store(i, brick);
            self.rows.store(i, x | y << 16);
            self.planes.store(i, z);
        }
    }

    /// An entry, and whether it is marked.
    ///
    /// # Safety
    /// It was stored before a barrier.
    #[inline(always)]
    unsafe fn load(self, i: u32) -> (Listed, bool) {
        // SAFETY: as this function's.
        let (brick, row, z) = unsafe { (self.bricks.load(i), self.rows.load(i), self.planes.load(i)) };
        (Listed { brick: brick & !INSIDE, first: [row & 0xFFFF, row >> 16, z] }, brick & INSIDE > 0)
    }
}

#[inline(always)]
unsafe fn count<S: Sampler, C: Counters>(p: &Tiled) {
    // SAFETY: the launcher gives as many words.
    let counters = C::new(unsafe { shared::dynamic::<u32>(0, p.words) });
    let list = List {
        bricks: shared_slice![u32; MOST_THREADS],
        rows: shared_slice![u32; MOST_THREADS],
        planes: shared_slice![u32; MOST_THREADS],
        length: shared_slice![u32; 1],
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
            unsafe { list.length.store(0, 0) };
        }
        sync_threads();
        // SAFETY: whole warps come here; lists are read after a barrier.
        unsafe {
            choose::<S, C>(p, &affine, own_group(first), list, counters);
            sync_threads();
            let last = first + block_threads() / 32 * grid_dim_x() >= groups;
            count_round::<S, C>(p, &affine, list, counters, scratch, last);
            sync_threads();
        }
        first += block_threads() / 32 * grid_dim_x();
    }
}

/// Counts the listed bricks. Narrow counters, and any after the last round, are emptied into the global ones.
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
        let length = list.length.load(0);
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
    let (work, first) = if there { unsafe { brick::work::<S>(p, affine, brick) } } else { (Work::None, [0; 3]) };
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
            list.store(at, if work == Work::Inside { brick | INSIDE } else { brick }, first);
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

/// Counts listed bricks, a warp each, and returns how many samples this thread counted.
#[inline(always)]
unsafe fn count_listed<S: Sampler, C: Counters>(
    p: &Tiled,
    affine: &Affine,
    list: List,
    from: u32,
    to: u32,
    counters: C,
) -> u32 {
    let bias = whole::BIAS.wrapping_mul(p.stride);
    let mut counted = 0;
    let mut i = from + thread_number() / 32;
    while i < to {
        // SAFETY: written before the barrier; the bricks and the counters are there.
        unsafe {
            let (listed, inside) = list.load(i);
            if inside {
                count_brick::<S, false>(p, affine, listed, |_, pair| counters.count(pair, bias));
                counted += brick::SIZE[2];
            } else {
                counted +=
                    count_brick::<S, true>(p, affine, listed, |counts, pair| counters.count_if(counts, pair, bias));
            }
        }
        i += block_threads() / 32;
    }
    counted
}

/// Calls `count` for each voxel of a brick, with whether it counts and its counter, which exceeds the true one by the bias of its bin.
/// Unless `CHECKED`, all count. Returns how many of this thread's do.
#[inline(always)]
unsafe fn count_brick<S: Sampler, const CHECKED: bool>(
    p: &Tiled,
    affine: &Affine,
    Listed { brick, first: [x, y, z] }: Listed,
    count: impl Fn(bool, u32),
) -> u32 {
    let (lane, last) = (warp::lane_id(), interpolate::last(p.images.moving_size));
    let scale = bin::scale(p.images.bins[1], S::FULL);
    let base = affine::add_y(affine, affine::from_x(affine, x + lane % brick::SIZE[0]), y + lane / brick::SIZE[0]);
    // SAFETY: the brick is there.
    let bins = unsafe { p.bins.as_slice().get_cached((32 * brick + lane) as usize) };
    // SAFETY: as above.
    let masks = if CHECKED { unsafe { p.masks.as_slice().get_cached(brick as usize) } } else { [u32::MAX; 4] };
    let place = |plane: usize| {
        let position = affine::add_z(affine, base, z + plane as u32);
        let counts = !CHECKED || interpolate::inside(position, last) & (masks[plane] >> lane & 1 > 0);
        (counts, S::place(counts, position, p.images.moving_size))
    };
    // SAFETY: a place is safe to read.
    let load = |(_, place): (bool, S::Place)| unsafe { S::load(&p.images, place) };
    let add = |plane: usize, (counts, place): (bool, S::Place), words: S::Words| {
        // SAFETY: values are between 0 and `FULL`.
        let moving = unsafe { bin::raw(S::value(words, place), scale) };
        // Only now, so that the wait for the fixed bins is one with that for the moving voxels.
        let fixed = permute(bins, 0, 0x4440 + plane as u32);
        count(counts, fixed.wrapping_add(moving.wrapping_mul(p.stride)));
        u32::from(counts)
    };
    if S::MANY_LOADS {
        let alone = |plane: usize| {
            let place = place(plane);
            add(plane, place, load(place))
        };
        return alone(0) + alone(1) + alone(2) + alone(3);
    }
    let places = [place(0), place(1), place(2), place(3)];
    let words = [load(places[0]), load(places[1]), load(places[2]), load(places[3])];
    let add = |plane: usize| add(plane, places[plane], words[plane]);
    add(0) + add(1) + add(2) + add(3)
}

/// Adds the block's counters to the global ones: a warp a row of words.
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
