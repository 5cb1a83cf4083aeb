//! The moving image at every sample.

use super::{BLOCK, EMPTY};
use crate::kernels::sample::{FineLinear, Sampler};
use crate::kernels::thread_number;
use crate::math::viola::{Scaled, scaled};
use crate::math::{affine, interpolate};
use crate::params::{Affine, Viola};
use cuda_std::thread::{block_idx_x, sync_threads};
use cuda_std::{kernel, shared_slice, warp};

/// Blocks of [`BLOCK`] threads, one a block of slots.
///
/// # Safety
/// The slices are as long as their documentation says.
#[kernel]
pub unsafe fn viola_sample(p: Viola) {
    let [start, group] = unsafe { p.blocks.get(block_idx_x() as usize) };
    let map = unsafe { map(&p, group) };
    let slot = (start + thread_number()) as usize;
    let [xy, z, value, _] = unsafe { p.slots.get(slot) };
    let voxel = voxel(xy, z);
    let (position, last) = (affine::position(&map, voxel), interpolate::last(p.moving_size));
    let inside = interpolate::inside(position, last) & (z & EMPTY == 0);
    let place = FineLinear::place(inside, position, p.moving_size);
    // SAFETY: a place is safe to read.
    let words = unsafe { FineLinear::load_from(p.moving, p.moving_size, place) };
    let (moving, slope) = interpolate::linear_slope(words, place.fraction);
    let [x, y, z] = interpolate::inner(slope, position, last);
    let scales = Scaled { u: p.scales[0], v: p.scales[1] };
    let Scaled { u, v } = scaled([f32::from_bits(value), moving], inside, scales);
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

/// What a slot's first two words say.
#[inline(always)]
pub fn voxel(xy: u32, z: u32) -> [u32; 3] {
    [xy & 0xFFFF, xy >> 16, z & !EMPTY]
}

/// The map of a group, read once a block. Every thread calls it.
#[inline(always)]
unsafe fn map(p: &Viola, group: u32) -> Affine {
    const _: () = assert!(BLOCK >= 12);
    let coefficients = shared_slice![f32; 12];
    let me = thread_number();
    if me < 12 {
        unsafe { coefficients.store(me, p.maps.get((12 * group + me) as usize)) };
    }
    sync_threads();
    let row = |row: u32| {
        let number = |column: u32| unsafe { coefficients.load(4 * row + column) };
        [number(0), number(1), number(2), number(3)]
    };
    Affine { rows: [row(0), row(1), row(2)] }
}
