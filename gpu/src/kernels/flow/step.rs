//! A step: the update field and its largest displacement, and the field after the step.

use super::{each_voxel, own, write};
use crate::kernels::thread_number;
use crate::math::field;
use crate::math::flow::{self, Pull};
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
    // SAFETY: as this function's.
    each_voxel(p.size, |_, number| unsafe {
        let force = own(p.step, p.size, number);
        let step = flow::update(Pull { force, precision: p.precision.get_cached(number as usize) }, p.prior);
        write(p.step, p.size, number, step);
        // Floats that are not negative compare as their bits.
        let square = field::dot(step, step).to_bits();
        largest = if square > largest { square } else { largest };
    });
    // SAFETY: whole warps.
    unsafe {
        let largest = warp::reduce_max(warp::ALL, largest);
        if warp::lane_id() == 0 {
            p.largest.max(0, largest);
        }
    }
}

/// Replaces the update field by the field after the step, whose length is limited, or a part of that, and makes place for the next step's
/// largest displacement.
///
/// # Safety
/// As [`flow_update`]; no size is above 2^22.
#[kernel]
pub unsafe fn flow_compose(p: FlowStep) {
    // SAFETY: as this function's.
    let share = p.share * flow::limited(f32::from_bits(unsafe { p.largest.get(0) }), p.limit);
    if block_idx_x() == 0 && thread_number() == 0 {
        // SAFETY: one thread's element.
        unsafe { p.next_largest.set(0, 0) };
    }
    // SAFETY: as this function's.
    each_voxel(p.size, |voxel, number| unsafe {
        let step = own(p.step, p.size, number).map(|step| step * share);
        let moved = flow::composed(|i| p.field.get_cached(i), p.size, voxel, step);
        write(p.step, p.size, number, moved);
    });
}
