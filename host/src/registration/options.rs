//! What the user may choose.

use crate::Volume;
use crate::backend::{Exponentials, HistogramMethod, Sigmas};
use crate::metric::{MetricKind, Sampling};
use crate::optimizer::OptimizerKind;
use crate::transform::Kind;
use glam::DAffine3;
use gpu::math::interpolate::Interpolator;

/// What [`Engine::register`](crate::Engine::register) is to do.
#[derive(Debug, Clone)]
pub struct Options {
    /// What the motion may be.
    pub dof: Kind,
    /// Where the search starts.
    pub init: Init,
    /// Who searches; `None` for what suits the metric, see [`Options::optimizer()`].
    pub optimizer: Option<OptimizerKind>,
    /// Grids of the levels, mm, coarse to fine; `None` for those that suit the images.
    pub levels: Option<Vec<f64>>,
    /// Which voxels are counted.
    pub sampling: Sampling,
    /// What is maximised; `None` for what suits the other options, see [`Options::metric()`].
    pub metric: Option<MetricKind>,
    /// Bins a side of the joint histogram, 2 to 1024; for Mattes windows with their padding, 5 or more.
    pub bins: u32,
    /// How [`MetricKind::Viola`] compares.
    pub viola: ViolaOptions,
    /// How values between the moving image's voxels are made for the metric.
    pub interpolator: Interpolator,
    /// How the joint histogram is counted; all methods give the same counts.
    pub histogram: HistogramMethod,
    /// On the fixed image's grid: its voxels of less than 0.5 are not counted.
    pub fixed_mask: Option<Volume>,
    /// On the moving image's grid: voxels that fall where it is less than 0.5 are not counted.
    pub moving_mask: Option<Volume>,
}

/// Where a search starts.
#[derive(Debug, Clone, PartialEq)]
pub enum Init {
    /// From the best of those below, found by trying.
    Auto,
    /// As the files' headers place the images.
    Header,
    /// With the middles of the grids on each other.
    Geometry,
    /// With the centres of mass on each other.
    Mass,
    /// With the principal axes on each other too.
    Moments,
    /// From the best of many rotations and translations.
    Search,
    /// From a map of points of the fixed image, LPS mm.
    Transform(DAffine3),
}

/// How samples are compared by Gaussian windows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ViolaOptions {
    /// Scattered voxels that are compared at most, of those that [`Sampling`] leaves: half make up the densities, and half are where
    /// these are looked at.
    pub samples: usize,
    /// Which ones.
    pub seed: u64,
    /// Standard deviations of the windows; `None` for those that suit each level's samples.
    pub sigmas: Option<Sigmas>,
    pub exponentials: Exponentials,
}

impl ViolaOptions {
    /// Samples that register a head.
    pub const SAMPLES: usize = 8000;
    /// The fewest that there may be.
    pub const LEAST: usize = 100;
}

impl Default for ViolaOptions {
    fn default() -> Self {
        Self { samples: Self::SAMPLES, seed: 1, sigmas: None, exponentials: Exponentials::Exact }
    }
}

impl Options {
    /// What is maximised: by Mattes windows, which take less time and are as accurate, unless the other options are about joint histograms of
    /// whole samples.
    pub fn metric(&self) -> MetricKind {
        let windows = self.interpolator == Interpolator::Linear
            && self.histogram == HistogramMethod::Auto
            && self.bins >= gpu::math::mattes::LEAST_BINS;
        self.metric.unwrap_or(if windows { MetricKind::Mattes } else { MetricKind::Nmi })
    }

    /// Who searches: by the gradient where the metric has one.
    pub fn optimizer(&self) -> OptimizerKind {
        let usual = if self.metric().smooth() { OptimizerKind::Lbfgs } else { OptimizerKind::Batch };
        self.optimizer.unwrap_or(usual)
    }
}

impl Default for Options {
    /// Rigid, by Mattes mutual information with 64 bins, from the best of all starts.
    fn default() -> Self {
        Self {
            dof: Kind::Rigid,
            init: Init::Auto,
            optimizer: None,
            levels: None,
            sampling: Sampling::Grid { samples: Sampling::SAMPLES },
            metric: None,
            bins: 64,
            viola: ViolaOptions::default(),
            interpolator: Interpolator::Linear,
            histogram: HistogramMethod::Auto,
            fixed_mask: None,
            moving_mask: None,
        }
    }
}
