//! The result of the search for large displacements.

use super::levels;
use crate::backend::padded;
use crate::image::Geometry;
use gpu::math::field;
use std::sync::Arc;

/// A displacement for each cell of a grid. In symmetric mode, it is that of the second flow; the first one has its
/// opposite.
pub struct Displacements {
    /// The planes of the components along each axis, in units of cells.
    pub planes: Vec<f32>,
    /// The grid of the cells.
    pub grid: Geometry,
}

/// Displacements that a level begins with.
#[derive(Clone)]
pub struct Searched {
    pub displacements: Arc<Displacements>,
    /// The number of the level.
    pub level: usize,
    /// Displacements that the smoothing of the field leaves as they are, at this level and all finer ones.
    pub reference: Option<Arc<Displacements>>,
}

impl Searched {
    pub fn new(displacements: Displacements, level: usize) -> Self {
        Self { displacements: Arc::new(displacements), level, reference: None }
    }
}

impl Displacements {
    /// Makes them from the displacement of each cell, in cells.
    pub fn new(ways: &[[f32; 3]], grid: Geometry) -> Self {
        let planes = (0..3).flat_map(|axis: usize| ways.iter().map(move |way| way[axis])).collect();
        Self { planes, grid }
    }

    /// Returns the planes, their size, and how they lie on another grid: see [`crate::backend::Flow::take`].
    pub fn on(&self, grid: &Geometry) -> (&[f32], [usize; 3], [[f32; 3]; 2]) {
        (&self.planes, self.grid.size, levels::between(&self.grid, grid))
    }

    /// Returns a function from a position on another grid to the displacement there, both in voxels of that grid.
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
