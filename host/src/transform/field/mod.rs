//! Displacement fields: transforms that say of every voxel of a grid how far it goes.

mod jacobian;
mod map;
#[cfg(test)]
mod tests;

use glam::DVec3;
use rayon::prelude::*;

use crate::Geometry;
use crate::threads::wanted;
pub use map::FieldMap;

/// A point p of the fixed image goes to p + u(p) in the moving image, LPS mm, with u known at the voxels of a grid.
///
/// Between voxel centres u is linear along each axis (trilinear). Beyond the outermost ones it is what it is at the nearest point of the
/// grid's box, so it is continuous everywhere. (ITK's DisplacementFieldTransform does the same inside the box and up to half a voxel beyond it;
/// farther out its displacements are 0.)
///
/// The grid of a 2-D image has one voxel along k, and displacements there have no part along z.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Where the voxels lie.
    pub geometry: Geometry,
    /// How far each voxel centre goes, LPS mm, i fastest, then j, then k; as many as the grid has voxels, all finite.
    pub vectors: Vec<[f32; 3]>,
}

impl Field {
    /// What `map`, of points in LPS mm, does at the voxels of `grid`.
    pub fn of(grid: &Geometry, map: impl Fn(DVec3) -> DVec3 + Sync) -> Self {
        Self::by_voxel(grid, |_, point| map(point))
    }

    /// The field that takes each voxel of `grid` to the point, LPS mm, that `map` makes of its number and its own point.
    pub(crate) fn by_voxel(grid: &Geometry, map: impl Fn(usize, DVec3) -> DVec3 + Sync) -> Self {
        let to_mm = grid.index_to_world();
        let [width, height, _] = grid.size;
        let mut vectors = vec![[0.0; 3]; grid.voxels()];
        let rows = vectors.par_chunks_mut(width).enumerate().take_any_while(|_| wanted());
        rows.for_each(|(row, vectors)| {
            let (y, z) = ((row % height) as f64, (row / height) as f64);
            for (x, vector) in vectors.iter_mut().enumerate() {
                let point = to_mm.transform_point3(DVec3::new(x as f64, y, z));
                *vector = (map(row * width + x, point) - point).as_vec3().to_array();
            }
        });
        Self { geometry: *grid, vectors }
    }

    /// u at a point, LPS mm; for many points see [`Field::map`].
    pub fn at(&self, point: DVec3) -> DVec3 {
        self.map().at(point)
    }

    /// Where a point goes, LPS mm; for many points see [`Field::map`].
    pub fn transform_point3(&self, point: DVec3) -> DVec3 {
        self.map().transform_point3(point)
    }

    /// This field first and `next` after it, on this field's grid. Another map, or another grid, is for [`Field::of`].
    pub fn then(&self, next: &Self) -> Self {
        let (first, next) = (self.map(), next.map());
        Self::of(&self.geometry, |point| next.transform_point3(first.transform_point3(point)))
    }

    /// The way back, on `grid`, which lies in the moving image: see [`FieldMap::back`].
    pub fn inverse(&self, grid: &Geometry) -> Self {
        let map = self.map();
        Self::of(grid, |point| map.back(point))
    }
}
