//! The joint index of a voxel, for methods that process one voxel at a time.

use crate::kernels::sample::{Cubic, FineLinear, FineNearest, Linear, Nearest, Sampler};
use crate::math::interpolate::{self, Interpolator};
use crate::math::{affine, bin};
use crate::params::Images;

/// The joint index of a voxel that is not counted.
pub const NONE: u32 = u32::MAX;

/// Returns the joint index of a voxel of the fixed image, or [`NONE`] outside the moving image or the mask. `row` is y
/// plus the height times z.
///
/// # Safety
/// The voxel is in the fixed image, and the slices are as long as the sizes say.
#[inline(always)]
pub unsafe fn pair(images: &Images, x: u32, row: u32) -> u32 {
    let [width, height, _] = images.fixed_size;
    // SAFETY: there is a voxel; without this line a division by zero would bring a panic into the PTX.
    unsafe { core::hint::assert_unchecked(height > 0) };
    // SAFETY: the caller says that the voxel is in the fixed image.
    let fixed = u32::from(unsafe { images.fixed.get_cached((x + width * row) as usize) });
    let position = affine::position(&images.transform, [x, row % height, row / height]);
    let inside = interpolate::inside(position, interpolate::last(images.moving_size)) & (fixed < images.bins[0]);
    // SAFETY: a place is safe to read whether or not the position lies inside.
    let moving = unsafe {
        match (Interpolator::of(images.interpolator), images.fine > 0) {
            (Interpolator::Nearest, false) => bin_of::<Nearest>(images, inside, position),
            (Interpolator::Linear, false) => bin_of::<Linear>(images, inside, position),
            (Interpolator::Nearest, true) => bin_of::<FineNearest>(images, inside, position),
            (Interpolator::Linear | Interpolator::PartialVolume, _) => bin_of::<FineLinear>(images, inside, position),
            (Interpolator::CatmullRom | Interpolator::BSpline, _) => bin_of::<Cubic>(images, inside, position),
        }
    };
    if inside { fixed + images.bins[0] * moving } else { NONE }
}

/// Returns [`pair`] of the voxel with this index in the fixed image, and [`NONE`] beyond the last voxel.
///
/// # Safety
/// The slices are as long as the sizes say.
#[inline(always)]
pub unsafe fn pair_or_none(images: &Images, voxel: u32) -> u32 {
    let [width, height, depth] = images.fixed_size;
    // SAFETY: sizes are at least 1; without this line a division by zero would bring a panic into the PTX.
    unsafe { core::hint::assert_unchecked(width > 0) };
    // SAFETY: by this function's contract.
    if voxel < width * height * depth { unsafe { pair(images, voxel % width, voxel / width) } } else { NONE }
}

/// Returns the moving image's bin at a position, or any bin if the position is not inside.
///
/// # Safety
/// The moving image is as long as its size says.
#[inline(always)]
unsafe fn bin_of<S: Sampler>(images: &Images, inside: bool, position: [f32; 3]) -> u32 {
    let place = S::place(inside, position, images.moving_size);
    // SAFETY: a place is safe to read whether or not the position lies inside; values are between 0 and `FULL`.
    unsafe { bin::of(S::value(S::load(images, place), place), bin::scale(images.bins[1], S::FULL)) }
}
