//! Local correlation: what is smoothed to local means, and what follows from these. Kernels between which a Gaussian window smooths the
//! three planes: [`flow_local_fixed`], then [`flow_local_variance`], once; [`flow_local_moving`], then [`flow_local_agreement`], and
//! [`flow_local_force`] in place of the means, for a field.

use super::{Sample, each_voxel, own, write};
use crate::kernels::ordered::fold;
use crate::math::flow::{self, Moments};
use crate::params::FlowLocal;
use cuda_std::{kernel, warp};

/// f, its square and 0.
///
/// # Safety
/// The slices are as long as their documentation and the sizes say, each size at least 1; so for all kernels here.
#[kernel]
pub unsafe fn flow_local_fixed(p: FlowLocal) {
    // SAFETY: as this function's.
    each_voxel(p.images.size, |_, number| unsafe {
        let value = flow::fraction(f32::from(p.images.fixed.get_cached(number as usize)));
        write(p.planes, p.images.size, number, [value, value * value, 0.0]);
    });
}

/// The fixed image's local mean and variance from the means.
///
/// # Safety
/// As [`flow_local_fixed`].
#[kernel]
pub unsafe fn flow_local_variance(p: FlowLocal) {
    let [width, height, depth] = p.images.size;
    // SAFETY: as this function's.
    each_voxel(p.images.size, |_, number| unsafe {
        let [mean, square, _] = own(p.planes, p.images.size, number);
        p.fixed.set(number as usize, mean);
        p.fixed.set((number + width * height * depth) as usize, flow::variance(mean, square));
    });
}

/// m, its square and f m; outside the moving image m is 0.
///
/// # Safety
/// As [`flow_local_fixed`].
#[kernel]
pub unsafe fn flow_local_moving(p: FlowLocal) {
    // SAFETY: as this function's.
    each_voxel(p.images.size, |voxel, number| unsafe {
        let sample = Sample::read(&p.images, voxel, number);
        let [fixed, moving] = sample.values();
        let moving = if sample.inside { flow::fraction(moving) } else { 0.0 };
        write(p.planes, p.images.size, number, [moving, moving * moving, flow::fraction(fixed) * moving]);
    });
}

/// Adds up the squared correlation over the voxels inside.
///
/// # Safety
/// As [`flow_local_fixed`].
#[kernel]
pub unsafe fn flow_local_agreement(p: FlowLocal) {
    let (mut sum, mut count) = (0, 0);
    // SAFETY: as this function's.
    each_voxel(p.images.size, |voxel, number| unsafe {
        if Sample::read(&p.images, voxel, number).inside {
            // The correlation does not depend on the voxel's own intensities.
            let (correlation, _) = moments(&p, number).score([0.0; 2]);
            sum += u64::from(flow::fixed_point(correlation, flow::FRACTION));
            count += 1;
        }
    });
    // SAFETY: whole warps.
    unsafe { add(p.totals, [sum, count]) };
}

/// The force at every voxel, in the place of the means.
///
/// # Safety
/// As [`flow_local_fixed`].
#[kernel]
pub unsafe fn flow_local_force(p: FlowLocal) {
    // SAFETY: as this function's.
    each_voxel(p.images.size, |voxel, number| unsafe {
        let sample = Sample::read(&p.images, voxel, number);
        let mut force = [0.0; 3];
        if sample.inside {
            let (values, slope) = sample.slope(p.images.moving_size);
            let (_, score) = moments(&p, number).score(values.map(flow::fraction));
            let gradient = flow::pulled(&p.images.map, slope).map(flow::fraction);
            force = flow::pull(score, gradient, p.per_square, p.prior);
        }
        write(p.planes, p.images.size, number, force);
    });
}

/// A voxel's local moments.
#[inline(always)]
unsafe fn moments(p: &FlowLocal, number: u32) -> Moments {
    let [width, height, depth] = p.images.size;
    // SAFETY: as the kernels'.
    unsafe {
        let [moving, moving_square, product] = own(p.planes, p.images.size, number);
        let fixed = p.fixed.get(number as usize);
        let fixed_variance = p.fixed.get((number + width * height * depth) as usize);
        Moments { fixed, fixed_variance, moving, moving_square, product }
    }
}

/// Adds the lanes' sum and count to the totals.
///
/// # Safety
/// Whole warps call it.
#[inline(always)]
pub(super) unsafe fn add(totals: cuda_std::global::DeviceSliceMut<u64>, [sum, count]: [u64; 2]) {
    // SAFETY: as this function's.
    unsafe {
        let (sum, count) = (fold(sum), fold(count));
        if warp::lane_id() == 0 && count > 0 {
            totals.add(0, sum);
            totals.add(1, count);
        }
    }
}
