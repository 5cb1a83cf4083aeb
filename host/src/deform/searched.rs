//! Displacements that were searched for.

use super::levels;
use crate::backend::padded;
use crate::image::Geometry;
use gpu::math::field;

/// One for each cell. Of two flows that meet, the way of the second.
pub struct Searched {
    pub planes: Vec<f32>,
    /// The cells.
    pub grid: Geometry,
    /// The number of the level, which begins with them.
    pub level: usize,
}

impl Searched {
    /// The planes, their size, and how they lie on another grid: see [`crate::backend::Flow::take`].
    pub fn on(&self, grid: &Geometry) -> (&[f32], [usize; 3], [[f32; 3]; 2]) {
        (&self.planes, self.grid.size, levels::between(&self.grid, grid))
    }

    /// The displacement at a position on another grid, both in voxels of that.
    pub fn on_positions(&self, grid: &Geometry) -> impl Fn([f32; 3]) -> [f32; 3] + Sync {
        let size = self.grid.size.map(|n| n as u32);
        let planes = padded(&self.planes, self.grid.size);
        let [first, ratio] = levels::between(&self.grid, grid);
        move |at| {
            let cell = [0, 1, 2].map(|axis: usize| first[axis] + at[axis] / ratio[axis]);
            // SAFETY: the closure checks its index, and the planes have their padding.
            let way = unsafe { field::at(|i| planes[i], size, cell) };
            [0, 1, 2].map(|axis: usize| way[axis] * ratio[axis])
        }
    }
}
