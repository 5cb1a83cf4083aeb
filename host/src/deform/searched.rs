//! Displacements that were searched for.

use super::levels;
use crate::image::Geometry;

/// One for each cell. Of two flows that meet, the way of the second.
pub struct Searched {
    pub planes: Vec<f32>,
    /// The cells.
    pub grid: Geometry,
}

impl Searched {
    /// The planes, their size, and how they lie on another grid: see [`crate::backend::Flow::take`].
    pub fn on(&self, grid: &Geometry) -> (&[f32], [usize; 3], [[f32; 3]; 2]) {
        (&self.planes, self.grid.size, levels::between(&self.grid, grid))
    }
}
