//! What several forces add up to.

use super::{each_voxel, own, read, write};
use crate::math::flow::added;
use crate::params::FlowAdd;
use cuda_std::kernel;

/// Adds a multiple of forces and their precision.
///
/// # Safety
/// The slices are as long as their documentation and the size say.
#[kernel]
pub unsafe fn flow_add(p: FlowAdd) {
    // SAFETY: as this function's.
    each_voxel(p.size, |_, number| unsafe {
        let ([x, y, z], force) = (own(p.force_sum, p.size, number), read(p.force, p.size, number));
        let add = |sum: f32, pull: f32| added(sum, pull, p.weight);
        write(p.force_sum, p.size, number, [add(x, force[0]), add(y, force[1]), add(z, force[2])]);
        let number = number as usize;
        p.precision_sum.set(number, add(p.precision_sum.get(number), p.precision.get_cached(number)));
    });
}
