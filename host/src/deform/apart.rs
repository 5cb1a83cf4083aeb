//! What a deformation does apart from its linear start.

use super::Deformation;
use crate::transform::{Field, Transform};
use crate::{PixelType, Volume};
use glam::{DMat3, DVec3};
use rayon::prelude::*;

impl Deformation {
    /// The deformation without its linear start: where the start is to be applied next to a point of the fixed image, on that image's grid.
    pub fn warp(&self) -> Field {
        let back = self.start.transform.to_affine().inverse();
        Field::by_voxel(&self.field.geometry, |voxel, point| {
            back.transform_point3(point + DVec3::from_array(self.field.vectors[voxel].map(f64::from)))
        })
    }

    /// [`Deformation::warp`] and then the start, which together are the whole.
    pub fn composite(&self) -> Transform {
        Transform::from(self.warp()).then(self.start.transform.clone())
    }

    /// The natural logarithm of the Jacobian determinant, start included and without it; NaN where the field folds.
    pub fn log_jacobians(&self) -> [Volume; 2] {
        let start = libm::log(self.stretch());
        [0.0, start].map(|less| {
            let log = |&jacobian: &f32| {
                if jacobian > 0.0 { (libm::log(f64::from(jacobian)) - less) as f32 } else { f32::NAN }
            };
            let voxels = self.jacobian.voxels.par_iter().map(log).collect();
            Volume { geometry: self.jacobian.geometry, voxels, pixel: PixelType::F32 }
        })
    }

    /// How many times larger than in the fixed image the start makes what lies in it; of pictures their areas.
    pub(super) fn stretch(&self) -> f64 {
        let matrix: DMat3 = self.start.transform.to_affine().matrix3;
        matrix.determinant().abs()
    }
}
