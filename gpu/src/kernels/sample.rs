//! Samples of the moving image at voxels of the fixed one.

use crate::math::interpolate::{self, Interpolator};
use crate::math::{affine, bin};
use crate::params::Images;

/// What [`pair`] returns for a voxel that is not counted.
pub const NONE: u32 = u32::MAX;

/// The joint index of a voxel of the fixed image, or [`NONE`] outside the moving image or the mask. `row` is y plus the height times z.
///
/// # Safety
/// The voxel is in the fixed image, and the slices are as long as the sizes say.
#[inline(always)]
pub unsafe fn pair(images: &Images, x: u32, row: u32) -> u32 {
    let [width, height, _] = images.fixed_size;
    // SAFETY: as this function's.
    unsafe { core::hint::assert_unchecked(height > 0) };
    let fixed = u32::from(unsafe { images.fixed.get_cached((x + width * row) as usize) });
    let position = affine::position(&images.transform, [x, row % height, row / height]);
    let inside = interpolate::inside(position, interpolate::last(images.moving_size)) & (fixed < images.bins[0]);
    // SAFETY: a place is safe to read whether or not the position lies inside.
    let value = unsafe {
        if images.interpolator == Interpolator::Nearest as u32 {
            sample::<Nearest>(images, inside, position)
        } else {
            sample::<Linear>(images, inside, position)
        }
    };
    // SAFETY: what is interpolated from stored values is between them.
    let pair = unsafe { bin::pair(fixed, images.bins[0], value, bin::scale(images.bins[1]), 0) };
    if inside { pair } else { NONE }
}

/// [`pair`] of a voxel's number in the fixed image, and [`NONE`] beyond the last.
///
/// # Safety
/// The slices are as long as the sizes say.
#[inline(always)]
pub unsafe fn pair_if_there(images: &Images, voxel: u32) -> u32 {
    let [width, height, depth] = images.fixed_size;
    // SAFETY: as this function's; without it a division by zero would bring a panic into the PTX.
    unsafe { core::hint::assert_unchecked(width > 0) };
    // SAFETY: as this function's.
    if voxel < width * height * depth { unsafe { pair(images, voxel % width, voxel / width) } } else { NONE }
}

#[inline(always)]
unsafe fn sample<S: Sampler>(images: &Images, inside: bool, position: [f32; 3]) -> f32 {
    let place = S::place(inside, position, images.moving_size);
    // SAFETY: as above.
    S::value(unsafe { S::load(images, place) }, place)
}

/// An interpolator in two steps, with the loads between them.
pub trait Sampler {
    /// Where to read, and with what weights.
    type Place: Copy + Default;
    /// What was read.
    type Words: Copy + Default;

    /// The place of a position, or one that is safe to read if it does not lie inside.
    fn place(inside: bool, position: [f32; 3], size: [u32; 3]) -> Self::Place;

    /// # Safety
    /// The place is in the moving image.
    unsafe fn load(images: &Images, place: Self::Place) -> Self::Words;

    /// The stored value.
    fn value(words: Self::Words, place: Self::Place) -> f32;

    /// Calls `add` with each joint index, less `first`, with which a sample counts, and how much.
    ///
    /// # Safety
    /// `words` are those of the place.
    #[inline(always)]
    unsafe fn each(
        images: &Images,
        fixed: u32,
        words: Self::Words,
        place: Self::Place,
        first: u32,
        add: impl Fn(u32, u32),
    ) {
        let scale = bin::scale(images.bins[1]);
        // SAFETY: what is interpolated from stored values is between them.
        add(unsafe { bin::pair(fixed, images.bins[0], Self::value(words, place), scale, first) }, 1);
    }
}

/// Trilinear.
pub struct Linear;

impl Sampler for Linear {
    type Place = interpolate::Place;
    type Words = [u32; 4];

    #[inline(always)]
    fn place(inside: bool, position: [f32; 3], size: [u32; 3]) -> Self::Place {
        interpolate::place_if(inside, position, size)
    }

    #[inline(always)]
    unsafe fn load(images: &Images, place: Self::Place) -> Self::Words {
        let (stride_y, stride_z) = (images.moving_size[0], images.moving_size[0] * images.moving_size[1]);
        // SAFETY: within the image and its padding.
        let at = |offset: u32| unsafe { images.moving.get_cached((place.index + offset) as usize) };
        [at(0), at(stride_y), at(stride_z), at(stride_y + stride_z)]
    }

    #[inline(always)]
    /// The stored value.
    fn value(words: Self::Words, place: Self::Place) -> f32 {
        interpolate::linear(words, place.fraction)
    }
}

/// The nearest voxel.
pub struct Nearest;

impl Sampler for Nearest {
    type Place = u32;
    type Words = u32;

    #[inline(always)]
    fn place(inside: bool, position: [f32; 3], size: [u32; 3]) -> u32 {
        // SAFETY: inside.
        if inside { unsafe { interpolate::nearest(position, size) } } else { 0 }
    }

    #[inline(always)]
    unsafe fn load(images: &Images, place: u32) -> u32 {
        // SAFETY: as this function's.
        unsafe { images.moving.get_cached(place as usize) }
    }

    #[inline(always)]
    /// The stored value.
    fn value(words: u32, _: u32) -> f32 {
        (words & 0xFFFF) as f32
    }
}
