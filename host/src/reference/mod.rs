//! An independent oracle: the metric by the textbook, in f64, naive on purpose, for everything else to be checked
//! against.
//!
//! It shares no arithmetic with the kernels and the backends: intensities stay as they were read and never become
//! 16-bit fractions, positions are made from the volumes' grids voxel by voxel, and logarithms are the standard
//! library's. Of mireg it uses [`Volume`] and [`Geometry`](crate::Geometry), no more. It is slow.

mod bin;
mod entropy;
mod histogram;
mod interpolate;
mod partial_volume;
mod position;
mod spline;
mod viola;

use crate::Volume;
use glam::DAffine3;

pub use bin::{bin, fraction};
pub use entropy::{Similarity, entropy};
pub use histogram::joint_histogram;
pub use interpolate::{Interpolator, Samples, resample};
pub use partial_volume::partial_volume;
pub use position::{inside, position};
pub use viola::{Deviations, Sample, Viola, viola_derivative};

/// Compares two volumes through `transform`, from a point of `fixed` to the point of `moving`, LPS mm, over the voxels
/// of `fixed` that fall inside `moving`. There are `bins[0]` bins of the fixed and `bins[1]` of the moving image, 1 or
/// more.
pub fn compare(
    fixed: &Volume,
    moving: &Volume,
    transform: &DAffine3,
    bins: [usize; 2],
    how: Interpolator,
) -> Similarity {
    Similarity::of(&joint_histogram(fixed, moving, transform, bins, how))
}
