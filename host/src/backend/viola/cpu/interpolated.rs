//! Interpolates the moving image at samples.

use crate::backend::lanes::simd::widest;
use crate::backend::viola::Sample;
use crate::image::StoredImage;
use gpu::math::{affine, bin, interpolate};
use gpu::params::Affine;
use rayon::prelude::*;

/// The number of levels of the `quantised` mode.
pub const LEVELS: u32 = 256;

/// Samples in a piece of work.
const PIECE: usize = 1 << 12;

/// A sample with the interpolated moving image. If it is outside that image, all but the fixed intensity is 0.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct InterpolatedSample {
    /// The fixed and the moving intensity, stored values.
    pub values: [f32; 2],
    /// The gradient of the moving intensity, in stored values per voxel along x, y and z of the moving image.
    pub slope: [f32; 3],
    pub inside: bool,
}

/// Interpolates the moving image at all samples. If `quantised`, both intensities are rounded to [`LEVELS`] levels.
pub fn at_samples(samples: &[Sample], moving: &StoredImage, map: &Affine, quantised: bool) -> Vec<InterpolatedSample> {
    let size = moving.size.map(|n| n as u32);
    assert!(moving.values.len() == moving.size.iter().product::<usize>() + interpolate::padding(size));
    let mut all = vec![InterpolatedSample::default(); samples.len()];
    let pieces = all.par_chunks_mut(PIECE).zip(samples.par_chunks(PIECE));
    pieces.for_each(|(all, samples)| fill(samples, &moving.values, size, map, quantised, all));
    all
}

widest! {
    fn fill(
        samples: &[Sample],
        values: &[u16],
        size: [u32; 3],
        map: &Affine,
        quantised: bool,
        all: &mut [InterpolatedSample],
    ) {
        for (at, sample) in all.iter_mut().zip(samples) {
            *at = one(sample, values, size, map);
            if quantised {
                at.values = at.values.map(to_level);
            }
        }
    }
}

#[inline(always)]
fn one(sample: &Sample, values: &[u16], size: [u32; 3], map: &Affine) -> InterpolatedSample {
    let (position, last) = (affine::position(map, sample.voxel), interpolate::last(size));
    if !interpolate::inside(position, last) {
        return InterpolatedSample { values: [sample.value, 0.0], ..InterpolatedSample::default() };
    }
    // SAFETY: the position is inside.
    let place = unsafe { interpolate::place(position, size) };
    let [index, row, plane] = [place.index, size[0], size[0] * size[1]].map(|n| n as usize);
    let pair = |i: usize| u32::from(values[i]) | u32::from(values[i + 1]) << 16;
    let pairs = [pair(index), pair(index + row), pair(index + plane), pair(index + plane + row)];
    let (value, slope) = interpolate::linear_slope(pairs, place.fraction);
    InterpolatedSample { values: [sample.value, value], slope: interpolate::inner(slope, position, last), inside: true }
}

/// The nearest level, as a stored value.
#[inline(always)]
fn to_level(value: f32) -> f32 {
    // SAFETY: stored and interpolated values are in range.
    let level = unsafe { bin::of(value, bin::scale(LEVELS, bin::FULL)) };
    level as f32 * (bin::FULL / (LEVELS - 1) as f32)
}
