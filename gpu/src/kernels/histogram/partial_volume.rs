//! Partial volume interpolation: a sample is counted in the bin of each neighbour, by [`crate::math::partial_volume`].

use crate::kernels::sample::{FineLinear, Sampler};
use crate::math::partial_volume::{ROWS, pairs, weights};
use crate::math::{affine, bin, interpolate};
use crate::params::Images;

/// Reads the same eight neighbours as [`FineLinear`], but counts each of them.
pub struct PartialVolume;

impl Sampler for PartialVolume {
    const FULL: f32 = bin::FULL;
    type Place = <FineLinear as Sampler>::Place;
    type Words = <FineLinear as Sampler>::Words;

    #[inline(always)]
    fn place(inside: bool, position: [f32; 3], size: [u32; 3]) -> Self::Place {
        FineLinear::place(inside, position, size)
    }

    #[inline(always)]
    unsafe fn load(images: &Images, place: Self::Place) -> Self::Words {
        // SAFETY: by this function's contract.
        unsafe { FineLinear::load(images, place) }
    }

    /// The trilinear value, which is the weighted mean of the neighbours' stored values.
    #[inline(always)]
    fn value(words: Self::Words, place: Self::Place) -> f32 {
        FineLinear::value(words, place)
    }

    #[inline(always)]
    unsafe fn each(
        images: &Images,
        fixed: u32,
        words: Self::Words,
        place: Self::Place,
        first: u32,
        add: impl Fn(u32, u32),
    ) {
        let scale = bin::scale(images.bins[1], bin::FULL);
        for row in 0..ROWS {
            let [low, high] = pairs(fixed, images.bins[0], words[row as usize], scale, first);
            let weights = weights(place.fraction, images.unit, row);
            add(low, weights[0]);
            add(high, weights[1]);
        }
    }
}

/// Returns a joint index and its weight for each of two neighbours of a voxel's position in the moving image, those in
/// row `row` of [`ROWS`]. The weights are 0 outside the moving image, the mask or the fixed image.
///
/// # Safety
/// The slices are as long as the sizes say.
#[inline(always)]
pub unsafe fn neighbours(images: &Images, voxel: u32, row: u32) -> [(u32, u32); 2] {
    let [width, height, depth] = images.fixed_size;
    // SAFETY: by this function's contract; without it a division by zero would bring a panic into the PTX.
    unsafe { core::hint::assert_unchecked(width > 0 && height > 0) };
    if voxel >= width * height * depth {
        return [(0, 0); 2];
    }
    // SAFETY: the voxel is in the fixed image.
    let fixed = u32::from(unsafe { images.fixed.get_cached(voxel as usize) });
    let (x, y, z) = (voxel % width, voxel / width % height, voxel / width / height);
    let position = affine::position(&images.transform, [x, y, z]);
    if !interpolate::inside(position, interpolate::last(images.moving_size)) || fixed >= images.bins[0] {
        return [(0, 0); 2];
    }
    let [width, height, _] = images.moving_size;
    // SAFETY: inside, and the neighbours are within the image and its padding.
    let (place, word) = unsafe {
        let place = interpolate::place(position, images.moving_size);
        let at = place.index + (row & 1) * width + (row >> 1) * width * height;
        (place, images.moving.get_cached(at as usize))
    };
    let [low, high] = pairs(fixed, images.bins[0], word, bin::scale(images.bins[1], bin::FULL), 0);
    let weights = weights(place.fraction, images.unit, row);
    [(low, weights[0]), (high, weights[1])]
}
