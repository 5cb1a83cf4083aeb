//! Checks that a result did not pass.

use crate::error::Message;
use serde::Serialize;
use strum::{Display, IntoStaticStr, VariantArray};

/// A check that a result did not pass.
#[derive(Debug, Clone, PartialEq)]
pub struct Doubt {
    pub check: Check,
    /// What was found.
    pub message: Message,
    /// Whether the result should not be used.
    pub grave: bool,
}

/// What is checked of a registration, a mesh or a deformation. It is displayed and serialised by its name, as in
/// `no rise`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Display, IntoStaticStr, VariantArray, Serialize)]
#[strum(serialize_all = "lowercase")]
#[serde(into = "&'static str")]
pub enum Check {
    /// How much of the images overlaps.
    Overlap,
    /// The mutual information of the images.
    Information,
    /// Whether the metric is higher than with the headers' alignment.
    Metric,
    /// How far the images are rotated against each other.
    Rotation,
    /// How much volumes change.
    Volume,
    /// Whether another start ended at a different pose with as good a metric.
    Rival,
    /// Whether the images agree better where they were placed than at poses around, or elsewhere.
    Place,
    /// Whether the moving image agrees better mirrored.
    Mirrored,
    /// The linear registration that a deformation starts from.
    Start,
    /// Whether a deformation folds space.
    Folded,
    /// Whether volumes change somewhere by more than tissue does.
    Stretched,
    /// Whether the mutual information of local contrast rises by enough to justify how strongly a deformation changes
    /// volumes.
    Bent,
    /// Whether a part of the volumes shares no information with what a deformation lays on it.
    Unmatched,
    /// Whether a deformation makes the images agree better than its start.
    #[strum(serialize = "no rise")]
    NoRise,
    /// Whether a deformation followed by its inverse leads back to the same points.
    Inverse,
    /// Whether a deformation takes landmarks to where they belong.
    Landmarks,
}

impl Check {
    /// Returns its name in reports.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl Doubt {
    /// Creates a doubt with which the result should not be used.
    pub(crate) fn grave(check: Check, message: impl Into<Message>) -> Self {
        Self { check, message: message.into(), grave: true }
    }

    /// Creates a doubt with which the result may still be used.
    pub(crate) fn slight(check: Check, message: impl Into<Message>) -> Self {
        Self { check, message: message.into(), grave: false }
    }
}
