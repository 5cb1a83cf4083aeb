//! A step of the registration: computes the update field and its largest displacement, and composes the field with it.

use super::{each_voxel, read_uncached, write};
use crate::kernels::thread_number;
use crate::math::field;
use crate::math::flow::{self, VoxelForce};
use crate::params::FlowStep;
use cuda_std::thread::block_idx_x;
use cuda_std::{kernel, warp};

/// Replaces the sums of forces by the update field, and finds its largest displacement.
///
/// # Safety
/// The slices are as long as their documentation and the size say.
#[kernel]
pub unsafe fn flow_update(p: FlowStep) {
    let mut largest = 0;
    // SAFETY: by this function's contract.
    each_voxel(p.size, |_, number| unsafe {
        let force = read_uncached(p.step, p.size, number);
        let step = flow::update(VoxelForce { force, precision: p.precision.get_cached(number as usize) }, p.prior);
        write(p.step, p.size, number, step);
        // Floats that are not negative compare like their bits as integers.
        let square = field::dot(step, step).to_bits();
        largest = if square > largest { square } else { largest };
    });
    // SAFETY: all lanes of the warp come here.
    unsafe {
        let largest = warp::reduce_max(warp::ALL, largest);
        if warp::lane_id() == 0 {
            p.largest.max(0, largest);
        }
    }
}

/// Replaces the update field by the field after the step. The update field is scaled down so that no voxel moves by
/// more than `limit`, and then by `share`. Also sets the next step's largest displacement to 0.
///
/// # Safety
/// As [`flow_update`]; no size is above 2^22.
#[kernel]
pub unsafe fn flow_compose(p: FlowStep) {
    // SAFETY: by this function's contract.
    let share = p.share * flow::limited(f32::from_bits(unsafe { p.largest.get(0) }), p.limit);
    if block_idx_x() == 0 && thread_number() == 0 {
        // SAFETY: only this thread writes the element.
        unsafe { p.next_largest.set(0, 0) };
    }
    // SAFETY: by this function's contract.
    each_voxel(p.size, |voxel, number| unsafe {
        let step = read_uncached(p.step, p.size, number).map(|step| step * share);
        let moved = flow::composed(|i| p.field.get_cached(i), p.size, voxel, step);
        write(p.step, p.size, number, moved);
    });
}
