//! A mesh at every pixel of a picture.

use super::MeshMap;
use crate::Geometry;
use crate::transform::Field;

impl MeshMap<'_> {
    /// How far the middle of each pixel of `grid`, the fixed picture's or another 2-D one, goes.
    pub fn field(&self, grid: &Geometry) -> Field {
        Field::of(grid, |point| self.forward(point.truncate()).extend(point.z))
    }
}
