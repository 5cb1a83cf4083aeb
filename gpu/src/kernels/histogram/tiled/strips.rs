//! The moving image in [`math::strips`](crate::math::strips), and its samplers. In this layout, a load of a warp for a
//! brick touches four cache lines, not seven. This matters because, with random images, the rate of tag lookups of the
//! L1 cache is the bottleneck.

use crate::kernels::sample::{self, Sampler};
use crate::math::{bin, eight_bit, interpolate, strips};
use crate::params::{Images, Tiled};
use cuda_std::kernel;
use cuda_std::thread::index_1d;

/// Arranges the words of the moving image in strips, and adds one more plane, which is read with a weight of 0. One
/// thread per word, in thread blocks of any size.
///
/// # Safety
/// The slices are as long as the sizes say, with the moving image's padding; no size is 0.
#[kernel]
pub unsafe fn lay_strips(p: Tiled) {
    let (at, size) = (index_1d(), p.images.moving_size);
    if at >= strips::plane(size) * (size[2] + 1) {
        return;
    }
    // SAFETY: by this function's contract.
    let [x, y, z] = unsafe { strips::voxel(at, size) };
    // SAFETY: in the image or, for the last plane, in its padding.
    let word = || unsafe { p.images.moving.get_cached((x + size[0] * (y + size[1] * z)) as usize) };
    // SAFETY: this thread's.
    unsafe { p.strips.set(at as usize, if x < size[0] { word() } else { 0 }) };
}

/// Trilinear interpolation.
pub struct Linear;

impl Sampler for Linear {
    const FULL: f32 = eight_bit::FULL;
    type Place = eight_bit::Place;
    type Words = [u32; 2];

    #[inline(always)]
    fn place(inside: bool, position: [f32; 3], size: [u32; 3]) -> Self::Place {
        // SAFETY: inside; on a GPU any value is safe.
        interpolate::place_if(inside, || unsafe { eight_bit::place_in_strips(position, size) })
    }

    #[inline(always)]
    unsafe fn load(images: &Images, place: Self::Place) -> Self::Words {
        let (index, plane) = (place.index as usize, strips::plane(images.moving_size) as usize);
        // SAFETY: within the image and the plane after it.
        unsafe { [images.moving.get_cached(index), images.moving.get_cached(index + plane)] }
    }

    #[inline(always)]
    fn value(words: Self::Words, place: Self::Place) -> f32 {
        eight_bit::value(words, place)
    }
}

/// The nearest voxel.
pub struct Nearest;

impl Sampler for Nearest {
    const FULL: f32 = bin::FULL;
    type Place = u32;
    type Words = u32;

    #[inline(always)]
    fn place(inside: bool, position: [f32; 3], size: [u32; 3]) -> u32 {
        // SAFETY: inside.
        if inside { strips::index(unsafe { interpolate::nearest_voxel(position) }, size) } else { 0 }
    }

    #[inline(always)]
    unsafe fn load(images: &Images, place: u32) -> u32 {
        // SAFETY: by this function's contract.
        unsafe { sample::Nearest::load(images, place) }
    }

    #[inline(always)]
    fn value(words: u32, place: u32) -> f32 {
        sample::Nearest::value(words, place)
    }
}
