//! The listed bricks sample by sample: a warp takes a brick, a lane four of its voxels.

use super::brick;
use super::counters::Counters;
use super::list::{List, Listed};
use crate::kernels::sample::Sampler;
use crate::kernels::{block_threads, thread_number};
use crate::math::{affine, bin, interpolate, whole};
use crate::params::{Affine, Tiled};
use cuda_std::bits::permute;
use cuda_std::warp;

/// Counts the listed bricks `from` to `to`, a warp each, and returns how many samples this thread counted.
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

/// Calls `count` for each of this lane's voxels of a brick, with whether it counts and the number of its counter plus the bias of its
/// bin. Unless `CHECKED`, all count. Returns how many do.
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
