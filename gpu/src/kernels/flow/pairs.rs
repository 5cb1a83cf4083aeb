//! The joint index of every voxel, for [`from_pairs`](crate::kernels::histogram::from_pairs) to count.

use super::{Sample, each_voxel};
use crate::math::flow;
use crate::params::FlowPairs;
use cuda_std::kernel;

/// The joint index of a voxel that is not counted because it is masked or outside the moving image. It is larger than
/// that of any pair of bins.
pub const OUTSIDE: u16 = u16::MAX;

/// Writes the joint index of every voxel.
///
/// # Safety
/// The slices are as long as their documentation and the sizes say, each size at least 1; bins are 2 to 255.
#[kernel]
pub unsafe fn flow_pairs(p: FlowPairs) {
    // SAFETY: by this function's contract; interpolated values lie between stored ones.
    each_voxel(p.images.size, |voxel, number| unsafe {
        let sample = Sample::read(&p.images, voxel, number);
        let pair = if sample.counts { flow::pair(sample.values(), p.bins) as u16 } else { OUTSIDE };
        p.pairs.set(number as usize, pair);
    });
}
