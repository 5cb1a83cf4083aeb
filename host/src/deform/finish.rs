//! Fields and images from the planes of a flow.

use super::{Consistency, Deformation};
use crate::backend::Flow;
use crate::image::Geometry;
use crate::registration::voxel_map;
use crate::transform::Field;
use crate::{PixelType, Result, Volume};
use glam::{DAffine3, DVec3};
use rayon::prelude::*;

/// What a flow on the fixed image's grid makes of the two images.
pub struct Finish<'a> {
    pub fixed: &'a Geometry,
    pub moving: &'a Volume,
    pub start: &'a DAffine3,
}

/// What is made, as in [`Deformation`].
pub struct Parts {
    pub field: Field,
    pub inverse: Field,
    pub consistency: Consistency,
    pub moved: Volume,
    pub jacobian: Volume,
    pub jacobian_range: [f64; 2],
}

impl Finish<'_> {
    pub fn parts(&self, flow: &mut dyn Flow) -> Result<Parts> {
        let (fixed, moving) = (*self.fixed, self.moving.geometry);
        let there = voxel_map(&fixed, &moving, self.start);
        let back = voxel_map(&moving, &fixed, &self.start.inverse());
        let (to_mm, of_moving) = (fixed.index_to_world(), moving.index_to_world());

        let inverse = flow.inverse(moving.size, &there, &back)?;
        let to_fixed_voxels = fixed.world_to_index() * self.start.inverse() * of_moving;
        let way_back = |voxel: DVec3, way: DVec3| to_mm.transform_point3(to_fixed_voxels.transform_point3(voxel) + way);
        let inverse_field = field(&moving, &inverse.planes, way_back);

        let whole = *self.start * to_mm;
        let forward = field(&fixed, &flow.field()?, |voxel, way| whole.transform_point3(voxel + way));

        let voxels = flow.moved(self.moving, &there)?;
        let moved = Volume { geometry: fixed, voxels, pixel: self.moving.pixel };

        let stretch = self.start.matrix3.determinant().abs();
        let mut voxels = flow.jacobians()?;
        voxels.par_iter_mut().for_each(|jacobian| *jacobian = (f64::from(*jacobian) * stretch) as f32);
        let jacobian = Volume { geometry: fixed, voxels, pixel: PixelType::F32 };
        let (low, high) = jacobian.range();
        let consistency = Consistency { mean_mm: inverse.mean_mm, worst_mm: inverse.worst_mm };
        let jacobian_range = [low, high].map(f64::from);
        Ok(Parts { field: forward, inverse: inverse_field, consistency, moved, jacobian, jacobian_range })
    }
}

/// A field on a grid, of which `to` says where a voxel with its three numbers goes, LPS mm.
fn field(grid: &Geometry, planes: &[f32], to: impl Fn(DVec3, DVec3) -> DVec3 + Sync) -> Field {
    let [width, height, _] = grid.size;
    let voxels = grid.voxels();
    let to_mm = grid.index_to_world();
    let mut vectors = vec![[0.0; 3]; voxels];
    vectors.par_chunks_mut(width).enumerate().for_each(|(row, vectors)| {
        for (x, vector) in vectors.iter_mut().enumerate() {
            let number = row * width + x;
            let way = [0, 1, 2].map(|plane: usize| f64::from(planes[number + plane * voxels]));
            let voxel = DVec3::new(x as f64, (row % height) as f64, (row / height) as f64);
            *vector = (to(voxel, DVec3::from_array(way)) - to_mm.transform_point3(voxel)).as_vec3().to_array();
        }
    });
    Field { geometry: *grid, vectors }
}

impl Deformation {
    /// Whether nothing grave speaks against it.
    pub fn trusted(&self) -> bool {
        self.doubts.iter().all(|doubt| !doubt.grave)
    }
}
