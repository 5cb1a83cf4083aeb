//! Deformable registration, by [`crate::math::flow`]: [`pairs`] or [`local`] compare the images, [`force`] or [`local`] compute what
//! pulls, by the tables that [`table`] makes, each on top of the other where there are several, and [`landmarks`] add to it. [`step`] makes the
//! update field of it and applies it. [`relax`] mends the field where volumes change too much. [`field`] and [`inverse`] compute what is
//! asked of the final field. [`show`] is for two fields that meet in the middle.
//!
//! Blocks are of ([`WIDTH`], rows) threads, any number of them along x: a warp takes rows of voxels.

pub mod copy;
pub mod field;
pub mod force;
pub mod inverse;
pub mod landmarks;
pub mod local;
pub mod pairs;
pub mod relax;
pub mod show;
pub mod step;
pub mod table;

use crate::kernels::ordered::fold;
use crate::kernels::sample::{FineLinear, Sampler};
use crate::math::flow::{self, Pull};
use crate::math::interpolate;
use crate::params::{FlowImages, FlowPull};
use cuda_std::global::{DeviceSlice, DeviceSliceMut};
use cuda_std::thread::{block_dim_y, block_idx_x, grid_dim_x, thread_idx_x, thread_idx_y};
use cuda_std::warp;

/// Lanes of a warp: the voxels along x that it takes together.
pub const WIDTH: u32 = 32;

/// Calls `each` with every voxel of this thread's share of a grid, and the voxel's index in memory.
#[inline(always)]
pub(super) fn each_voxel([width, height, depth]: [u32; 3], mut each: impl FnMut([u32; 3], u32)) {
    let mut row = block_idx_x() * block_dim_y() + thread_idx_y();
    while row < height * depth {
        // SAFETY: else there is no row; without it a division by zero would bring a panic into the PTX.
        unsafe { core::hint::assert_unchecked(height > 0) };
        let (y, z) = (row % height, row / height);
        let mut x = thread_idx_x();
        while x < width {
            each([x, y, z], x + width * row);
            x += WIDTH;
        }
        row += grid_dim_x() * block_dim_y();
    }
}

/// The displacement of the voxel of this index.
///
/// # Safety
/// The field has it, and nothing writes it.
#[inline(always)]
pub(super) unsafe fn read(field: DeviceSlice<f32>, size: [u32; 3], number: u32) -> [f32; 3] {
    let [x, y, z] = planes(size, number);
    // SAFETY: as this function's.
    unsafe { [field.get_cached(x), field.get_cached(y), field.get_cached(z)] }
}

/// [`read`] of a displacement that the same thread writes later.
///
/// # Safety
/// The field has it, and no other thread writes it.
#[inline(always)]
unsafe fn own(field: DeviceSliceMut<f32>, size: [u32; 3], number: u32) -> [f32; 3] {
    let [x, y, z] = planes(size, number);
    // SAFETY: as this function's.
    unsafe { [field.get(x), field.get(y), field.get(z)] }
}

/// Sets the displacement of the voxel of this index.
///
/// # Safety
/// The field has it, and no other thread reads or writes it.
#[inline(always)]
pub(super) unsafe fn write(field: DeviceSliceMut<f32>, size: [u32; 3], number: u32, values: [f32; 3]) {
    let [x, y, z] = planes(size, number);
    // SAFETY: as this function's.
    unsafe {
        field.set(x, values[0]);
        field.set(y, values[1]);
        field.set(z, values[2]);
    }
}

/// What pulls at the voxel of this index: three planes of force and one of precision.
///
/// # Safety
/// As [`own`].
#[inline(always)]
unsafe fn own_pull([force, precision]: [DeviceSliceMut<f32>; 2], size: [u32; 3], number: u32) -> Pull {
    // SAFETY: as this function's.
    unsafe { Pull { force: own(force, size, number), precision: precision.get(number as usize) } }
}

/// Sets what [`own_pull`] reads.
///
/// # Safety
/// As [`write`].
#[inline(always)]
unsafe fn write_pull([force, precision]: [DeviceSliceMut<f32>; 2], size: [u32; 3], number: u32, pull: Pull) {
    // SAFETY: as this function's.
    unsafe {
        write(force, size, number, pull.force);
        precision.set(number as usize, pull.precision);
    }
}

/// Takes what pulls at the voxel of this index to where it is wanted.
///
/// # Safety
/// As [`own`] and [`write`].
#[inline(always)]
unsafe fn take_pull(p: &FlowPull, size: [u32; 3], number: u32, pull: Pull) {
    let planes = [p.force, p.precision];
    // SAFETY: as this function's.
    unsafe {
        let before = if p.adds == 0 { Pull::NONE } else { own_pull(planes, size, number) };
        write_pull(planes, size, number, pull.added(before, p.weight));
    }
}

/// The indices of a voxel's three numbers: one per plane.
#[inline(always)]
fn planes(size: [u32; 3], number: u32) -> [usize; 3] {
    let plane = size[0] * size[1] * size[2];
    [number as usize, (number + plane) as usize, (number + 2 * plane) as usize]
}

/// Adds the lanes' sums and counts to the two totals.
///
/// # Safety
/// Whole warps call it.
#[inline(always)]
unsafe fn add(totals: DeviceSliceMut<u64>, [sum, count]: [u64; 2]) {
    // SAFETY: as this function's.
    unsafe {
        let (sum, count) = (fold(sum), fold(count));
        if warp::lane_id() == 0 && count > 0 {
            totals.add(0, sum);
            totals.add(1, count);
        }
    }
}

/// The stored values at a voxel of the fixed image, before interpolation.
struct Sample {
    fixed: f32,
    /// Whether it lies inside the moving image; else the other fields are not to be used.
    inside: bool,
    /// Whether it is inside, in a half that is wanted, and both masks keep it.
    counts: bool,
    position: [f32; 3],
    words: <FineLinear as Sampler>::Words,
    fraction: [f32; 3],
}

impl Sample {
    /// Reads the voxel, displaced and mapped.
    ///
    /// # Safety
    /// The voxel is in the fixed image, and the slices are as long as the sizes say.
    #[inline(always)]
    unsafe fn read(images: &FlowImages, voxel: [u32; 3], number: u32) -> Self {
        // SAFETY: as this function's; a place is safe to read whether or not the position lies inside.
        unsafe {
            let fixed = f32::from(images.fixed.get_cached(number as usize));
            let position = flow::position(&images.map, voxel, read(images.field, images.size, number));
            let inside = interpolate::inside(position, interpolate::last(images.moving_size));
            let wanted = images.halves & flow::half(voxel, images.blocks) != 0;
            let counts = inside && wanted && kept(images, position, number);
            let place = FineLinear::place(inside, position, images.moving_size);
            let words = FineLinear::load_from(images.moving, images.moving_size, place);
            Self { fixed, inside, counts, position, words, fraction: place.fraction }
        }
    }

    /// The stored values of both images.
    #[inline(always)]
    fn values(&self) -> [f32; 2] {
        [self.fixed, interpolate::linear(self.words, self.fraction)]
    }

    /// [`values`](Self::values), and the moving image's gradient along its own axes in stored values per voxel.
    #[inline(always)]
    fn slope(&self, moving_size: [u32; 3]) -> ([f32; 2], [f32; 3]) {
        let (moving, slope) = interpolate::linear_slope(self.words, self.fraction);
        ([self.fixed, moving], interpolate::inner(slope, self.position, interpolate::last(moving_size)))
    }
}

/// Whether the masks keep a voxel of the fixed image, whose position lies inside the moving one.
///
/// # Safety
/// As [`Sample::read`].
#[inline(always)]
unsafe fn kept(images: &FlowImages, position: [f32; 3], number: u32) -> bool {
    let [fixed, moving] = images.masked;
    // SAFETY: as this function's; inside, the nearest voxel is one of the image's.
    unsafe {
        let by_fixed = fixed == 0 || images.fixed_mask.get_cached(number as usize) != 0;
        let nearest = || interpolate::nearest(position, images.moving_size) as usize;
        by_fixed && (moving == 0 || images.moving_mask.get_cached(nearest()) != 0)
    }
}
