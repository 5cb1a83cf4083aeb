//! What formats count from that have mm of their own.

use glam::{DAffine3, DVec3};

use crate::Geometry;
use crate::transform::{Dimension, Kind, Linear};

/// The grids of the two images that a transform is between. FSL and RIRE count mm from a corner of each, AFNI as if neither were oblique;
/// elastix writes the fixed one into its files, FreeSurfer both. The other formats can do without.
#[derive(Debug, Clone, Copy, Default)]
pub struct Grids<'a> {
    /// That of the fixed image, from whose points a transform leads.
    pub fixed: Option<&'a Geometry>,
    /// That of the moving image, to whose points it leads.
    pub moving: Option<&'a Geometry>,
}

impl<'a> Grids<'a> {
    /// Those of two images.
    pub fn of(fixed: &'a Geometry, moving: &'a Geometry) -> Self {
        Self { fixed: Some(fixed), moving: Some(moving) }
    }

    /// Those of the inverse.
    pub fn swapped(self) -> Self {
        Self { fixed: self.moving, moving: self.fixed }
    }

    pub(super) fn both(&self) -> Option<(&'a Geometry, &'a Geometry)> {
        self.fixed.zip(self.moving)
    }

    /// A linear map of the first kind that can do what `map` does, about the middle of the fixed grid.
    pub(super) fn about(&self, map: &DAffine3) -> Linear {
        let centre = self.fixed.map_or(DVec3::ZERO, Geometry::centre);
        Linear::new(Kind::Translation, Dimension::Three, centre, map)
    }
}
