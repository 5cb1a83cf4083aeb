//! The moving image's value and gradient at every sample.

use super::{BLOCK, EMPTY};
use crate::kernels::sample::{FineLinear, Sampler};
use crate::kernels::thread_number;
use crate::math::viola::{Scaled, scaled};
use crate::math::{affine, interpolate};
use crate::params::{Affine, Viola};
use cuda_std::thread::{block_idx_x, sync_threads};
use cuda_std::{kernel, shared_slice, warp};

/// Interpolates the moving image at every slot's position, and counts the samples inside. Thread blocks of [`BLOCK`]
/// threads, one per block of slots.
///
/// # Safety
/// The slices are as long as their documentation says.
#[kernel]
pub unsafe fn viola_sample(p: Viola) {
    // SAFETY: the launch has a block for each block of slots.
    let [start, group] = unsafe { p.blocks.get(block_idx_x() as usize) };
    // SAFETY: every thread comes here; blocks name groups that there are.
    let map = unsafe { map(&p, group) };
    let slot = (start + thread_number()) as usize;
    // SAFETY: a slot of a block.
    let [xy, z, value, _] = unsafe { p.slots.get(slot) };
    let voxel = voxel(xy, z);
    let (position, last) = (affine::position(&map, voxel), interpolate::last(p.moving_size));
    let inside = interpolate::inside(position, last) & (z & EMPTY == 0);
    let place = FineLinear::place(inside, position, p.moving_size);
    // SAFETY: a place is safe to read whether or not the position lies inside.
    let words = unsafe { FineLinear::load_from(p.moving, p.moving_size, place) };
    let (moving, slope) = interpolate::linear_slope(words, place.fraction);
    let [x, y, z] = interpolate::inner(slope, position, last);
    let scales = Scaled { u: p.scales[0], v: p.scales[1] };
    let Scaled { u, v } = scaled([f32::from_bits(value), moving], inside, scales);
    // SAFETY: the slot is this thread's alone; whole warps come here, and the group has two counts.
    unsafe {
        p.scaled.set(slot, [u, v]);
        p.slopes.set(slot, [x, y, z, if inside { 1.0 } else { 0.0 }]);
        let samples = warp::ballot(warp::ALL, inside).count_ones();
        if warp::lane_id() == 0 && samples > 0 {
            let set = u32::from(block_idx_x() < p.b_blocks);
            p.counts.add((2 * group + set) as usize, samples);
        }
    }
}

/// Unpacks the voxel (x, y, z) from a slot's first two words.
#[inline(always)]
pub fn voxel(xy: u32, z: u32) -> [u32; 3] {
    [xy & 0xFFFF, xy >> 16, z & !EMPTY]
}

/// Returns the map of a group, which each thread block reads once.
///
/// # Safety
/// Every thread of the block calls it, with a group that has a map.
#[inline(always)]
unsafe fn map(p: &Viola, group: u32) -> Affine {
    const _: () = assert!(BLOCK >= 12);
    let coefficients = shared_slice![f32; 12];
    let me = thread_number();
    if me < 12 {
        // SAFETY: a group has twelve coefficients; `me` is below 12, and its word is this thread's until the barrier.
        unsafe { coefficients.store(me, p.maps.get((12 * group + me) as usize)) };
    }
    sync_threads();
    let row = |row: u32| {
        // SAFETY: one of the twelve words, all stored before the barrier.
        let number = |column: u32| unsafe { coefficients.load(4 * row + column) };
        [number(0), number(1), number(2), number(3)]
    };
    Affine { rows: [row(0), row(1), row(2)] }
}
