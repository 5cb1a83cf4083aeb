//! Samples of the moving image at voxels of the fixed one.

use crate::math::interpolate::{self, Interpolator};
use crate::math::{affine, bin, cubic, linear};
use crate::params::Images;
use cuda_std::global::DeviceSlice;

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

/// The moving image's bin at a position, or any where it does not lie inside.
#[inline(always)]
unsafe fn bin_of<S: Sampler>(images: &Images, inside: bool, position: [f32; 3]) -> u32 {
    let place = S::place(inside, position, images.moving_size);
    // SAFETY: as above; values are between 0 and `FULL`.
    unsafe { bin::of(S::value(S::load(images, place), place), bin::scale(images.bins[1], S::FULL)) }
}

/// An interpolator in two steps, with the loads between them.
pub trait Sampler {
    /// The value of the top of the range.
    const FULL: f32;
    /// Whether the loads of one sample suffice to wait for memory; else several samples are loaded together.
    const MANY_LOADS: bool = false;
    /// Where to read, and with what weights.
    type Place: Copy + Default;
    /// What was read.
    type Words: Copy + Default;

    /// The place of a position, or one that is safe to read if it does not lie inside.
    fn place(inside: bool, position: [f32; 3], size: [u32; 3]) -> Self::Place;

    /// # Safety
    /// The place is in the moving image.
    unsafe fn load(images: &Images, place: Self::Place) -> Self::Words;

    /// The value, 0 to `FULL`.
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
        let scale = bin::scale(images.bins[1], Self::FULL);
        // SAFETY: what is interpolated from stored values is between them.
        add(unsafe { bin::pair(fixed, images.bins[0], Self::value(words, place), scale, first) }, 1);
    }
}

/// Trilinear, from words of 8-bit levels.
pub struct Linear;

impl Sampler for Linear {
    const FULL: f32 = linear::FULL;
    type Place = linear::Place;
    type Words = [u32; 2];

    #[inline(always)]
    fn place(inside: bool, position: [f32; 3], size: [u32; 3]) -> Self::Place {
        // SAFETY: inside; on a GPU any value is safe.
        interpolate::place_if(inside, || unsafe { linear::place(position, size) })
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
        linear::value(words, place)
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
        // SAFETY: as this function's.
        unsafe { images.moving.get_cached(place as usize) }
    }

    #[inline(always)]
    fn value(words: u32, _: u32) -> f32 {
        (257 * (words & 0xFF)) as f32
    }
}

/// Trilinear, from pairs of 16-bit values.
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
        // SAFETY: as this function's.
        unsafe { Self::load_from(images.moving, images.moving_size, place) }
    }

    #[inline(always)]
    fn value(words: Self::Words, place: Self::Place) -> f32 {
        interpolate::linear(words, place.fraction)
    }
}

impl FineLinear {
    /// [`Sampler::load`] from pairs alone.
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
        // SAFETY: as this function's.
        unsafe { Nearest::load(images, place) }
    }

    #[inline(always)]
    fn value(words: u32, _: u32) -> f32 {
        (words & 0xFFFF) as f32
    }
}

/// Catmull-Rom or B-spline, from a padded volume.
pub struct Cubic;

impl Sampler for Cubic {
    const FULL: f32 = bin::FULL;
    const MANY_LOADS: bool = true;
    type Place = interpolate::Place;
    /// Mixed along y and z, and the weights along x.
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
