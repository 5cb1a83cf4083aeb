//! Rotation and translation about a fixed centre.

use super::rotation;
use glam::{DAffine3, DVec3};

/// p -> R (p - centre) + centre + translation, LPS mm; R = Rz Rx Ry as in ITK's Euler3DTransform.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rigid {
    /// Rotation about x, y and z, radians.
    pub angles: DVec3,
    /// mm.
    pub translation: DVec3,
    /// The point that the rotation leaves in place, LPS mm.
    pub centre: DVec3,
}

impl Rigid {
    /// Returns the identity.
    pub fn identity(centre: DVec3) -> Self {
        Self { angles: DVec3::ZERO, translation: DVec3::ZERO, centre }
    }

    /// Returns the map as a matrix.
    pub fn to_affine(&self) -> DAffine3 {
        let rotation = rotation::euler(self.angles);
        DAffine3::from_mat3_translation(rotation, self.centre + self.translation - rotation * self.centre)
    }
}
