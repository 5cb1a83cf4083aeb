//! The joint histogram of a fixed image and a transformed moving image. Each thread block has counters in shared
//! memory, to which its threads add by atomics.
//!
//! A thread block has 32 lanes along x and one warp for each y. The fixed image is divided into tiles: 32 voxels along
//! x, one row per warp along y, and `depth` planes along z. A block takes several tiles. A thread runs along z, so that
//! its reads of the moving image stay close together. Histograms that exceed a block's shared memory are counted in
//! ranges, one for each z of the grid (Shams & Kennedy's solution: see Ledig 2.2). The y of the grid is the number of
//! the transform.

use super::partial_volume::PartialVolume;
use crate::kernels::sample::{Cubic, FineLinear, FineNearest, Linear, Nearest, Sampler};
use crate::kernels::tiles::Tiles;
use crate::kernels::{batch, each_of};
use crate::math::affine;
use crate::math::interpolate::{self, Interpolator};
use crate::params::{Affine, Histogram};
use cuda_std::kernel;
use cuda_std::shared::{self, SharedSlice};
use cuda_std::thread::{block_idx_x, block_idx_y, block_idx_z, grid_dim_x, sync_threads};

/// Planes that a thread reads together, so that their loads overlap.
const PLANES_AT_ONCE: usize = 4;

/// The same for interpolators whose code is so long that a loop over more planes would not be unrolled, so that its
/// arrays would be in local memory.
const ONE_PLANE: usize = 1;

/// Counts with nearest-neighbour interpolation. Thread blocks of ([`WARP`](crate::kernels::WARP), rows), at most 1024
/// threads; `range` words of dynamic shared memory.
///
/// # Safety
/// The slices are as long as the sizes say, with the moving image's padding; every size, number of bins and
/// the tile's depth is at least 1.
#[kernel]
pub unsafe fn joint_histogram_nearest(p: Histogram) {
    // SAFETY: by this function's contract.
    unsafe { count::<Nearest, PLANES_AT_ONCE>(&p) }
}

/// Counts with trilinear interpolation; otherwise as [`joint_histogram_nearest`].
///
/// # Safety
/// As [`joint_histogram_nearest`].
#[kernel]
pub unsafe fn joint_histogram_linear(p: Histogram) {
    // SAFETY: by this function's contract.
    unsafe { count::<Linear, PLANES_AT_ONCE>(&p) }
}

/// Counts with nearest-neighbour or trilinear interpolation of 16-bit values; otherwise as [`joint_histogram_nearest`].
///
/// # Safety
/// As [`joint_histogram_nearest`].
#[kernel]
pub unsafe fn joint_histogram_fine(p: Histogram) {
    match Interpolator::of(p.images.interpolator) {
        // SAFETY: by this function's contract.
        Interpolator::Nearest => unsafe { count::<FineNearest, PLANES_AT_ONCE>(&p) },
        // SAFETY: by this function's contract.
        _ => unsafe { count::<FineLinear, PLANES_AT_ONCE>(&p) },
    }
}

/// Counts with cubic interpolation; otherwise as [`joint_histogram_nearest`].
///
/// # Safety
/// As [`joint_histogram_nearest`].
#[kernel]
pub unsafe fn joint_histogram_cubic(p: Histogram) {
    // SAFETY: by this function's contract.
    unsafe { count::<Cubic, ONE_PLANE>(&p) }
}

/// Counts with partial volume interpolation of 16-bit values; otherwise as [`joint_histogram_nearest`].
///
/// # Safety
/// As [`joint_histogram_nearest`].
#[kernel]
pub unsafe fn joint_histogram_partial_volume(p: Histogram) {
    // SAFETY: by this function's contract.
    unsafe { count::<PartialVolume, ONE_PLANE>(&p) }
}

#[inline(always)]
unsafe fn count<S: Sampler, const N: usize>(p: &Histogram) {
    // SAFETY: the launcher gives `range` words.
    let counters = unsafe { shared::dynamic::<u32>(0, p.range) };
    let first = p.range * block_idx_z();
    // SAFETY: `i` is below `range`, and the word is this thread's alone until the barrier in `batch::transform`.
    each_of(p.range, |i| unsafe { counters.store(i, 0) });
    // SAFETY: the grid has a y for each transform.
    let affine = unsafe { batch::transform(&p.images.transform, p.transforms) };
    let [width, height, _] = p.images.fixed_size;
    // SAFETY: by this function's contract.
    let tiles = unsafe { Tiles::new(p.images.fixed_size, p.depth) };
    let mut tile = block_idx_x();
    while tile < tiles.len() {
        let [x, y, z] = tiles.first_voxel(tile);
        if x < width && y < height {
            // SAFETY: the voxels are in the fixed image.
            unsafe { count_down::<S, N>(p, &affine, [x, y, z], counters, first) };
        }
        tile += grid_dim_x();
    }
    sync_threads();
    let out = block_idx_y() * p.images.bins[0] * p.images.bins[1] + first;
    each_of(p.range, |i| {
        // SAFETY: `i` is below `range`, and all additions are before the barrier.
        let count = unsafe { counters.load(i) };
        if count > 0 {
            // SAFETY: the launch has ranges for the pairs of the histogram only, and a histogram for each y.
            unsafe { p.counters.add((out + i) as usize, count) };
        }
    });
}

/// Counts the voxels from `[x, y, z]` along z to the last plane of the tile.
#[inline(always)]
unsafe fn count_down<S: Sampler, const N: usize>(
    p: &Histogram,
    affine: &Affine,
    [x, y, mut z]: [u32; 3],
    counters: SharedSlice<u32>,
    first: u32,
) {
    let [width, height, depth] = p.images.fixed_size;
    let end = if z + p.depth < depth { z + p.depth } else { depth };
    let base = affine::add_y(affine, affine::from_x(affine, x), y);
    let mut voxel = x + width * (y + height * z);
    while z + N as u32 <= end {
        // SAFETY: `N` planes are left, so that the voxels are in the fixed image.
        unsafe { count_planes::<S, N>(p, affine, base, z, voxel, counters, first) };
        z += N as u32;
        voxel += N as u32 * width * height;
    }
    while z < end {
        // SAFETY: a plane is left, so that the voxel is in the fixed image.
        unsafe { count_planes::<S, 1>(p, affine, base, z, voxel, counters, first) };
        z += 1;
        voxel += width * height;
    }
}

/// Counts a voxel in each of `N` planes from `z` on. `voxel` is the index of the first one, and `base` its position
/// without the z term.
#[inline(always)]
unsafe fn count_planes<S: Sampler, const N: usize>(
    p: &Histogram,
    affine: &Affine,
    base: [f32; 3],
    z: u32,
    voxel: u32,
    counters: SharedSlice<u32>,
    first: u32,
) {
    let last = interpolate::last(p.images.moving_size);
    let plane = p.images.fixed_size[0] * p.images.fixed_size[1];
    let mut inside = [false; N];
    let mut places = [S::Place::default(); N];
    let mut fixed = [0; N];
    let mut words = [S::Words::default(); N];
    for i in 0..N {
        let position = affine::add_z(affine, base, z + i as u32);
        inside[i] = interpolate::inside(position, last);
        places[i] = S::place(inside[i], position, p.images.moving_size);
    }
    for i in 0..N {
        // SAFETY: the caller says that the voxel of each plane is in the fixed image.
        fixed[i] = u32::from(unsafe { p.images.fixed.get_cached((voxel + i as u32 * plane) as usize) });
        // SAFETY: a place is safe to read whether or not the position lies inside.
        words[i] = unsafe { S::load(&p.images, places[i]) };
    }
    for i in 0..N {
        let counted = inside[i] & (fixed[i] < p.images.bins[0]);
        // SAFETY: the words are those of the place, and the counter is below `range` where it counts.
        unsafe {
            S::each(&p.images, fixed[i], words[i], places[i], first, |pair, weight| {
                counters.add_if(counted & (weight > 0) & (pair < p.range), pair, weight);
            });
        }
    }
}
