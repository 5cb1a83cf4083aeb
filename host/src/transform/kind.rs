//! The kinds of linear maps, and the dimensions of images.

use strum::{Display, EnumMessage, EnumString, IntoStaticStr, VariantArray};

use crate::Geometry;

/// The kind of a linear map. Each kind includes those before it.
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
    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Translation => "translation",
            Self::Rigid => "rigid",
            Self::Similarity => "similarity",
            Self::Affine => "affine",
        }
    }

    /// Returns the number of parameters of such a map.
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

/// The dimension of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dimension {
    /// x and y; z stays as it is.
    Two,
    /// x, y and z.
    Three,
}

impl Dimension {
    /// Returns the dimension of an image on this grid.
    pub fn of(grid: &Geometry) -> Self {
        if grid.is_flat() { Self::Two } else { Self::Three }
    }

    /// Returns the number of axes: 2 or 3.
    pub fn axes(self) -> usize {
        match self {
            Self::Two => 2,
            Self::Three => 3,
        }
    }
}
