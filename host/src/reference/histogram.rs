//! How often each pair of bins occurs.

use super::position::{indices, position};
use super::{Interpolator, Samples, bin, fraction};
use crate::Volume;
use glam::DAffine3;
use ndarray::Array2;

/// Counts of the pairs of bins, indexed `[fixed bin, moving bin]`: as [`compare`](super::compare), each image's
/// intensities from its own lowest to its own highest. What cubic interpolation takes beyond them counts as they do.
pub fn joint_histogram(
    fixed: &Volume,
    moving: &Volume,
    transform: &DAffine3,
    bins: [usize; 2],
    how: Interpolator,
) -> Array2<u64> {
    let [fixed_range, moving_range] =
        [fixed.range(), moving.range()].map(|(low, high)| (f64::from(low), f64::from(high)));
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
