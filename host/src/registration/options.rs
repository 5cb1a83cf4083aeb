//! What the user may choose.

use crate::Volume;
use crate::image::IntensityRange;
use crate::metric::{Metric, Sampling};
use crate::optimizer::OptimizerKind;
use crate::transform::Kind;
use glam::DAffine3;

/// What [`Engine::register`](crate::Engine::register) is to do.
#[derive(Debug, Clone)]
pub struct Options {
    /// What the motion may be.
    pub dof: Kind,
    /// Where the search starts.
    pub init: Init,
    /// How the maximum is found; `None` for the optimizer that suits the metric, see [`Options::optimizer()`].
    pub optimizer: Option<OptimizerKind>,
    /// Grids of the levels, mm, coarse to fine; `None` for those that suit the images.
    pub levels: Option<Vec<f64>>,
    /// Which voxels are counted.
    pub sampling: Sampling,
    /// What is maximised. By default Mattes mutual information with 64 bins.
    pub metric: Metric,
    /// On the fixed image's grid: its voxels of less than 0.5 are not counted.
    pub fixed_mask: Option<Volume>,
    /// On the moving image's grid: voxels that fall where it is less than 0.5 are not counted.
    pub moving_mask: Option<Volume>,
    /// The intensities that the metric looks at, of each image.
    pub fixed_range: IntensityRange,
    pub moving_range: IntensityRange,
    /// Whether the moving image is resampled on the fixed image's grid at the end.
    pub moved: bool,
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
    /// From the best of several such maps.
    Among(Vec<DAffine3>),
}

impl Init {
    /// The maps that are given, among which the start is.
    pub(super) fn given(&self) -> &[DAffine3] {
        match self {
            Self::Transform(transform) => std::slice::from_ref(transform),
            Self::Among(transforms) => transforms,
            Self::Auto | Self::Header | Self::Geometry | Self::Mass | Self::Moments | Self::Search => &[],
        }
    }

    /// The start, where that does not have to be found.
    pub(super) fn known(&self) -> Option<DAffine3> {
        match self {
            Self::Header => Some(DAffine3::IDENTITY),
            Self::Transform(transform) => Some(*transform),
            Self::Auto | Self::Geometry | Self::Mass | Self::Moments | Self::Search | Self::Among(_) => None,
        }
    }
}

impl Options {
    /// The optimizer: the one that was chosen, or L-BFGS for a metric with a gradient and batches of evaluations for others.
    pub fn optimizer(&self) -> OptimizerKind {
        let usual = if self.metric.has_gradient() { OptimizerKind::Lbfgs } else { OptimizerKind::Batch };
        self.optimizer.unwrap_or(usual)
    }
}

impl Default for Options {
    /// Rigid, from the best of all starts, by Mattes mutual information with 64 bins and L-BFGS.
    fn default() -> Self {
        Self {
            dof: Kind::Rigid,
            init: Init::Auto,
            optimizer: None,
            levels: None,
            sampling: Sampling::Grid { samples: Sampling::SAMPLES },
            metric: Metric::default(),
            fixed_mask: None,
            moving_mask: None,
            fixed_range: IntensityRange::Auto,
            moving_range: IntensityRange::Auto,
            moved: true,
        }
    }
}
