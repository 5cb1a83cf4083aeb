//! Displacement fields: transforms with a displacement for every voxel of a grid.

mod jacobian;
mod map;
#[cfg(test)]
mod tests;

use glam::DVec3;
use rayon::prelude::*;

use crate::Geometry;
use crate::threads::should_continue;
pub use map::FieldMap;

/// A point p of the fixed image goes to p + u(p) in the moving image, LPS mm, with u known at the voxels of a grid.
///
/// Between voxel centres u is linear along each axis (trilinear). Beyond the outermost ones it is that of the nearest
/// point of the grid's box, so it is continuous everywhere. (ITK's DisplacementFieldTransform does the same inside the
/// box and up to half a voxel beyond it; farther out its displacements are 0.)
///
/// The grid of a 2-D image has one voxel along k, and displacements there have no part along z.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Where the voxels lie.
    pub geometry: Geometry,
    /// The displacement of each voxel centre, LPS mm, i fastest, then j, then k: one for every voxel, all finite.
    pub vectors: Vec<[f32; 3]>,
}

impl Field {
    /// Samples `map`, of points in LPS mm, at the voxels of `grid`.
    pub fn of(grid: &Geometry, map: impl Fn(DVec3) -> DVec3 + Sync) -> Self {
        Self::by_voxel(grid, |_, point| map(point))
    }

    /// Makes the field that takes each voxel of `grid` to the point, LPS mm, that `map` returns for its index and its
    /// own point.
    pub(crate) fn by_voxel(grid: &Geometry, map: impl Fn(usize, DVec3) -> DVec3 + Sync) -> Self {
        let to_mm = grid.index_to_world();
        let [width, height, _] = grid.size;
        let mut vectors = vec![[0.0; 3]; grid.voxels()];
        let rows = vectors.par_chunks_mut(width).enumerate().take_any_while(|_| should_continue());
        rows.for_each(|(row, vectors)| {
            let (y, z) = ((row % height) as f64, (row / height) as f64);
            for (x, vector) in vectors.iter_mut().enumerate() {
                let point = to_mm.transform_point3(DVec3::new(x as f64, y, z));
                *vector = (map(row * width + x, point) - point).as_vec3().to_array();
            }
        });
        Self { geometry: *grid, vectors }
    }

    /// Returns u at a point, LPS mm; for many points see [`Field::map`].
    pub fn at(&self, point: DVec3) -> DVec3 {
        self.map().at(point)
    }

    /// Maps a point, LPS mm; for many points see [`Field::map`].
    pub fn transform_point3(&self, point: DVec3) -> DVec3 {
        self.map().transform_point3(point)
    }

    /// Returns the field that applies this one and then `next`, on this field's grid. For another map, or another grid,
    /// use [`Field::of`].
    pub fn then(&self, next: &Self) -> Self {
        let (first, next) = (self.map(), next.map());
        Self::of(&self.geometry, |point| next.transform_point3(first.transform_point3(point)))
    }

    /// Returns the inverse on `grid`, a grid in the moving image: see [`FieldMap::back`].
    pub fn inverse(&self, grid: &Geometry) -> Self {
        let map = self.map();
        Self::of(grid, |point| map.back(point))
    }
}
