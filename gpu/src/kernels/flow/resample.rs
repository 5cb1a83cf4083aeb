//! The moving image, resampled through a field. In symmetric registration it becomes the fixed image of the other
//! field.

use super::{each_voxel, read};
use crate::kernels::sample::{FineLinear, Sampler};
use crate::math::{flow, interpolate};
use crate::params::FlowResample;
use cuda_std::kernel;

/// Writes the moving image at the position to which the field and the map take each voxel, and whether that position is
/// inside the moving image and its mask.
///
/// # Safety
/// The slices are as long as their documentation and the sizes say, each size at least 1. The fixed image and its mask
/// are not read.
#[kernel]
pub unsafe fn flow_resample(p: FlowResample) {
    // SAFETY: by this function's contract; a place is safe to read whether or not the position lies inside, and interpolated values lie between
    // stored ones.
    each_voxel(p.images.size, |voxel, number| unsafe {
        let position = flow::position(&p.images.map, voxel, read(p.images.field, p.images.size, number));
        let inside = interpolate::inside(position, interpolate::last(p.images.moving_size));
        let place = FineLinear::place(inside, position, p.images.moving_size);
        let words = FineLinear::load_from(p.images.moving, p.images.moving_size, place);
        let resampled = if inside { flow::rounded_to_stored(interpolate::linear(words, place.fraction)) } else { 0 };
        let nearest = || interpolate::nearest(position, p.images.moving_size) as usize;
        let kept = inside && (p.images.masked[1] == 0 || p.images.moving_mask.get_cached(nearest()) != 0);
        p.resampled.set(number as usize, resampled);
        p.kept.set(number as usize, u8::from(kept));
    });
}
