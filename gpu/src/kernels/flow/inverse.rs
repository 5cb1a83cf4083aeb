//! The inverse of a field on another grid, and its error.

use super::{add, each_voxel, read, write};
use crate::math::flow;
use crate::params::FlowInverse;
use cuda_std::{kernel, warp};

/// Writes the inverse field at every voxel of the other grid.
///
/// # Safety
/// The slices are as long as the sizes say, each at least 1 and at most 2^22.
#[kernel]
pub unsafe fn flow_inverse(p: FlowInverse) {
    // SAFETY: by this function's contract.
    each_voxel(p.inverse_size, |voxel, number| unsafe {
        let to = flow::through(&p.back, voxel.map(|n| n as f32));
        let way = flow::inverse_displacement(|i| p.field.get_cached(i), p.size, to);
        write(p.inverse, p.inverse_size, number, way);
    });
}

/// Adds up the error of the inverse over all voxels that the field and the map take inside the other grid.
///
/// # Safety
/// As [`flow_inverse`], which has run.
#[kernel]
pub unsafe fn flow_inverse_error(p: FlowInverse) {
    let inverse = p.inverse.as_slice();
    let (mut sum, mut count, mut largest) = (0, 0, 0);
    // SAFETY: by this function's contract.
    each_voxel(p.size, |voxel, number| unsafe {
        let displacement = read(p.field, p.size, number);
        let maps = [&p.there, &p.back];
        let error =
            flow::there_and_back(|i| inverse.get_cached(i), p.inverse_size, maps, voxel, displacement, p.spacing);
        if let Some(error) = error {
            sum += u64::from(flow::fixed_mm(error));
            count += 1;
            let bits = error.to_bits();
            largest = if bits > largest { bits } else { largest };
        }
    });
    // SAFETY: all lanes of the warp come here.
    unsafe {
        add(p.totals, [sum, count]);
        let largest = warp::reduce_max(warp::ALL, largest);
        if warp::lane_id() == 0 {
            p.largest.max(0, largest);
        }
    }
}
