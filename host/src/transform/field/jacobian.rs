//! The Jacobian determinants of displacement fields.

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use super::Field;

impl Field {
    /// Returns the Jacobian determinant at each voxel, the factor by which volumes grow: the determinant of the
    /// derivative of p + u(p) by p, in mm, by central differences, and by one-sided differences at borders. Along axes
    /// of one voxel u does not change. The determinant is negative where the field folds.
    pub fn jacobians(&self) -> Vec<f32> {
        self.each_jacobian().collect()
    }

    /// Returns the number of voxels around which the field folds: there the inverse is not unique.
    pub fn folds(&self) -> usize {
        self.each_jacobian().filter(|&jacobian| jacobian <= 0.0).count()
    }

    fn each_jacobian(&self) -> impl IndexedParallelIterator<Item = f32> {
        let by_mm = self.geometry.world_to_index().matrix3;
        (0..self.vectors.len()).into_par_iter().map(move |n| {
            let place = self.geometry.index_of(n);
            let [i, j, k] = [0, 1, 2].map(|axis| self.slope(place, axis));
            (DMat3::IDENTITY + DMat3::from_cols(i, j, k) * by_mm).determinant() as f32
        })
    }

    /// Returns the change of u per voxel along an axis.
    fn slope(&self, place: [usize; 3], axis: usize) -> DVec3 {
        let along = |n: usize| {
            let mut there = place;
            there[axis] = n;
            self.vector(there)
        };
        let (low, high) = (place[axis].saturating_sub(1), (place[axis] + 1).min(self.geometry.size[axis] - 1));
        match high - low {
            0 => DVec3::ZERO,
            voxels => (along(high) - along(low)) / voxels as f64,
        }
    }

    fn vector(&self, voxel: [usize; 3]) -> DVec3 {
        DVec3::from_array(self.vectors[self.geometry.number_of(voxel)].map(f64::from))
    }
}
