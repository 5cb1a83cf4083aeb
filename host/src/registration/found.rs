//! What a registration found.

use super::{Elsewhere, Place};
use crate::Volume;
use crate::doubt::Doubt;
use crate::image::{Intensities, Range};
use crate::metric::Evaluation;
use crate::optimizer::Stopped;
use crate::transform::Linear;
use serde::Serialize;

/// The result, and how it came about.
#[derive(Debug, Clone)]
pub struct Registration {
    /// Fixed point to moving point, LPS mm.
    pub transform: Linear,
    /// The moving image on the fixed image's grid, where it was asked for; 0 outside.
    pub moved: Option<Volume>,
    /// What of the fixed and of the moving image's intensities the metric looked at.
    pub intensities: [Intensities; 2],
    /// The metric at full resolution with the headers as they are, and at the end.
    pub start: Evaluation,
    pub end: Evaluation,
    /// The metric that was maximised as the headers place the images, and at the end: at full resolution, or for a smooth metric on
    /// the finest level.
    pub values: [f64; 2],
    /// The joint histograms of `start` and `end`: the pair (f, m) is at `f + bins * m`.
    pub histograms: [Vec<u32>; 2],
    /// What of the fixed and of the moving image is spread over their bins: intensities, or where [`Started::from`] is `contrast` local
    /// contrasts, in standard deviations of the neighbourhood.
    pub binned: [Range; 2],
    pub started: Started,
    /// Coarse to fine.
    pub levels: Vec<RegistrationLevel>,
    /// Whether the images agree where they were placed; none where too little of them is image. Where [`Started::from`] is `affine`, as that
    /// placed them.
    pub place: Option<Place>,
    /// The best other place of the smaller volume in the larger one; none where neither covers less than half of what the other does.
    pub elsewhere: Option<Elsewhere>,
    /// What speaks against the result.
    pub doubts: Vec<Doubt>,
    pub seconds: RegistrationSeconds,
    /// What counted the joint histograms at full resolution.
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
}

/// The start that won.
#[derive(Debug, Clone, Serialize)]
pub struct Started {
    /// `header`, `geometry`, `mass`, `moments`, `search`, `file`; or `contrast`: of pictures, whose contrast was registered; or
    /// `foreground`: of volumes, of which what is brighter than the surround was registered; or `affine`: of volumes, an affine registration
    /// to which the transform is the nearest of its kind.
    pub from: &'static str,
    /// How far the end is from it: the root mean square distance over the fixed image's grid, mm.
    pub distance_mm: f64,
    /// Starts that were looked at.
    pub candidates: usize,
}

/// One level of the pyramid.
#[derive(Debug, Clone, Serialize)]
pub struct RegistrationLevel {
    /// Grid of the sampled image at this level, mm.
    pub spacing_mm: [f64; 3],
    /// Voxels that are counted.
    pub samples: u64,
    /// For Gaussian windows their standard deviations as parts of the ranges: fixed, moving, and those of the joint density where it
    /// has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sigmas: Option<Vec<f64>>,
    /// Transforms at which the metric was evaluated.
    pub evaluations: usize,
    /// The metric at the level's end.
    pub value: f64,
    /// Why the search ended.
    pub stopped: Stopped,
    /// The best value so far, each time that it rose.
    pub trace: Vec<Rise>,
}

/// A point of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rise {
    /// Evaluations on this level until then.
    pub evaluations: usize,
    pub value: f64,
}

/// RegistrationSeconds spent in each part.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RegistrationSeconds {
    pub upload: f64,
    pub pyramid: f64,
    pub optimise: f64,
    /// The metric at full resolution, before and after.
    pub compare: f64,
    pub resample: f64,
}
