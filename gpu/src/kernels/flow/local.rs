//! Local correlation. The launches, once for a fixed image f: [`flow_local_fixed`], a Gaussian filter that turns its
//! planes into local means, and [`flow_local_variance`]. For each field, which gives the moved image m:
//! [`flow_local_moving`], the Gaussian filter, then [`flow_local_agreement`] and [`flow_local_force`].

use super::{Sample, add, each_voxel, output_force, planes, read_uncached, write};
use crate::math::bin;
use crate::math::flow::{self, Moments, VoxelForce};
use crate::params::FlowLocal;
use cuda_std::global::DeviceSliceMut;
use cuda_std::kernel;

/// Writes f and its square, which are then smoothed.
///
/// # Safety
/// The slices are as long as their documentation and the sizes say, each size at least 1; so for all kernels here.
#[kernel]
pub unsafe fn flow_local_fixed(p: FlowLocal) {
    // SAFETY: by this function's contract.
    each_voxel(p.images.size, |_, number| unsafe {
        let value = fraction(f32::from(p.images.fixed.get_cached(number as usize)));
        set_two(p.planes, p.images.size, number, [value, value * value]);
    });
}

/// Writes the fixed image's local mean and variance, from the local means.
///
/// # Safety
/// As [`flow_local_fixed`].
#[kernel]
pub unsafe fn flow_local_variance(p: FlowLocal) {
    // SAFETY: by this function's contract.
    each_voxel(p.images.size, |_, number| unsafe {
        let [mean, square] = two(p.planes, p.images.size, number);
        set_two(p.fixed, p.images.size, number, [mean, flow::variance(mean, square)]);
    });
}

/// Writes m, its square and f m, which are then smoothed. Outside the moving image, m is 0.
///
/// # Safety
/// As [`flow_local_fixed`].
#[kernel]
pub unsafe fn flow_local_moving(p: FlowLocal) {
    // SAFETY: by this function's contract.
    each_voxel(p.images.size, |voxel, number| unsafe {
        let sample = Sample::read(&p.images, voxel, number);
        let [fixed, moving] = sample.values();
        let moving = if sample.inside { fraction(moving) } else { 0.0 };
        write(p.planes, p.images.size, number, [moving, moving * moving, fraction(fixed) * moving]);
    });
}

/// Adds up the squared correlation over the voxels that count.
///
/// # Safety
/// As [`flow_local_fixed`].
#[kernel]
pub unsafe fn flow_local_agreement(p: FlowLocal) {
    let (mut sum, mut count) = (0, 0);
    // SAFETY: by this function's contract.
    each_voxel(p.images.size, |voxel, number| unsafe {
        if Sample::read(&p.images, voxel, number).counts {
            // The correlation does not depend on the voxel's own intensities.
            let (correlation, _) = moments(&p, number).score([0.0; 2]);
            sum += u64::from(flow::fixed_correlation(correlation));
            count += 1;
        }
    });
    // SAFETY: all lanes of the warp come here.
    unsafe { add(p.totals, [sum, count]) };
}

/// Writes the force and its precision at every voxel, or adds them to what is there. The output may be the memory of
/// the local means, since each thread reads a voxel's means before it writes there.
///
/// # Safety
/// As [`flow_local_fixed`].
#[kernel]
pub unsafe fn flow_local_force(p: FlowLocal) {
    // SAFETY: by this function's contract.
    each_voxel(p.images.size, |voxel, number| unsafe {
        let sample = Sample::read(&p.images, voxel, number);
        let mut force = VoxelForce::NONE;
        if sample.counts {
            let (values, slope) = sample.slope(p.images.moving_size);
            let (_, score) = moments(&p, number).score(values.map(fraction));
            let gradient = flow::gradient_on_fixed_grid(&p.images.map, slope.map(fraction));
            force = flow::voxel_force(score, gradient, p.output.per_square);
        }
        output_force(&p.output, p.images.size, number, force);
    });
}

/// A voxel's local moments.
///
/// # Safety
/// The voxel is in the fixed image, whose planes hold the local means.
#[inline(always)]
unsafe fn moments(p: &FlowLocal, number: u32) -> Moments {
    // SAFETY: by the kernel's contract.
    unsafe {
        let [moving, moving_square, product] = read_uncached(p.planes, p.images.size, number);
        let [fixed, fixed_variance] = two(p.fixed, p.images.size, number);
        Moments { fixed, fixed_variance, moving, moving_square, product }
    }
}

/// The numbers of a voxel in the first two planes.
///
/// # Safety
/// The memory has them, and no other thread writes them.
#[inline(always)]
unsafe fn two(memory: DeviceSliceMut<f32>, size: [u32; 3], number: u32) -> [f32; 2] {
    let [first, second, _] = planes(size, number);
    // SAFETY: by the kernel's contract.
    unsafe { [memory.get(first), memory.get(second)] }
}

/// Sets the numbers that [`two`] reads.
///
/// # Safety
/// The memory has them, and no other thread uses them.
#[inline(always)]
unsafe fn set_two(memory: DeviceSliceMut<f32>, size: [u32; 3], number: u32, values: [f32; 2]) {
    let [first, second, _] = planes(size, number);
    // SAFETY: by the kernel's contract.
    unsafe {
        memory.set(first, values[0]);
        memory.set(second, values[1]);
    }
}

/// A stored value, or the change of one, as a fraction of the range.
#[inline(always)]
fn fraction(stored: f32) -> f32 {
    stored / bin::FULL
}
