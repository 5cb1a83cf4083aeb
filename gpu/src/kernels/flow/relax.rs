//! Relaxation of a field where it changes volumes beyond limits: alternately [`flow_unusual`] and [`flow_relax`].

use super::{each_voxel, read, write};
use crate::math::{field, flow};
use crate::params::FlowRelax;
use cuda_std::kernel;

/// Counts the voxels whose Jacobian is unusual, and marks those around.
///
/// # Safety
/// The slices are as long as their documentation and the size say, each at least 1 and at most 2^22.
#[kernel]
pub unsafe fn flow_unusual(p: FlowRelax) {
    // SAFETY: as this function's; what is around a voxel stays in the grid.
    each_voxel(p.size, |voxel, _| unsafe {
        if flow::unusual(field::jacobian(|i| p.field.get_cached(i), p.size, voxel), p.limits) {
            p.unusual.add(0, 1);
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

/// Writes the field, relaxed at marked voxels.
///
/// # Safety
/// As [`flow_unusual`].
#[kernel]
pub unsafe fn flow_relax(p: FlowRelax) {
    // SAFETY: as this function's.
    each_voxel(p.size, |voxel, number| unsafe {
        let marked = p.marks.get(number as usize) != 0;
        let relaxed = match marked {
            true => field::relaxed(|i| p.field.get_cached(i), p.size, voxel),
            false => read(p.field, p.size, number),
        };
        write(p.relaxed, p.size, number, relaxed);
    });
}
