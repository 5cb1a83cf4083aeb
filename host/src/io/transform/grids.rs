//! What formats count from that have mm of their own.

use glam::{DAffine3, DVec3};

use crate::Geometry;
use crate::error::Message;
use crate::transform::{Dimension, Kind, Linear, Transform};

/// How far from their plane two-dimensional images may be led, mm.
const IN_PLANE: f64 = 1e-3;

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

    /// Refuses what cannot lead from one of these images to the other, where both are known: a transform of the plane between images in
    /// space, and one that leads two-dimensional images out of their plane.
    ///
    /// # Errors
    /// What is wrong and what to do.
    pub fn suit(&self, transform: &Transform) -> Result<(), Message> {
        let Some((fixed, moving)) = self.both() else { return Ok(()) };
        let both = |of: fn(&Geometry) -> bool| of(fixed) && of(moving);
        if both(|grid| grid.dimensions() == 3) && transform.parts().into_iter().any(of_plane) {
            return Err("is a transform of two-dimensional images, and these have three; give one of three".into());
        }
        let leaves = |point: DVec3| {
            transform.to_affine().is_some_and(|map| (map.transform_point3(point).z - point.z).abs() > IN_PLANE)
        };
        let in_space = |part: &Transform| matches!(part, Transform::Field(field) if !field.geometry.is_flat());
        let out = || transform.parts().into_iter().any(in_space) || fixed.corners().into_iter().any(leaves);
        match both(|grid| grid.dimensions() == 2) && out() {
            true => Err("leads out of the plane of the images; give a transform of two-dimensional images".into()),
            false => Ok(()),
        }
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

/// Whether a transform is one of two-dimensional images.
fn of_plane(part: &Transform) -> bool {
    match part {
        Transform::Linear(linear) => linear.dimension == Dimension::Two,
        Transform::Field(field) => field.geometry.dimensions() == 2,
        // One of slices in space, which have their plane, cannot be told from others.
        Transform::Mesh(_) | Transform::Chain(_) => false,
    }
}
