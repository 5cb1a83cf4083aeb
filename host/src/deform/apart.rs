//! Separates a deformation into its linear start and the rest.

use super::Deformation;
use crate::transform::{Field, Transform};
use crate::{PixelType, Volume};
use glam::DVec3;
use rayon::prelude::*;

impl Deformation {
    /// Returns the deformation without its linear start, on the fixed image's grid: the field that is to be applied
    /// before the start.
    pub fn warp(&self) -> Field {
        let back = self.start.transform.to_affine().inverse();
        Field::by_voxel(&self.field.geometry, |voxel, point| {
            back.transform_point3(point + DVec3::from_array(self.field.vectors[voxel].map(f64::from)))
        })
    }

    /// Returns the whole deformation as a chain: [`Deformation::warp`], then the linear start.
    pub fn composite(&self) -> Transform {
        Transform::from(self.warp()).then(self.start.transform.clone())
    }

    /// Returns the natural logarithm of the Jacobian determinant, first with the start included and then without it;
    /// NaN where the field folds.
    pub fn log_jacobians(&self) -> [Volume; 2] {
        let start = libm::log(self.start.transform.to_affine().matrix3.determinant().abs());
        [0.0, start].map(|less| {
            let log = |&jacobian: &f32| {
                if jacobian > 0.0 { (libm::log(f64::from(jacobian)) - less) as f32 } else { f32::NAN }
            };
            let voxels = self.jacobian.voxels.par_iter().map(log).collect();
            Volume { geometry: self.jacobian.geometry, voxels, pixel: PixelType::F32 }
        })
    }
}
