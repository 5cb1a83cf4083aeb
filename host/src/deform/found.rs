//! What a deformation is.

use super::{Compared, Force, LandmarkErrors};
use crate::Volume;
use crate::doubt::Doubt;
use crate::image::Intensities;
use crate::registration::{LinearStart, Place, Unmatched};
use crate::transform::Field;

/// A deformation that was found.
#[derive(Debug, Clone)]
pub struct Deformation {
    /// What of the fixed and of the moving image's intensities was looked at.
    pub intensities: [Intensities; 2],
    /// What of both images was compared.
    pub compared: Compared,
    /// Where the flow started.
    pub start: LinearStart,
    /// Takes a point of the fixed image to the point of the moving image, the start included; on the fixed image's grid.
    pub field: Field,
    /// The way back, on the moving image's grid.
    pub inverse: Field,
    pub consistency: Consistency,
    /// The moving image on the fixed image's grid, where it was asked for.
    pub moved: Option<Volume>,
    /// The determinant of the field's Jacobian at every voxel of the fixed image, the start included: how many times larger what lies there
    /// is in the moving image.
    pub jacobian: Volume,
    /// Its smallest and its largest value.
    pub jacobian_range: [f64; 2],
    /// What the force climbs, before and after at the finest level: mutual information, nats; NMI; the mean squared local correlation; or
    /// the mean squared difference, of intensities as fractions of the range, with a minus. Of several metrics the weighted sum of their
    /// information, nats, see [`Level::terms`].
    pub values: [f64; 2],
    /// How much of the smaller image lies inside the other through the field, by volume.
    pub overlap: Option<f64>,
    /// How much more the images agree through the field than around it; none where too little of them is image.
    pub place: Option<Place>,
    /// What contrasts told about each other through the start, as [`Place::information`] is what they tell through the field.
    pub start_information: Option<f64>,
    /// By how many nats per voxel the field is less likely than its start alone, over what of the fixed image is image: the variance of the
    /// logarithm of its Jacobian determinant, over 2 (ln 2)^2.
    pub bending: Option<f64>,
    /// What of volumes tells nothing about what lies on it through the field, where the rest of them does.
    pub unmatched: Option<Unmatched>,
    /// How much more the images agree through the start or, where they do not agree there, through the affine map nearest to the field;
    /// none where the flow started from a registration.
    pub linear_place: Option<Place>,
    /// Of the landmarks that pulled, if there were some.
    pub landmarks: Option<LandmarkErrors>,
    /// Coarse to fine.
    pub levels: Vec<Level>,
    /// What speaks against it and its start.
    pub doubts: Vec<Doubt>,
    pub seconds: Seconds,
    /// `cpu`, `cuda` or `emulated`.
    pub backend: &'static str,
    /// The device's own name.
    pub device: String,
}

/// How far the way there and back ends from where it began, over the voxels of the fixed image that the field takes inside the moving
/// one, mm.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Consistency {
    pub mean_mm: f64,
    pub worst_mm: f64,
}

/// What a level did.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Level {
    /// Of its grid.
    pub spacing_mm: [f64; 3],
    pub size: [usize; 3],
    /// Whether its field began with displacements that were searched for.
    pub searched: bool,
    /// The value before each iteration, and the last one's.
    pub values: Vec<f64>,
    /// What several metrics were, or one of several channels; nothing where the value is that of a single one. The value is their weighted
    /// sum, of mutual information also for NMI, of -ln(1 - r^2) / 2 for a mean squared correlation r^2, and of -ln(s^2) / 2 for a mean
    /// squared difference s^2.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<TermValues>,
    /// Why it ended: `converged` or `iterations`.
    pub stopped: &'static str,
    /// The Gaussians that smoothed the update field and the whole field: standard deviations, mm.
    pub smooth_mm: [f64; 2],
    /// Smallest and largest determinant of the flow's Jacobian at its end.
    pub jacobian_range: [f32; 2],
}

/// A metric of one channel, before and after a level.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct TermValues {
    /// 0 for the fixed and the moving image, then the extra ones in their order, and last the contrasts where intensities are
    /// compared, too.
    pub channel: usize,
    pub force: Force,
    pub weight: f64,
    pub before: f64,
    pub after: f64,
}

impl Level {
    /// The value before and after.
    pub fn ends(&self) -> [f64; 2] {
        [self.values.first(), self.values.last()].map(|value| value.copied().unwrap_or(0.0))
    }
}

/// Where the time went.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct Seconds {
    /// Grids of the levels, unless they were made while the linear start was found, and intensities as bits.
    pub pyramid: f64,
    /// The flow.
    pub flow: f64,
    /// Inverse, Jacobian, moved image.
    pub finish: f64,
    /// All of these.
    pub register: f64,
}
