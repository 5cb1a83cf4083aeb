//! Counts the listed bricks sample by sample. A warp takes a brick, and a lane four of its voxels.

use super::brick;
use super::counters::Counters;
use super::list::{List, Listed};
use crate::kernels::sample::Sampler;
use crate::kernels::{WARP, block_warps, warp_number};
use crate::math::{affine, bin, interpolate, whole};
use crate::params::{Affine, Tiled};
use core::ops::Range;
use cuda_std::bits::permute;
use cuda_std::warp;

/// Counts the listed bricks `from` to `to`, one per warp at a time, and returns how many samples this thread counted.
#[inline(always)]
pub(super) unsafe fn count_listed<S: Sampler, C: Counters>(
    p: &Tiled,
    affine: &Affine,
    list: List,
    from: u32,
    to: u32,
    counters: C,
) -> u32 {
    let bias = whole::BIAS.wrapping_mul(p.stride);
    let i = from + warp_number();
    // SAFETY: written before the barrier; the bricks and the counters are there.
    unsafe {
        let checked = |counts, pair| counters.count_if(counts, pair, bias);
        if S::MANY_LOADS {
            // The checks cost little compared with the loads, and a second loop without them would be large code.
            return count_bricks::<S, true>(p, affine, list, i..to, checked).1;
        }
        let inside = list.inside.load(0);
        let inside = i..if inside < to { inside } else { to };
        let (i, whole) = count_bricks::<S, false>(p, affine, list, inside, |_, pair| counters.count(pair, bias));
        whole + count_bricks::<S, true>(p, affine, list, i..to, checked).1
    }
}

/// Calls `count` for this lane's voxels of every brick of this warp in `range`, with whether the voxel counts, and with
/// the number of its counter plus the bias of its bin. Unless `CHECKED`, all voxels count. Returns the number of the
/// warp's next brick, and how many voxels counted. The next brick is prefetched while one is counted.
///
/// # Safety
/// The list has these bricks.
#[inline(always)]
unsafe fn count_bricks<S: Sampler, const CHECKED: bool>(
    p: &Tiled,
    affine: &Affine,
    list: List,
    range: Range<u32>,
    count: impl Fn(bool, u32),
) -> (u32, u32) {
    let (mut i, mut sum) = (range.start, 0);
    if i >= range.end {
        return (i, sum);
    }
    // SAFETY: by this function's contract.
    let read = |i: u32| unsafe { Brick::read::<CHECKED>(p, affine, list, i) };
    // SAFETY: the brick is one of the pair's.
    let load = |brick: &Brick, plane: u32| unsafe { brick.load::<S, CHECKED>(p, affine, plane) };
    if S::MANY_LOADS {
        while i < range.end {
            let (brick, mut plane) = (read(i), 0);
            while plane < brick::SIZE[2] {
                sum += load(&brick, plane).count(p, brick.bins, plane, &count);
                plane += 1;
            }
            i += block_warps();
        }
        return (i, sum);
    }
    let mut next = read(i);
    while i < range.end {
        let brick = next;
        i += block_warps();
        if i < range.end {
            next = read(i);
        }
        let (a, b, c, d) = (load(&brick, 0), load(&brick, 1), load(&brick, 2), load(&brick, 3));
        let count = |voxel: Voxel<S>, plane: u32| voxel.count(p, brick.bins, plane, &count);
        sum += count(a, 0) + count(b, 1) + count(c, 2) + count(d, 3);
    }
    (i, sum)
}

/// A lane's share of a brick.
#[derive(Clone, Copy)]
struct Brick {
    /// The position to which the transform takes the lane's x and y, with z = 0.
    base: [f32; 3],
    /// Its first plane.
    z: f32,
    /// The bins of the lane's four voxels.
    bins: u32,
    /// Four bits, set for those of the lane's voxels that count.
    counted: u32,
}

/// What has been loaded of the moving image for one of a lane's voxels.
struct Voxel<S: Sampler> {
    counts: bool,
    place: S::Place,
    words: S::Words,
}

impl Brick {
    /// # Safety
    /// The list has this brick.
    #[inline(always)]
    unsafe fn read<const CHECKED: bool>(p: &Tiled, affine: &Affine, list: List, i: u32) -> Self {
        // SAFETY: by this function's contract.
        unsafe {
            let (lane, Listed { brick, first: [x, y, z] }) = (warp::lane_id(), list.load(i, !CHECKED));
            let bins = p.bins.as_slice().get_cached((WARP * brick + lane) as usize);
            let mut counted = 0;
            if CHECKED {
                let [a, b, c, d] = p.masks.as_slice().get_cached(brick as usize);
                let bit = |mask: u32| mask >> lane & 1;
                counted = bit(a) | bit(b) << 1 | bit(c) << 2 | bit(d) << 3;
            }
            let base = affine::from_x(affine, x + lane % brick::SIZE[0]);
            Self { base: affine::add_y(affine, base, y + lane / brick::SIZE[0]), z: z as f32, bins, counted }
        }
    }

    /// Loads what is needed for the lane's voxel in this plane.
    ///
    /// # Safety
    /// The brick is one of the pair's.
    #[inline(always)]
    unsafe fn load<S: Sampler, const CHECKED: bool>(&self, p: &Tiled, affine: &Affine, plane: u32) -> Voxel<S> {
        let size = p.images.moving_size;
        let position = affine::add_plane(affine, self.base, self.z + plane as f32);
        let inside = || interpolate::inside(position, interpolate::last(size));
        let counts = !CHECKED || inside() & (self.counted >> plane & 1 > 0);
        let place = S::place(counts, position, size);
        // SAFETY: a place is safe to read.
        Voxel { counts, place, words: unsafe { S::load(&p.images, place) } }
    }
}

impl<S: Sampler> Voxel<S> {
    /// Calls `count` for the voxel, which is in this plane of a brick with these bins, and returns whether it counts.
    #[inline(always)]
    fn count(self, p: &Tiled, bins: u32, plane: u32, count: impl Fn(bool, u32)) -> u32 {
        // SAFETY: values are between 0 and `FULL`.
        let moving = unsafe { bin::raw(S::value(self.words, self.place), p.scale) };
        count(self.counts, permute(bins, 0, 0x4440 + plane).wrapping_add(moving.wrapping_mul(p.stride)));
        u32::from(self.counts)
    }
}
