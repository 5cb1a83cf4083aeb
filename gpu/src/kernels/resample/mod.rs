//! Resampling of a volume on another grid, through a transform.

use crate::math::interpolate::{self, Interpolator};
use crate::math::{affine, cubic};
use crate::params::Resample;
use cuda_std::kernel;
use cuda_std::thread::index_3d;

/// Writes the value at every voxel of the new grid, 0 outside the moving image. One thread per voxel, in blocks of any shape that cover
/// the grid.
///
/// # Safety
/// The slices are as long as the sizes say, each at least 1; the moving volume is padded where the interpolator is cubic.
#[kernel]
pub unsafe fn resample(p: Resample) {
    let at = index_3d();
    let [width, height, depth] = p.size;
    if at.x >= width || at.y >= height || at.z >= depth {
        return;
    }
    let how = Interpolator::of(p.interpolator);
    let position = affine::position(&p.affine, at.to_array());
    // SAFETY: both interpolators read inside the moving image or its padding only; the voxel is in the new grid, and this thread's alone.
    unsafe {
        let value = match how.is_cubic() {
            true => cubic::at(p.moving, p.moving_size, position, how),
            false => interpolate::at(|i| p.moving.get_cached(i), p.moving_size, position, how),
        };
        p.out.set((at.x + width * (at.y + height * at.z)) as usize, value);
    }
}
