//! Interpolators of the moving image, which kernels of several families share.

use crate::math::interpolate::{self, Interpolator};
use crate::math::{bin, cubic, eight_bit};
use crate::params::Images;
use cuda_std::global::DeviceSlice;

/// An interpolator in steps: compute the place, load, and compute the value. A kernel can thus start the loads of
/// several samples before it needs the first value.
pub trait Sampler {
    /// The value of the top of the range.
    const FULL: f32;
    /// Whether a single sample has enough loads to hide their latency. If not, kernels load several samples together.
    const MANY_LOADS: bool = false;
    /// Whether a value always lies between the lowest and the highest of the voxels around it.
    const WITHIN: bool = true;
    /// Where to read, and the weights.
    type Place: Copy + Default;
    /// The words read from the moving image.
    type Words: Copy + Default;

    /// Returns the place of a position, or another place that is safe to read if the position is not inside.
    fn place(inside: bool, position: [f32; 3], size: [u32; 3]) -> Self::Place;

    /// Reads the moving image at a place.
    ///
    /// # Safety
    /// The place is in the moving image.
    unsafe fn load(images: &Images, place: Self::Place) -> Self::Words;

    /// Returns the value, 0 to `FULL`.
    fn value(words: Self::Words, place: Self::Place) -> f32;

    /// Calls `add` with each joint index, minus `first`, at which a sample is counted, and with its weight there.
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
        let scale = bin::scale(images.bins[1], Self::FULL);
        // SAFETY: interpolated values lie between stored ones, from 0 to `FULL`, for which the scale is made.
        add(unsafe { bin::pair(fixed, images.bins[0], Self::value(words, place), scale, first) }, 1);
    }
}

/// Trilinear interpolation, from words of 8-bit levels.
pub struct Linear;

impl Sampler for Linear {
    const FULL: f32 = eight_bit::FULL;
    type Place = eight_bit::Place;
    type Words = [u32; 2];

    #[inline(always)]
    fn place(inside: bool, position: [f32; 3], size: [u32; 3]) -> Self::Place {
        // SAFETY: inside; on a GPU any value is safe.
        interpolate::place_if(inside, || unsafe { eight_bit::place(position, size) })
    }

    #[inline(always)]
    unsafe fn load(images: &Images, place: Self::Place) -> Self::Words {
        let plane = images.moving_size[0] * images.moving_size[1];
        // SAFETY: within the image and its padding.
        unsafe {
            [images.moving.get_cached(place.index as usize), images.moving.get_cached((place.index + plane) as usize)]
        }
    }

    #[inline(always)]
    fn value(words: Self::Words, place: Self::Place) -> f32 {
        eight_bit::value(words, place)
    }
}

/// The nearest voxel, from words of 8-bit levels.
pub struct Nearest;

impl Sampler for Nearest {
    const FULL: f32 = bin::FULL;
    type Place = u32;
    type Words = u32;

    #[inline(always)]
    fn place(inside: bool, position: [f32; 3], size: [u32; 3]) -> u32 {
        // SAFETY: inside.
        if inside { unsafe { interpolate::nearest(position, size) } } else { 0 }
    }

    #[inline(always)]
    unsafe fn load(images: &Images, place: u32) -> u32 {
        // SAFETY: by this function's contract.
        unsafe { images.moving.get_cached(place as usize) }
    }

    #[inline(always)]
    fn value(words: u32, _: u32) -> f32 {
        (257 * (words & 0xFF)) as f32
    }
}

/// Trilinear interpolation, from pairs of 16-bit values.
pub struct FineLinear;

impl Sampler for FineLinear {
    const FULL: f32 = bin::FULL;
    type Place = interpolate::Place;
    type Words = [u32; 4];

    #[inline(always)]
    fn place(inside: bool, position: [f32; 3], size: [u32; 3]) -> Self::Place {
        // SAFETY: inside; on a GPU any value is safe.
        interpolate::place_if(inside, || unsafe { interpolate::place(position, size) })
    }

    #[inline(always)]
    unsafe fn load(images: &Images, place: Self::Place) -> Self::Words {
        // SAFETY: by this function's contract.
        unsafe { Self::load_from(images.moving, images.moving_size, place) }
    }

    #[inline(always)]
    fn value(words: Self::Words, place: Self::Place) -> f32 {
        interpolate::linear(words, place.fraction)
    }
}

impl FineLinear {
    /// [`Sampler::load`] for kernels whose parameters have no [`Images`].
    ///
    /// # Safety
    /// The place is in the moving image of this size.
    #[inline(always)]
    pub unsafe fn load_from(moving: DeviceSlice<u32>, size: [u32; 3], place: interpolate::Place) -> [u32; 4] {
        let (stride_y, stride_z) = (size[0], size[0] * size[1]);
        // SAFETY: within the image and its padding.
        let at = |offset: u32| unsafe { moving.get_cached((place.index + offset) as usize) };
        [at(0), at(stride_y), at(stride_z), at(stride_y + stride_z)]
    }
}

/// The nearest voxel, from pairs of 16-bit values.
pub struct FineNearest;

impl Sampler for FineNearest {
    const FULL: f32 = bin::FULL;
    type Place = u32;
    type Words = u32;

    #[inline(always)]
    fn place(inside: bool, position: [f32; 3], size: [u32; 3]) -> u32 {
        Nearest::place(inside, position, size)
    }

    #[inline(always)]
    unsafe fn load(images: &Images, place: u32) -> u32 {
        // SAFETY: by this function's contract.
        unsafe { Nearest::load(images, place) }
    }

    #[inline(always)]
    fn value(words: u32, _: u32) -> f32 {
        (words & 0xFFFF) as f32
    }
}

/// Catmull-Rom or B-spline interpolation, from a padded volume.
pub struct Cubic;

impl Sampler for Cubic {
    const FULL: f32 = bin::FULL;
    const MANY_LOADS: bool = true;
    const WITHIN: bool = false;
    type Place = interpolate::Place;
    /// The weighted sums along y and z, and the weights along x.
    type Words = ([f32; 4], cubic::Weights);

    #[inline(always)]
    fn place(inside: bool, position: [f32; 3], size: [u32; 3]) -> Self::Place {
        // SAFETY: inside; on a GPU any value is safe.
        interpolate::place_if(inside, || unsafe { interpolate::place(position, cubic::padded(size)) })
    }

    #[inline(always)]
    unsafe fn load(images: &Images, place: Self::Place) -> Self::Words {
        let [x, y, z] = cubic::weights(Interpolator::of(images.interpolator), place.fraction);
        // SAFETY: three more voxels along every axis are in the padding.
        (unsafe { cubic::columns(images.cubic, place.index, cubic::padded(images.moving_size), y, z) }, x)
    }

    #[inline(always)]
    fn value((columns, x): Self::Words, _: Self::Place) -> f32 {
        cubic::clamp(cubic::mix(columns, x))
    }
}
