//! The joint histogram of a fixed image and a moving image seen through a transform, with a block's counters in shared memory.
//!
//! A block is a number of warps (y) of 32 lanes (x). It takes every so-many-th tile of 32 voxels along x, one row a warp along y and
//! `depth` planes along z; a thread goes down z, so that what it reads of the moving image stays near. Histograms that exceed a block's
//! shared memory are counted a range at a time, one for each z of the grid (Shams & Kennedy's answer: see Ledig 2.2). The y of the
//! grid is the number of the transform.

use super::{block_threads, thread_number};
use crate::math::{affine, bin, interpolate};
use crate::params::{Affine, Histogram};
use cuda_std::kernel;
use cuda_std::shared::{self, SharedSlice};
use cuda_std::thread::{
    block_dim_y, block_idx_x, block_idx_y, block_idx_z, grid_dim_x, sync_threads, thread_idx_x, thread_idx_y,
};

/// Planes that a thread reads together, to have that many loads under way.
const TOGETHER: usize = 4;

/// Lanes of a warp: the width of a tile.
pub const WIDTH: u32 = 32;

/// Counts with trilinear interpolation. Blocks of ([`WIDTH`], rows), at most 1024 threads; `range` words of dynamic shared memory.
///
/// # Safety
/// The slices are as long as the sizes say, with the moving image's padding; every size, number of bins and
/// the tile's depth is at least 1.
#[kernel]
pub unsafe fn joint_histogram_linear(p: Histogram) {
    // SAFETY: as this function's.
    unsafe { count::<Linear>(&p) }
}

/// Counts with the nearest voxel; otherwise as [`joint_histogram_linear`].
///
/// # Safety
/// As [`joint_histogram_linear`].
#[kernel]
pub unsafe fn joint_histogram_nearest(p: Histogram) {
    // SAFETY: as this function's.
    unsafe { count::<Nearest>(&p) }
}

/// An interpolator in two steps, with the loads between them.
trait Sampler {
    /// Where to read, and with what weights.
    type Place: Copy;
    /// What was read.
    type Words: Copy;

    /// A place that is safe to read.
    const ANYWHERE: Self::Place;
    const NOTHING: Self::Words;

    /// # Safety
    /// The position is inside.
    unsafe fn place(position: [f32; 3], size: [u32; 3]) -> Self::Place;

    /// # Safety
    /// The place is in the moving image.
    unsafe fn load(p: &Histogram, place: Self::Place) -> Self::Words;

    fn value(words: Self::Words, place: Self::Place) -> f32;
}

struct Linear;

impl Sampler for Linear {
    type Place = interpolate::Place;
    type Words = [u32; 4];

    const ANYWHERE: Self::Place = interpolate::Place { index: 0, fraction: [0.0; 3] };
    const NOTHING: Self::Words = [0; 4];

    #[inline(always)]
    unsafe fn place(position: [f32; 3], size: [u32; 3]) -> Self::Place {
        // SAFETY: as this function's.
        unsafe { interpolate::place(position, size) }
    }

    #[inline(always)]
    unsafe fn load(p: &Histogram, place: Self::Place) -> Self::Words {
        let (stride_y, stride_z) = (p.moving_size[0], p.moving_size[0] * p.moving_size[1]);
        let at = |offset: u32| (place.index + offset) as usize;
        // SAFETY: within the image and its padding.
        [0, stride_y, stride_z, stride_y + stride_z].map(|offset| unsafe { p.moving.get_cached(at(offset)) })
    }

    #[inline(always)]
    fn value(words: Self::Words, place: Self::Place) -> f32 {
        interpolate::linear(words, place.fraction)
    }
}

struct Nearest;

impl Sampler for Nearest {
    type Place = u32;
    type Words = u32;

    const ANYWHERE: u32 = 0;
    const NOTHING: u32 = 0;

    #[inline(always)]
    unsafe fn place(position: [f32; 3], size: [u32; 3]) -> u32 {
        // SAFETY: as this function's.
        unsafe { interpolate::nearest(position, size) }
    }

    #[inline(always)]
    unsafe fn load(p: &Histogram, place: u32) -> u32 {
        // SAFETY: as this function's.
        unsafe { p.moving.get_cached(place as usize) }
    }

    #[inline(always)]
    fn value(words: u32, _: u32) -> f32 {
        (words & 0xFFFF) as f32
    }
}

#[inline(always)]
unsafe fn count<S: Sampler>(p: &Histogram) {
    // SAFETY: the launcher gives `range` words.
    let counters = unsafe { shared::dynamic::<u32>(0, p.range) };
    let first = p.range * block_idx_z();
    each_counter(p, |i| unsafe { counters.store(i, 0) });
    sync_threads();
    // SAFETY: there are three rows a transform.
    let affine = Affine { rows: [0, 1, 2].map(|row| unsafe { p.transforms.get(3 * block_idx_y() as usize + row) }) };
    let [width, height, depth] = p.fixed_size;
    // SAFETY: as this function's; without it a division by zero would bring a panic into the PTX.
    unsafe { core::hint::assert_unchecked(block_dim_y() > 0 && p.depth > 0) };
    let tiles = [width.div_ceil(WIDTH), height.div_ceil(block_dim_y()), depth.div_ceil(p.depth)];
    // SAFETY: sizes are at least 1.
    unsafe { core::hint::assert_unchecked(tiles[0] > 0 && tiles[1] > 0) };
    let mut tile = block_idx_x();
    while tile < tiles[0] * tiles[1] * tiles[2] {
        let (row, column) = (tile / tiles[0], tile % tiles[0]);
        let x = column * WIDTH + thread_idx_x();
        let y = row % tiles[1] * block_dim_y() + thread_idx_y();
        let z = row / tiles[1] * p.depth;
        if x < width && y < height {
            // SAFETY: the voxels are in the fixed image.
            unsafe { count_down::<S>(p, &affine, [x, y, z], counters, first) };
        }
        tile += grid_dim_x();
    }
    sync_threads();
    let out = block_idx_y() * p.bins[0] * p.bins[1] + first;
    each_counter(p, |i| {
        // SAFETY: `i` is below `range`, and pairs end where the histogram does.
        let count = unsafe { counters.load(i) };
        if count > 0 {
            unsafe { p.counters.add((out + i) as usize, count) };
        }
    });
}

/// Calls `each` for this thread's share of the block's counters.
#[inline(always)]
fn each_counter(p: &Histogram, each: impl Fn(u32)) {
    let mut i = thread_number();
    while i < p.range {
        each(i);
        i += block_threads();
    }
}

/// Counts the voxels from `[x, y, z]` to the lower end of the tile.
#[inline(always)]
unsafe fn count_down<S: Sampler>(
    p: &Histogram,
    affine: &Affine,
    [x, y, z]: [u32; 3],
    counters: SharedSlice<u32>,
    first: u32,
) {
    let [width, height, depth] = p.fixed_size;
    let end = if z + p.depth < depth { z + p.depth } else { depth };
    let last = interpolate::last(p.moving_size);
    let scale = bin::scale(p.bins[1]);
    let base = affine::add_y(affine, affine::from_x(affine, x), y);
    let mut z = z;
    while z < end {
        let mut inside = [false; TOGETHER];
        let mut fixed = [0; TOGETHER];
        let mut places = [S::ANYWHERE; TOGETHER];
        for i in 0..TOGETHER {
            let z = z + i as u32;
            let position = affine::add_z(affine, base, z);
            inside[i] = (z < end) & interpolate::inside(position, last);
            if inside[i] {
                // SAFETY: inside both images.
                places[i] = unsafe { S::place(position, p.moving_size) };
                fixed[i] = u32::from(unsafe { p.fixed.get_cached((x + width * (y + height * z)) as usize) });
            }
        }
        let mut words = [S::NOTHING; TOGETHER];
        for i in 0..TOGETHER {
            // SAFETY: inside or anywhere safe.
            words[i] = unsafe { S::load(p, places[i]) };
        }
        for i in 0..TOGETHER {
            // SAFETY: what is interpolated from stored values is between them.
            let moving = unsafe { bin::of(S::value(words[i], places[i]), scale) };
            let pair = (fixed[i] + p.bins[0] * moving).wrapping_sub(first);
            if inside[i] & (pair < p.range) {
                // SAFETY: below `range`.
                unsafe { counters.add(pair, 1) };
            }
        }
        z += TOGETHER as u32;
    }
}
