//! Relaxation of a field where its Jacobian determinant is outside the limits. [`flow_mark_outside_limits`] and
//! [`flow_relax`] run in turn.

use super::{each_voxel, read, write};
use crate::math::{field, flow};
use crate::params::FlowRelax;
use cuda_std::kernel;

/// Counts the voxels whose Jacobian determinant is outside the limits, and marks them and the voxels around them.
///
/// # Safety
/// The slices are as long as their documentation and the size say, each at least 1 and at most 2^22.
#[kernel]
pub unsafe fn flow_mark_outside_limits(p: FlowRelax) {
    // SAFETY: by this function's contract; `around` is clamped to the grid.
    each_voxel(p.size, |voxel, _| unsafe {
        if flow::outside_limits(field::jacobian(|i| p.field.get_cached(i), p.size, voxel), p.limits) {
            p.outside_limits.add(0, 1);
            let [xs, ys, zs] = flow::around(voxel, p.size);
            for z in zs[0]..zs[1] {
                for y in ys[0]..ys[1] {
                    for x in xs[0]..xs[1] {
                        p.marks.max((x + p.size[0] * (y + p.size[1] * z)) as usize, 1);
                    }
                }
            }
        }
    });
}

/// Writes the field, smoothed at marked voxels ([`field::relaxed`]) and unchanged elsewhere.
///
/// # Safety
/// As [`flow_mark_outside_limits`].
#[kernel]
pub unsafe fn flow_relax(p: FlowRelax) {
    // SAFETY: by this function's contract.
    each_voxel(p.size, |voxel, number| unsafe {
        let marked = p.marks.get(number as usize) != 0;
        let relaxed = match marked {
            true => field::relaxed(|i| p.field.get_cached(i), p.size, voxel),
            false => read(p.field, p.size, number),
        };
        write(p.relaxed, p.size, number, relaxed);
    });
}
