//! The force at every voxel of a metric that is computed from the joint histogram.

use super::{Sample, each_voxel, output_force};
use crate::kernels::each_of;
use crate::math::bin;
use crate::math::flow::{self, VoxelForce};
use crate::params::FlowForce;
use cuda_std::shared;
use cuda_std::{kernel, thread};

/// Writes the force and its precision at every voxel, or adds them to what is there, as
/// [`ForceOutput::adds`](crate::params::ForceOutput::adds) says. Both are 0 outside the moving image and where a mask
/// is 0. The launch has `table_words` words of dynamic shared memory.
///
/// # Safety
/// The slices are as long as their documentation and the sizes say, each size at least 1; bins are 2 to 255.
#[kernel]
pub unsafe fn flow_force(p: FlowForce) {
    // SAFETY: the launcher gives as many words.
    let copy = unsafe { shared::dynamic::<f32>(0, p.table_words) };
    // SAFETY: `i` is below `table_words`, which both the tables and the shared memory have; the word is this thread's alone until the
    // barrier.
    each_of(p.table_words, |i| unsafe { copy.store(i, p.tables.get_cached(i as usize)) });
    thread::sync_threads();
    match p.table_words > 0 {
        // SAFETY: by this function's contract; the tables were copied whole before the barrier, and `score` stays within them.
        true => unsafe { write_forces(&p, |i| copy.load(i)) },
        // SAFETY: by this function's contract; `score` stays within the tables.
        false => unsafe { write_forces(&p, |i| p.tables.get_cached(i as usize)) },
    }
}

/// Writes or adds the force and its precision; `table` reads an element of the tables by its index.
///
/// # Safety
/// As [`flow_force`], and `table` may be called with any index of the tables.
#[inline(always)]
unsafe fn write_forces(p: &FlowForce, table: impl Fn(u32) -> f32) {
    // SAFETY: by this function's contract; interpolated values lie between stored ones.
    each_voxel(p.images.size, |voxel, number| unsafe {
        let sample = Sample::read(&p.images, voxel, number);
        let mut force = VoxelForce::NONE;
        if sample.counts {
            let (values, slope) = sample.slope(p.images.moving_size);
            let score = flow::score(&table, |f| table(p.bins * p.bins + f), p.bins, values);
            let scale = bin::scale(p.bins, bin::FULL);
            let gradient = flow::gradient_on_fixed_grid(&p.images.map, slope.map(|stored| stored * scale));
            force = flow::voxel_force(score, gradient, p.output.per_square);
        }
        output_force(&p.output, p.images.size, number, force);
    });
}
