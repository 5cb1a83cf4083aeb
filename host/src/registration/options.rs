//! The options of a linear registration.

use crate::Volume;
use crate::image::IntensityRange;
use crate::metric::{Metric, Sampling};
use crate::optimizer::OptimizerKind;
use crate::transform::Kind;
use glam::DAffine3;

/// The options of [`Engine::register`](crate::Engine::register).
#[derive(Debug, Clone)]
pub struct Options {
    /// The kind of the transform.
    pub dof: Kind,
    /// Where the optimisation starts.
    pub init: Init,
    /// How the maximum is found; `None` for the optimizer that suits the metric, see [`Options::optimizer()`].
    pub optimizer: Option<OptimizerKind>,
    /// Grid spacings of the levels, mm, coarse to fine; `None` for those that suit the images.
    pub levels: Option<Vec<f64>>,
    /// Which voxels are counted.
    pub sampling: Sampling,
    /// The metric to maximise. By default Mattes mutual information with 64 bins.
    pub metric: Metric,
    /// A mask on the fixed image's grid: voxels where it is below 0.5 are not counted.
    pub fixed_mask: Option<Volume>,
    /// A mask on the moving image's grid: voxels that fall where it is below 0.5 are not counted.
    pub moving_mask: Option<Volume>,
    /// The range of each image's intensities that the metric uses. Intensities beyond it are clamped.
    pub fixed_range: IntensityRange,
    pub moving_range: IntensityRange,
    /// Whether to resample the moving image onto the fixed image's grid at the end.
    pub moved: bool,
}

/// Where a registration starts.
#[derive(Debug, Clone, PartialEq)]
pub enum Init {
    /// At the best pose of all that `Header`, `Geometry`, `Mass`, `Moments` and `Search` try.
    Auto,
    /// With the alignment of the files' headers.
    Header,
    /// With the centres of the grids aligned.
    Geometry,
    /// With the centres of mass aligned.
    Mass,
    /// With the centres of mass and the principal axes aligned.
    Moments,
    /// At the best of many rotations, with the centres of mass aligned.
    Search,
    /// At a map of fixed points to moving points, LPS mm.
    Transform(DAffine3),
    /// At the best of several such maps.
    Among(Vec<DAffine3>),
}

impl Init {
    /// Returns the maps that the user gave.
    pub(super) fn given(&self) -> &[DAffine3] {
        match self {
            Self::Transform(transform) => std::slice::from_ref(transform),
            Self::Among(transforms) => transforms,
            Self::Auto | Self::Header | Self::Geometry | Self::Mass | Self::Moments | Self::Search => &[],
        }
    }

    /// Returns the start if it is known without looking at the images.
    pub(super) fn known(&self) -> Option<DAffine3> {
        match self {
            Self::Header => Some(DAffine3::IDENTITY),
            Self::Transform(transform) => Some(*transform),
            Self::Auto | Self::Geometry | Self::Mass | Self::Moments | Self::Search | Self::Among(_) => None,
        }
    }
}

impl Options {
    /// Returns the chosen optimizer or, by default, BFGS for a metric with a gradient and batches of evaluations for
    /// others.
    pub fn optimizer(&self) -> OptimizerKind {
        let usual = if self.metric.has_gradient() { OptimizerKind::Bfgs } else { OptimizerKind::Batch };
        self.optimizer.unwrap_or(usual)
    }
}

impl Default for Options {
    /// Rigid, from the best of all starts, by Mattes mutual information with 64 bins and BFGS.
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
