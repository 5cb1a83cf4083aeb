//! The grids of the fixed and the moving image, which some formats of transforms need.

use glam::{DAffine3, DVec3};

use crate::Geometry;
use crate::error::Message;
use crate::transform::{Dimension, Kind, Linear, Transform};

/// The largest distance, in mm, by which a transform of 2-D images may move a point out of the plane.
const IN_PLANE: f64 = 1e-3;

/// The grids of the two images of a transform. FSL and RIRE measure mm from a corner of each image, AFNI as if neither
/// were oblique. elastix writes the fixed grid into its files, FreeSurfer both grids. The other formats do not need
/// them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Grids<'a> {
    /// The grid of the fixed image, whose points a transform maps.
    pub fixed: Option<&'a Geometry>,
    /// The grid of the moving image, to whose points it maps.
    pub moving: Option<&'a Geometry>,
}

impl<'a> Grids<'a> {
    /// The grids of two images.
    pub fn of(fixed: &'a Geometry, moving: &'a Geometry) -> Self {
        Self { fixed: Some(fixed), moving: Some(moving) }
    }

    /// The grids for the inverse transform.
    pub fn swapped(self) -> Self {
        Self { fixed: self.moving, moving: self.fixed }
    }

    /// Refuses a transform that cannot be one between these images, if both are known: a 2-D transform between 3-D
    /// images, and a transform that moves points of 2-D images out of their plane.
    ///
    /// # Errors
    /// A message that says what is wrong and what to do.
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
            true => Err("leads out of the image plane; give a transform of two-dimensional images".into()),
            false => Ok(()),
        }
    }

    pub(super) fn both(&self) -> Option<(&'a Geometry, &'a Geometry)> {
        self.fixed.zip(self.moving)
    }

    /// The linear transform for `map`, of the first kind that can represent it, about the centre of the fixed grid.
    pub(super) fn about(&self, map: &DAffine3) -> Linear {
        let centre = self.fixed.map_or(DVec3::ZERO, Geometry::centre);
        Linear::new(Kind::Translation, Dimension::Three, centre, map)
    }
}

/// Whether a transform is one of 2-D images.
fn of_plane(part: &Transform) -> bool {
    match part {
        Transform::Linear(linear) => linear.dimension == Dimension::Two,
        Transform::Field(field) => field.geometry.dimensions() == 2,
        // A mesh or chain between slices in space cannot be distinguished from others.
        Transform::Mesh(_) | Transform::Chain(_) => false,
    }
}
