//! Which bricks a round counts sample by sample: each lane decides about one brick.

use super::brick::{self, Work};
use super::counters::{Counters, global};
use crate::kernels::sample::Sampler;
use crate::kernels::thread_number;
use crate::params::{Affine, Tiled};
use cuda_std::shared::SharedSlice;
use cuda_std::thread::{block_idx_x, grid_dim_x};
use cuda_std::warp;

/// Bricks to be counted: their numbers, with a mark on those that lie inside as a whole, and their first voxels, which would take longer
/// to read from global memory.
#[derive(Clone, Copy)]
pub(super) struct List {
    pub(super) bricks: SharedSlice<u32>,
    /// x, and y in the high half.
    pub(super) rows: SharedSlice<u32>,
    pub(super) planes: SharedSlice<u32>,
    pub(super) length: SharedSlice<u32>,
}

/// The mark of a brick that lies inside as a whole.
const INSIDE: u32 = 1 << 31;

/// A brick of the list.
#[derive(Clone, Copy)]
pub(super) struct Listed {
    pub(super) brick: u32,
    pub(super) first: [u32; 3],
}

impl List {
    /// # Safety
    /// The list has this entry, and no thread reads it before a barrier.
    #[inline(always)]
    pub(super) unsafe fn store(self, i: u32, brick: u32, [x, y, z]: [u32; 3]) {
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
    pub(super) unsafe fn load(self, i: u32) -> (Listed, bool) {
        // SAFETY: as this function's.
        let (brick, row, z) = unsafe { (self.bricks.load(i), self.rows.load(i), self.planes.load(i)) };
        (Listed { brick: brick & !INSIDE, first: [row & 0xFFFF, row >> 16, z] }, brick & INSIDE > 0)
    }
}

/// The group of bricks of this warp in the round that starts with group `first`. Neighbours in the image go to different blocks of the
/// same round, and no block gets only the middle of the image or only its rim.
#[inline(always)]
pub(super) fn own_group(first: u32) -> u32 {
    let (warp, blocks) = (thread_number() / 32, grid_dim_x());
    // SAFETY: there is a block.
    unsafe { core::hint::assert_unchecked(blocks > 0) };
    first + warp * blocks + (block_idx_x() + 37 * warp) % blocks
}

/// Decides about the bricks of a group, one per lane.
#[inline(always)]
pub(super) unsafe fn choose<S: Sampler, C: Counters>(p: &Tiled, affine: &Affine, group: u32, list: List, counters: C) {
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

/// Counts the bricks of lanes in which `alike` holds, whole bricks of one pair, lanes with the same pair together.
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
