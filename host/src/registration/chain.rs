//! The chain rule from the numbers of a voxel map to the parameters of a step.

use super::Sampled;
use crate::Geometry;
use crate::transform::Steps;
use glam::{DAffine3, DMat3};

/// From voxels of one grid to voxels of the other, through a transform that takes steps.
pub struct Chain<'a> {
    /// Of the sampled and of the interpolated image.
    pub grids: [&'a Geometry; 2],
    pub which: Sampled,
    /// What the steps come before: fixed point to moving point, LPS mm.
    pub base: &'a DAffine3,
    pub steps: &'a Steps,
}

impl Chain<'_> {
    /// The derivatives by the parameters, mm, of what has these by the numbers of the map.
    pub fn by_parameters(&self, by_map: &[[f64; 4]; 3], mm: &[f64]) -> Vec<f64> {
        let (outer, inner) = self.around(mm);
        let along = |change: &DAffine3| {
            let turned = outer * change.matrix3 * inner.matrix3;
            let shifted = outer * change.transform_point3(inner.translation);
            let row = |r: usize| {
                let [x, y, z, one] = by_map[r];
                x * turned.x_axis[r] + y * turned.y_axis[r] + z * turned.z_axis[r] + one * shifted[r]
            };
            row(0) + row(1) + row(2)
        };
        self.steps.derivatives(mm).iter().map(along).collect()
    }

    /// What a change of the step's map has after and before it in the change of the voxel map.
    fn around(&self, mm: &[f64]) -> (DMat3, DAffine3) {
        let [from, to] = self.grids;
        let (first, last) = (from.index_to_world(), to.world_to_index().matrix3);
        match self.which {
            Sampled::Fixed => (last * self.base.matrix3, first),
            // The change of an inverse: what is changed has the inverse on either side, and the other sign.
            Sampled::Moving => {
                let transform = *self.base * self.steps.map(mm);
                let back = self.which.from_sampled(&transform);
                (last * back.matrix3 * self.base.matrix3 * -1.0, back * first)
            }
        }
    }
}
