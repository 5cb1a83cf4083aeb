//! The list of bricks that a round counts sample by sample. Each lane decides about one brick.

use super::brick::{self, Work};
use super::counters::{Counters, global};
use crate::kernels::sample::Sampler;
use crate::kernels::warp_number;
use crate::params::{Affine, Tiled};
use cuda_std::shared::SharedSlice;
use cuda_std::thread::{block_idx_x, grid_dim_x};
use cuda_std::warp;

/// The list of bricks to be counted, in shared memory: their numbers and their first voxels (which would take longer to
/// read from global memory again). Bricks that are entirely inside are stored from the beginning on, the others from
/// the end.
#[derive(Clone, Copy)]
pub(super) struct List {
    pub(super) bricks: SharedSlice<u32>,
    /// x in the low half, and y in the high half.
    pub(super) rows: SharedSlice<u32>,
    pub(super) planes: SharedSlice<u32>,
    /// The number of bricks that are entirely inside.
    pub(super) inside: SharedSlice<u32>,
    /// The number of the other bricks.
    pub(super) mixed: SharedSlice<u32>,
}

/// A brick of the list.
#[derive(Clone, Copy)]
pub(super) struct Listed {
    pub(super) brick: u32,
    pub(super) first: [u32; 3],
}

impl List {
    /// Empties it.
    ///
    /// # Safety
    /// One thread calls it, with a barrier before and after.
    #[inline(always)]
    pub(super) unsafe fn clear(self) {
        // SAFETY: one word each; by this function's contract.
        unsafe {
            self.inside.store(0, 0);
            self.mixed.store(0, 0);
        }
    }

    /// Stores the bricks of the lanes in which `listed` is true: at the beginning or, if `mixed`, at the end.
    ///
    /// # Safety
    /// Whole warps call this function, the list has room, and no thread reads it before a barrier.
    #[inline(always)]
    unsafe fn store(self, listed: bool, mixed: bool, brick: u32, [x, y, z]: [u32; 3]) {
        let (lane, length) = (warp::lane_id(), if mixed { self.mixed } else { self.inside });
        // SAFETY: by this function's contract.
        unsafe {
            let lanes = warp::ballot(warp::ALL, listed);
            let mut at = 0;
            if lane == 0 && lanes > 0 {
                at = length.fetch_add(0, lanes.count_ones());
            }
            let at = warp::shuffle_idx(warp::ALL, at, 0) + (lanes & ((1 << lane) - 1)).count_ones();
            if listed {
                let at = if mixed { self.bricks.len() - 1 - at } else { at };
                self.bricks.store(at, brick);
                self.rows.store(at, x | y << 16);
                self.planes.store(at, z);
            }
        }
    }

    /// Returns brick number `i` of the list, in which bricks that are entirely inside come first.
    ///
    /// # Safety
    /// The brick was stored before a barrier. `inside` may be true only if the brick is entirely inside.
    #[inline(always)]
    pub(super) unsafe fn load(self, i: u32, inside: bool) -> Listed {
        // SAFETY: by this function's contract.
        unsafe {
            let before = if inside { u32::MAX } else { self.inside.load(0) };
            let i = if i < before { i } else { self.bricks.len() - 1 - (i - before) };
            let row = self.rows.load(i);
            Listed { brick: self.bricks.load(i), first: [row & 0xFFFF, row >> 16, self.planes.load(i)] }
        }
    }
}

/// Returns the rank of this warp's group of bricks in the round that starts with rank `first`. Groups that are
/// neighbours in the order take about as long; they go to different thread blocks of the round, which balances the
/// load.
#[inline(always)]
pub(super) fn own_rank(first: u32) -> u32 {
    let (warp, blocks) = (warp_number(), grid_dim_x());
    // SAFETY: there is a block.
    unsafe { core::hint::assert_unchecked(blocks > 0) };
    first + warp * blocks + (block_idx_x() + 37 * warp) % blocks
}

/// Decides about the bricks of the group of this rank, one per lane.
#[inline(always)]
pub(super) unsafe fn choose<S: Sampler, C: Counters>(p: &Tiled, affine: &Affine, rank: u32, list: List, counters: C) {
    let there = rank < p.groups[0] * p.groups[1] * p.groups[2];
    // SAFETY: there is this group.
    let group = if there { unsafe { p.order.as_slice().get_cached(rank as usize) } } else { 0 };
    let brick = brick::BRICKS * group + warp::lane_id();
    // SAFETY: there is this brick.
    let (work, first) = if there { unsafe { brick::work::<S>(p, affine, brick) } } else { (Work::None, [0; 3]) };
    // SAFETY: the whole warp comes here, and the list has room for as many bricks as the block has threads.
    unsafe {
        let pair = match work {
            Work::Alike { fixed, moving } => fixed + p.stride * moving,
            _ => 0,
        };
        count_alike(p, matches!(work, Work::Alike { .. }), pair, counters);
        list.store(work == Work::Inside, false, brick, first);
        list.store(work == Work::Mixed, true, brick, first);
    }
}

/// Counts the bricks of the lanes in which `alike` is true, all of whose voxels have the same pair of bins. Lanes with
/// equal pairs are counted by one addition.
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
                    // The sum could be too large for 16 bits.
                    true => p.counters.add(global(p, pair % p.stride, pair / p.stride), voxels),
                    false => counters.words().add(pair, voxels),
                }
            }
            rest &= !same;
        }
    }
}
