//! What a linear map may do, and along how many axes.

use strum::{Display, EnumMessage, EnumString, IntoStaticStr, VariantArray};

use crate::Geometry;

/// What a linear map may do; each kind can do what those before it can.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Display,
    EnumMessage,
    EnumString,
    IntoStaticStr,
    VariantArray,
    serde::Serialize,
    serde::Deserialize,
)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Translation: 3 parameters, or 2 in 2-D
    Translation,
    /// Rotation and translation: 6, or 3 in 2-D
    Rigid,
    /// Rigid with one isotropic scale: 7, or 4 in 2-D
    Similarity,
    /// Any linear map, with scales and shears: 12, or 6 in 2-D
    Affine,
}

impl Kind {
    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Translation => "translation",
            Self::Rigid => "rigid",
            Self::Similarity => "similarity",
            Self::Affine => "affine",
        }
    }

    /// How many numbers such a map has.
    pub fn parameters(self, dimension: Dimension) -> usize {
        match (self, dimension) {
            (Self::Translation, Dimension::Two) => 2,
            (Self::Rigid, Dimension::Two) | (Self::Translation, Dimension::Three) => 3,
            (Self::Similarity, Dimension::Two) => 4,
            (Self::Rigid, Dimension::Three) | (Self::Affine, Dimension::Two) => 6,
            (Self::Similarity, Dimension::Three) => 7,
            (Self::Affine, Dimension::Three) => 12,
        }
    }
}

/// Axes of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dimension {
    /// x and y; z stays as it is.
    Two,
    /// x, y and z.
    Three,
}

impl Dimension {
    /// That of an image on this grid.
    pub fn of(grid: &Geometry) -> Self {
        if grid.is_flat() { Self::Two } else { Self::Three }
    }

    /// 2 or 3.
    pub fn axes(self) -> usize {
        match self {
            Self::Two => 2,
            Self::Three => 3,
        }
    }
}
