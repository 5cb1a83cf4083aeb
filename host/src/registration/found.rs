//! The result of a registration.

use super::{Elsewhere, Place};
use crate::Volume;
use crate::doubt::{Check, Doubt};
use crate::image::{Intensities, Range};
use crate::metric::Evaluation;
use crate::optimizer::Stopped;
use crate::transform::Linear;
use glam::DAffine3;
use serde::Serialize;

/// The result of a registration, and how it was found.
#[derive(Debug, Clone)]
pub struct Registration {
    /// Maps fixed points to moving points, LPS mm.
    pub transform: Linear,
    /// The moving image on the fixed image's grid, 0 outside; `None` unless the options asked for it.
    pub moved: Option<Volume>,
    /// The intensities of the fixed and of the moving image, and the ranges of them that the metric used.
    pub intensities: [Intensities; 2],
    /// The joint histogram's measures at full resolution: with the headers' alignment, and at the end.
    pub start: Evaluation,
    pub end: Evaluation,
    /// The maximised metric with the headers' alignment, and at the end: at full resolution for metrics of a joint
    /// histogram, on the finest level for metrics with a gradient.
    pub values: [f64; 2],
    /// The joint histograms of `start` and `end`: the pair (f, m) is at `f + bins * m`.
    pub histograms: [Vec<u32>; 2],
    /// The ranges of the fixed and of the moving image that are spread over the bins: of intensities or, if
    /// [`Started::from`] is `contrast`, of local contrast, in local standard deviations.
    pub binned: [Range; 2],
    pub started: Started,
    /// Coarse to fine.
    pub levels: Vec<RegistrationLevel>,
    /// How much better the images agree at the result than at poses around it; `None` if too little of them is
    /// foreground. If [`Started::from`] is `affine`, it is that of the affine registration.
    pub place: Option<Place>,
    /// The best other position of the smaller volume in the larger one; `None` unless one covers less than half as much
    /// as the other.
    pub elsewhere: Option<Elsewhere>,
    /// The affine transform through which volumes agree better elsewhere, if that made the result fail: a map of fixed
    /// points to moving points, LPS mm.
    pub better_affine: Option<DAffine3>,
    /// Other poses that are about as good by the metric: maps of fixed points to moving points, LPS mm.
    pub rivals: Vec<DAffine3>,
    /// The checks that the result did not pass.
    pub doubts: Vec<Doubt>,
    pub seconds: RegistrationSeconds,
    /// How the joint histograms at full resolution were counted.
    pub histogram: &'static str,
    /// `cpu`, `cuda` or `emulated`.
    pub backend: &'static str,
    /// The device's own name.
    pub device: String,
}

impl Registration {
    /// Whether no doubt is grave.
    pub fn trusted(&self) -> bool {
        !self.doubts.iter().any(|doubt| doubt.grave)
    }

    /// Whether all grave doubts are from these checks.
    pub(crate) fn fails_at_most(&self, checks: &[Check]) -> bool {
        self.doubts.iter().all(|doubt| !doubt.grave || checks.contains(&doubt.check))
    }
}

/// The start that the result came from.
#[derive(Debug, Clone, Serialize)]
pub struct Started {
    /// The initialisation `header`, `geometry`, `mass`, `moments`, `search` or `file`, or the attempt that replaced the
    /// first result: `contrast` (of 2-D images, by their local contrast), `wide_contrast` (of 2-D images, from a search by
    /// wide local contrast), `foreground` (of volumes, by their foreground), `elsewhere` (of volumes, from a better
    /// position of the smaller one in the larger one), `structures` (of volumes, from the best optimum of structures in
    /// wide neighbourhoods) or `affine` (of volumes, the transform of the requested kind that is nearest to an affine
    /// registration).
    pub from: &'static str,
    /// The root mean square distance between start and result over the fixed image's grid, mm.
    pub distance_mm: f64,
    /// Starts that were evaluated.
    pub candidates: usize,
}

/// A resolution level.
#[derive(Debug, Clone, Serialize)]
pub struct RegistrationLevel {
    /// The grid spacing of the sampled image, mm.
    pub spacing_mm: [f64; 3],
    /// Voxels that were counted.
    pub samples: u64,
    /// For Gaussian windows, their standard deviations as fractions of the intensity ranges: fixed, moving, and that of
    /// the joint density if it has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sigmas: Option<Vec<f64>>,
    /// Transforms at which the metric was evaluated.
    pub evaluations: usize,
    /// The metric at the level's end.
    pub value: f64,
    /// Why the optimisation ended.
    pub stopped: Stopped,
    /// The best value so far, each time that it rose.
    pub trace: Vec<Rise>,
}

/// A point of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rise {
    /// Evaluations on this level up to this point.
    pub evaluations: usize,
    pub value: f64,
}

/// Seconds spent in each part, by all attempts together. Their sum is the time that the registration took.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RegistrationSeconds {
    pub upload: f64,
    pub pyramid: f64,
    pub optimise: f64,
    /// The comparison at full resolution, before and after, and the checks.
    pub compare: f64,
    pub resample: f64,
}
