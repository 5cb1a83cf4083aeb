//! Operations on a displacement field: refinement to another grid, subtraction of another field, vectors in mm, Jacobian
//! determinants, and resampling of an image.

use super::{each_voxel, read, read_uncached, write};
use crate::math::interpolate::{self, Interpolator};
use crate::math::vectors::vector;
use crate::math::{field, flow};
use crate::params::{FlowJacobian, FlowMoved, FlowRefine, FlowSubtract, FlowVectors};
use cuda_std::{kernel, warp};

/// Interpolates the field on another grid, and scales it to the voxels of that grid.
///
/// # Safety
/// The slices are as long as the sizes say, each at least 1 and at most 2^22.
#[kernel]
pub unsafe fn flow_refine(p: FlowRefine) {
    // SAFETY: by this function's contract.
    each_voxel(p.refined_size, |voxel, number| unsafe {
        let refined = flow::refined(|i| p.field.get_cached(i), p.size, voxel, p.from);
        write(p.refined, p.refined_size, number, refined);
    });
}

/// Subtracts another field.
///
/// # Safety
/// As [`flow_refine`].
#[kernel]
pub unsafe fn flow_subtract(p: FlowSubtract) {
    // SAFETY: by this function's contract.
    each_voxel(p.size, |_, number| unsafe {
        let (field, other) = (read_uncached(p.field, p.size, number), read(p.other, p.size, number));
        write(p.field, p.size, number, [0, 1, 2].map(|axis: usize| field[axis] - other[axis]));
    });
}

/// Writes the vector, in mm, by which the field and the transforms move each voxel.
///
/// # Safety
/// As [`flow_refine`].
#[kernel]
pub unsafe fn flow_vectors(p: FlowVectors) {
    // SAFETY: by this function's contract.
    each_voxel(p.size, |voxel, number| unsafe {
        let [x, y, z] = vector(&p.maps, voxel, read(p.field, p.size, number));
        let at = 3 * number as usize;
        p.vectors.set(at, x);
        p.vectors.set(at + 1, y);
        p.vectors.set(at + 2, z);
    });
}

/// Writes the Jacobian determinant at every voxel, and their range.
///
/// # Safety
/// As [`flow_refine`].
#[kernel]
pub unsafe fn flow_jacobian(p: FlowJacobian) {
    let (mut low, mut high) = (0, 0);
    // SAFETY: by this function's contract.
    each_voxel(p.size, |voxel, number| unsafe {
        let determinant = field::jacobian(|i| p.field.get_cached(i), p.size, voxel);
        p.determinants.set(number as usize, determinant);
        let place = field::ordered(determinant);
        low = if !place > low { !place } else { low };
        high = if place > high { place } else { high };
    });
    // SAFETY: all lanes of the warp come here.
    unsafe {
        let (low, high) = (warp::reduce_max(warp::ALL, low), warp::reduce_max(warp::ALL, high));
        if warp::lane_id() == 0 {
            p.range.max(0, low);
            p.range.max(1, high);
        }
    }
}

/// Resamples an image at every voxel of the field's grid, displaced by the field and then mapped; trilinear, 0 outside.
///
/// # Safety
/// As [`flow_refine`].
#[kernel]
pub unsafe fn flow_moved(p: FlowMoved) {
    // SAFETY: by this function's contract.
    each_voxel(p.size, |voxel, number| unsafe {
        let position = flow::position(&p.map, voxel, read(p.field, p.size, number));
        let value = interpolate::at(|i| p.image.get_cached(i), p.image_size, position, Interpolator::Linear);
        p.moved.set(number as usize, value);
    });
}
