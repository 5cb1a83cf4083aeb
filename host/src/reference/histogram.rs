//! Counts the joint histogram.

use super::position::{indices, position};
use super::{Interpolator, Samples, bin, fraction};
use crate::Volume;
use glam::DAffine3;
use ndarray::Array2;

/// Counts the pairs of bins, indexed `[fixed bin, moving bin]`, with the arguments of [`compare`](super::compare). The
/// bins of each image extend from its lowest to its highest intensity. For up to 256 bins, intensities are first
/// rounded to 256 levels. Interpolated intensities outside the range of the image are clamped to it.
pub fn joint_histogram(
    fixed: &Volume,
    moving: &Volume,
    transform: &DAffine3,
    bins: [usize; 2],
    how: Interpolator,
) -> Array2<u64> {
    let [fixed_range, moving_range] =
        [fixed.range(), moving.range()].map(|(low, high)| (f64::from(low), f64::from(high)));
    let (fixed, moving) = (&in_levels(fixed, bins[0]), &in_levels(moving, bins[1]));
    let samples = Samples::new(moving, how);
    let mut counts = Array2::zeros(bins);
    for (index, &intensity) in indices(fixed.geometry.size).zip(&fixed.voxels) {
        let position = position(&fixed.geometry, &moving.geometry, transform, index);
        if let Some(other) = samples.value(position) {
            let row = bin(fraction(f64::from(intensity), fixed_range.0, fixed_range.1), bins[0]);
            let other = other.clamp(moving_range.0, moving_range.1);
            let column = bin(fraction(other, moving_range.0, moving_range.1), bins[1]);
            counts[[row, column]] += 1;
        }
    }
    counts
}

/// Rounds every intensity to the nearest of 256 levels between the lowest and the highest, unless there are more than
/// 256 bins.
pub(super) fn in_levels(volume: &Volume, bins: usize) -> Volume {
    let (low, high) = volume.range();
    let (low, high) = (f64::from(low), f64::from(high));
    let level = |intensity: f32| (fraction(f64::from(intensity), low, high) * 255.0).round() / 255.0;
    let mut rounded = volume.clone();
    if bins <= 256 {
        rounded.voxels.iter_mut().for_each(|voxel| *voxel = (low + level(*voxel) * (high - low)) as f32);
    }
    rounded
}
