//! Independent reference implementations of the metrics, against which everything else is tested. They follow the
//! textbook definitions in f64 and are deliberately naive.
//!
//! They share no arithmetic with the kernels and the backends. Intensities stay as they were read and never become
//! 16-bit fractions, positions are computed from the grids voxel by voxel, and logarithms are those of the standard
//! library. From mireg they use only [`Volume`] and [`Geometry`](crate::Geometry). They are slow.

mod bin;
mod entropy;
mod histogram;
mod interpolate;
mod mattes;
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
pub use mattes::{Mattes, Windows, mattes};
pub use partial_volume::partial_volume;
pub use position::{inside, position};
pub use viola::{Deviations, Sample, Viola, viola_derivative};

/// Compares two volumes through `transform`, which maps points of `fixed` to points of `moving`, in LPS mm, over the
/// voxels of `fixed` that fall inside `moving`. The fixed image has `bins[0]` bins and the moving image `bins[1]`, each
/// 1 or more.
pub fn compare(
    fixed: &Volume,
    moving: &Volume,
    transform: &DAffine3,
    bins: [usize; 2],
    how: Interpolator,
) -> Similarity {
    Similarity::of(&joint_histogram(fixed, moving, transform, bins, how))
}
