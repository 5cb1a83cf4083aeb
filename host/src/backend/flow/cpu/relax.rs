//! Relaxes a field where it changes volumes too much. After the first round only voxels near such places are examined
//! again.

use super::task::FieldView;
use crate::image::voxel;
use crate::threads::should_continue;
use gpu::math::{field, flow};
use rayon::prelude::*;

/// See [`crate::backend::FieldOptimizer::relax`].
pub fn relax(size: [u32; 3], planes: &mut [f32], limits: [f32; 2], rounds: u32) {
    let voxels = FieldView { size, field: planes }.voxels();
    let mut near = Near { size, marks: vec![false; voxels] };
    let mut outside = outside_limits(&FieldView { size, field: planes }, 0..voxels as u32, limits);
    for _ in 0..rounds {
        if outside.is_empty() || !should_continue() {
            break;
        }
        let marked = near.of(&outside);
        let grid = FieldView { size, field: planes };
        // SAFETY: the voxel is in the grid.
        let relaxed = |&at: &u32| unsafe { field::relaxed(|i| grid.number(i), size, voxel(size, at as usize)) };
        let relaxed: Vec<_> = marked.par_iter().map(relaxed).collect();
        for (&at, moves) in marked.iter().zip(relaxed) {
            (0..3).for_each(|plane| planes[at as usize + plane * voxels] = moves[plane]);
        }
        // The Jacobian may have changed at the neighbours of relaxed voxels. This examines some more voxels than those.
        outside = self::outside_limits(&FieldView { size, field: planes }, near.of(&marked), limits);
    }
}

/// Those of `voxels` whose Jacobian determinant is outside the limits.
fn outside_limits(grid: &FieldView, voxels: impl IntoParallelIterator<Item = u32>, limits: [f32; 2]) -> Vec<u32> {
    // SAFETY: the voxel is in the grid.
    let jacobian = |at: u32| unsafe { field::jacobian(|i| grid.number(i), grid.size, voxel(grid.size, at as usize)) };
    voxels.into_par_iter().filter(|&at| flow::outside_limits(jacobian(at), limits)).collect()
}

/// Finds the voxels near given voxels, each once.
struct Near {
    size: [u32; 3],
    /// For every voxel of the grid, whether it was found already. All `false` between calls.
    marks: Vec<bool>,
}

impl Near {
    fn of(&mut self, voxels: &[u32]) -> Vec<u32> {
        let mut found = Vec::new();
        for &at in voxels {
            let [xs, ys, zs] = flow::around(voxel(self.size, at as usize), self.size);
            for (z, y) in (zs[0]..zs[1]).flat_map(|z| (ys[0]..ys[1]).map(move |y| (z, y))) {
                let row = self.size[0] * (y + self.size[1] * z);
                for at in row + xs[0]..row + xs[1] {
                    if !std::mem::replace(&mut self.marks[at as usize], true) {
                        found.push(at);
                    }
                }
            }
        }
        found.iter().for_each(|&at| self.marks[at as usize] = false);
        found
    }
}
