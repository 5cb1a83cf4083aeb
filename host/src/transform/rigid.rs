//! Rotation and translation about a fixed centre.

use glam::{DAffine3, DMat3, DVec3};

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
    /// The map that moves nothing.
    pub fn identity(centre: DVec3) -> Self {
        Self { angles: DVec3::ZERO, translation: DVec3::ZERO, centre }
    }

    /// As a matrix. Sines and cosines are `libm`'s, so that they are the same on every machine.
    pub fn to_affine(&self) -> DAffine3 {
        let [(sx, cx), (sy, cy), (sz, cz)] = self.angles.to_array().map(libm::sincos);
        let rotation_x = DMat3::from_cols_array(&[1.0, 0.0, 0.0, 0.0, cx, sx, 0.0, -sx, cx]);
        let rotation_y = DMat3::from_cols_array(&[cy, 0.0, -sy, 0.0, 1.0, 0.0, sy, 0.0, cy]);
        let rotation_z = DMat3::from_cols_array(&[cz, sz, 0.0, -sz, cz, 0.0, 0.0, 0.0, 1.0]);
        let rotation = rotation_z * rotation_x * rotation_y;
        DAffine3::from_mat3_translation(rotation, self.centre + self.translation - rotation * self.centre)
    }
}
