//! What speaks against a result.

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

/// What is checked of a registration, a mesh or a deformation. Displayed and serialised by name, as in `no rise`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Display, IntoStaticStr, VariantArray, Serialize)]
#[strum(serialize_all = "lowercase")]
#[serde(into = "&'static str")]
pub enum Check {
    /// How much of the images lies on each other.
    Overlap,
    /// How much the images tell about each other.
    Information,
    /// Whether the metric is higher than where the headers place the images.
    Metric,
    /// How far the images are turned against each other.
    Rotation,
    /// How much volumes change.
    Volume,
    /// Whether another start ended elsewhere with as good a metric.
    Rival,
    /// Whether pictures agree more where they were placed than around.
    Place,
    /// Whether the moving image agrees better mirrored.
    Mirrored,
    /// The linear registration that a deformation starts from.
    Start,
    /// Whether a deformation folds space.
    Folded,
    /// Whether volumes change more than tissue does somewhere.
    Stretched,
    /// Whether the images account for how a deformation bends space.
    Bent,
    /// Whether all parts of volumes agree through a deformation.
    Unmatched,
    /// Whether a deformation makes the images agree better than its start.
    #[strum(serialize = "no rise")]
    NoRise,
    /// Whether a deformation and its inverse lead back to where they began.
    Inverse,
    /// Whether a deformation takes landmarks to where they belong.
    Landmarks,
}

impl Check {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl Doubt {
    /// A doubt that speaks against using the result.
    pub(crate) fn grave(check: Check, message: impl Into<Message>) -> Self {
        Self { check, message: message.into(), grave: true }
    }

    /// A doubt with which the result may be used.
    pub(crate) fn slight(check: Check, message: impl Into<Message>) -> Self {
        Self { check, message: message.into(), grave: false }
    }
}
