//! Deformable registration, with the formulas of [`crate::math::flow`]. The stages of a step:
//!
//! 1. [`pairs`] or [`local`] compare the images: they give the joint histogram's indices or the local correlation.
//! 2. [`table`] makes tables of scores from the joint histogram.
//! 3. [`force`] (from the tables) or [`local`] compute the forces; those of several metrics are added up. [`landmarks`]
//!    adds theirs.
//! 4. [`step`] computes the update field from the smoothed forces, and composes the field with it.
//!
//! [`relax`] smooths the field where its Jacobian determinant is outside limits. [`field`] and [`inverse`] compute what
//! is derived from the final field. [`resample`] is for symmetric registration, with two fields on one grid in the
//! middle, from where each leads to one of the images.
//!
//! Thread blocks are ([`WARP`], rows), and the grid has any number of them along x. A warp takes whole rows of voxels.

pub mod copy;
pub mod field;
pub mod force;
pub mod inverse;
pub mod landmarks;
pub mod local;
pub mod pairs;
pub mod relax;
pub mod resample;
pub mod step;
pub mod table;

use crate::kernels::WARP;
use crate::kernels::ordered::fold;
use crate::kernels::sample::{FineLinear, Sampler};
use crate::math::flow::{self, VoxelForce};
use crate::math::interpolate;
use crate::params::{FlowImages, ForceOutput};
use cuda_std::global::{DeviceSlice, DeviceSliceMut};
use cuda_std::thread::{block_dim_y, block_idx_x, grid_dim_x, thread_idx_x, thread_idx_y};
use cuda_std::warp;

/// Calls `each` with every voxel of this thread's share of an image grid, and the voxel's index in memory.
#[inline(always)]
pub(super) fn each_voxel([width, height, depth]: [u32; 3], mut each: impl FnMut([u32; 3], u32)) {
    let mut row = block_idx_x() * block_dim_y() + thread_idx_y();
    while row < height * depth {
        // SAFETY: there is a row, so the height is not 0. Without this line, the check for a division by zero would
        // bring a panic into the PTX.
        unsafe { core::hint::assert_unchecked(height > 0) };
        let (y, z) = (row % height, row / height);
        let mut x = thread_idx_x();
        while x < width {
            each([x, y, z], x + width * row);
            x += WARP;
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
    // SAFETY: by this function's contract.
    unsafe { [field.get_cached(x), field.get_cached(y), field.get_cached(z)] }
}

/// [`read`] of a displacement that the same thread writes later.
///
/// # Safety
/// The field has it, and no other thread writes it.
#[inline(always)]
unsafe fn read_uncached(field: DeviceSliceMut<f32>, size: [u32; 3], number: u32) -> [f32; 3] {
    let [x, y, z] = planes(size, number);
    // SAFETY: by this function's contract.
    unsafe { [field.get(x), field.get(y), field.get(z)] }
}

/// Sets the displacement of the voxel of this index.
///
/// # Safety
/// The field has it, and no other thread reads or writes it.
#[inline(always)]
pub(super) unsafe fn write(field: DeviceSliceMut<f32>, size: [u32; 3], number: u32, values: [f32; 3]) {
    let [x, y, z] = planes(size, number);
    // SAFETY: by this function's contract.
    unsafe {
        field.set(x, values[0]);
        field.set(y, values[1]);
        field.set(z, values[2]);
    }
}

/// Reads the force and the precision at the voxel of this index, from three planes of force and one of precision.
///
/// # Safety
/// As [`read_uncached`].
#[inline(always)]
unsafe fn read_force([forces, precisions]: [DeviceSliceMut<f32>; 2], size: [u32; 3], number: u32) -> VoxelForce {
    // SAFETY: by this function's contract.
    unsafe { VoxelForce { force: read_uncached(forces, size, number), precision: precisions.get(number as usize) } }
}

/// Sets what [`read_force`] reads.
///
/// # Safety
/// As [`write`].
#[inline(always)]
unsafe fn write_force([forces, precisions]: [DeviceSliceMut<f32>; 2], size: [u32; 3], number: u32, force: VoxelForce) {
    // SAFETY: by this function's contract.
    unsafe {
        write(forces, size, number, force.force);
        precisions.set(number as usize, force.precision);
    }
}

/// Writes a force and its precision at the voxel of this index, times [`ForceOutput::weight`], or adds them to what is
/// there.
///
/// # Safety
/// As [`read_uncached`] and [`write`].
#[inline(always)]
unsafe fn output_force(p: &ForceOutput, size: [u32; 3], number: u32, force: VoxelForce) {
    let planes = [p.force, p.precision];
    // SAFETY: by this function's contract.
    unsafe {
        let before = if p.adds == 0 { VoxelForce::NONE } else { read_force(planes, size, number) };
        write_force(planes, size, number, force.added(before, p.weight));
    }
}

/// The indices of a voxel's three numbers: one per plane.
#[inline(always)]
fn planes(size: [u32; 3], number: u32) -> [usize; 3] {
    let plane = size[0] * size[1] * size[2];
    [number as usize, (number + plane) as usize, (number + 2 * plane) as usize]
}

/// Adds the sums and the counts of a warp's lanes to the two totals.
///
/// # Safety
/// Whole warps call it.
#[inline(always)]
unsafe fn add(totals: DeviceSliceMut<u64>, [sum, count]: [u64; 2]) {
    // SAFETY: by this function's contract.
    unsafe {
        let (sum, count) = (fold(sum), fold(count));
        if warp::lane_id() == 0 && count > 0 {
            totals.add(0, sum);
            totals.add(1, count);
        }
    }
}

/// What is read at a voxel of the fixed image: its stored value and, of the moving image, the words from which its
/// value is interpolated.
struct Sample {
    fixed: f32,
    /// Whether the position lies inside the moving image. If not, `words` and `fraction` are meaningless.
    inside: bool,
    /// Whether the position is inside, the voxel belongs to a half in [`FlowImages::halves`], and both masks keep it.
    counts: bool,
    position: [f32; 3],
    words: <FineLinear as Sampler>::Words,
    fraction: [f32; 3],
}

impl Sample {
    /// Reads the voxel, and the moving image where the field and the map take it.
    ///
    /// # Safety
    /// The voxel is in the fixed image, and the slices are as long as the sizes say.
    #[inline(always)]
    unsafe fn read(images: &FlowImages, voxel: [u32; 3], number: u32) -> Self {
        // SAFETY: by this function's contract; a place is safe to read whether or not the position lies inside.
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

/// Returns whether both masks keep a voxel of the fixed image whose position lies inside the moving image.
///
/// # Safety
/// As [`Sample::read`].
#[inline(always)]
unsafe fn kept(images: &FlowImages, position: [f32; 3], number: u32) -> bool {
    let [fixed, moving] = images.masked;
    // SAFETY: by this function's contract; inside, the nearest voxel is one of the image's.
    unsafe {
        let by_fixed = fixed == 0 || images.fixed_mask.get_cached(number as usize) != 0;
        let nearest = || interpolate::nearest(position, images.moving_size) as usize;
        by_fixed && (moving == 0 || images.moving_mask.get_cached(nearest()) != 0)
    }
}
