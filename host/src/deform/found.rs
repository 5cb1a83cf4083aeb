//! The result of a deformation.

use super::{Compared, Force, LandmarkErrors};
use crate::Volume;
use crate::doubt::Doubt;
use crate::image::Intensities;
use crate::registration::{Displaced, LinearStart, Place, Unmatched};
use crate::transform::Field;

/// A deformation that was found.
#[derive(Debug, Clone)]
pub struct Deformation {
    /// The intensities of the fixed and of the moving image, and the ranges that were used.
    pub intensities: [Intensities; 2],
    /// Whether intensities, local contrast, or both were compared.
    pub compared: Compared,
    /// The linear transform that the flow started from.
    pub start: LinearStart,
    /// The displacement field from the fixed to the moving image, the start included, on the fixed image's grid.
    pub field: Field,
    /// Its inverse, on the moving image's grid.
    pub inverse: Field,
    pub consistency: Consistency,
    /// The moving image on the fixed image's grid, where it was asked for.
    pub moved: Option<Volume>,
    /// The Jacobian determinant of the field at every voxel of the fixed image, the start included: the factor by which
    /// volumes are larger in the moving image.
    pub jacobian: Volume,
    /// Its smallest and its largest value.
    pub jacobian_range: [f64; 2],
    /// The value of the metric before and after the finest level: mutual information, nats; NMI; the mean squared local
    /// correlation; or minus the mean squared difference of intensities, as fractions of the range. For several metrics
    /// or channels, it is the weighted sum of their information, nats: see [`Level::terms`].
    pub values: [f64; 2],
    /// The fraction of the smaller image that lies inside the other one through the field, 0 to 1. The smaller image is
    /// the one of which more does.
    pub overlap: f64,
    /// How much better the images agree through the field than at places around; `None` if too little of them is
    /// foreground.
    pub place: Option<Place>,
    /// The mutual information of local contrast through the start, nats beyond chance. Through the field, it is
    /// [`Place::information`].
    pub start_information: Option<f64>,
    /// The cost of bending: by how many nats per voxel the field is less likely than its start alone, over the
    /// foreground of the fixed image. It is the variance of the logarithm of its Jacobian determinant, over 2 (ln 2)^2.
    pub bending: Option<f64>,
    /// The part of volumes whose local contrast has hardly any mutual information with what the field places on it,
    /// while the rest has.
    pub unmatched: Option<Unmatched>,
    /// The part of volumes that agrees better elsewhere.
    pub(super) displaced: Option<Displaced>,
    /// The mutual information of local contrast through the start if each part of volumes is moved by itself, nats
    /// beyond chance, where some agree better elsewhere.
    pub(super) part_information: Option<f64>,
    /// How much better the images agree through the start than around it or, if they do not agree there, through the
    /// affine map nearest to the field. `None` if a registration supports the start.
    pub linear_place: Option<Place>,
    /// The errors of the landmarks that drove the flow, if there were any.
    pub landmarks: Option<LandmarkErrors>,
    /// The levels, coarse to fine.
    pub levels: Vec<Level>,
    /// Doubts about the deformation and its start.
    pub doubts: Vec<Doubt>,
    pub seconds: Seconds,
    /// `cpu`, `cuda` or `emulated`.
    pub backend: &'static str,
    /// The device's own name.
    pub device: String,
}

impl Deformation {
    /// Returns whether the deformation may be used: none of its doubts is grave.
    pub fn trusted(&self) -> bool {
        self.doubts.iter().all(|doubt| !doubt.grave)
    }
}

/// The inverse consistency error, mm: the distance from a voxel of the fixed image to where the field and then its
/// inverse take it, over the voxels that the field takes inside the moving image.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Consistency {
    pub mean_mm: f64,
    pub worst_mm: f64,
}

/// The result of a level.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Level {
    /// The spacing of its grid.
    pub spacing_mm: [f64; 3],
    pub size: [usize; 3],
    /// Whether its field began with the result of the search for large displacements.
    pub searched: bool,
    /// The value of the metric before each iteration, and at the end.
    pub values: Vec<f64>,
    /// The terms of the value if there are several metrics or channels; empty for a single term. The value is then the
    /// weighted sum of their information: mutual information for MI and NMI, -ln(1 - r^2) / 2 for a mean squared
    /// correlation r^2, and -ln(s^2) / 2 for a mean squared difference s^2.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<TermValues>,
    /// Why it ended: `converged` or `iterations`.
    pub stopped: &'static str,
    /// The Gaussians that smoothed the update field and the whole field: standard deviations, mm.
    pub smooth_mm: [f64; 2],
    /// The smallest and the largest Jacobian determinant of the displacement field at the end, the start excluded.
    pub jacobian_range: [f32; 2],
}

/// A metric of one channel, before and after a level.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct TermValues {
    /// 0 for the fixed and the moving image, then the extra pairs in their order, and last the local contrast if that
    /// is compared beside intensities.
    pub channel: usize,
    pub force: Force,
    pub weight: f64,
    pub before: f64,
    pub after: f64,
}

impl Level {
    /// Returns the value of the metric before and after the level.
    pub fn ends(&self) -> [f64; 2] {
        [self.values.first(), self.values.last()].map(|value| value.copied().unwrap_or(0.0))
    }
}

/// How long each part took, seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct Seconds {
    /// Making the images of the levels, unless that was done while the linear start was found, and storing them as 16
    /// bits.
    pub pyramid: f64,
    /// The search, the trials and the flow.
    pub flow: f64,
    /// Inverse, Jacobian, moved image.
    pub finish: f64,
    /// All after the linear start.
    pub register: f64,
}
