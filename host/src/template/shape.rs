//! Averages the displacements of several images.

use crate::Geometry;
use crate::transform::Field;
use glam::{DAffine3, DVec3};
use rayon::prelude::*;

/// Averages the displacements of several images.
pub struct Mean {
    grid: Geometry,
    sums: Vec<DVec3>,
    count: f64,
}

impl Mean {
    pub fn new(grid: Geometry) -> Self {
        Self { grid, sums: vec![DVec3::ZERO; grid.voxels()], count: 0.0 }
    }

    /// Adds the displacements of one image. `rigid` is the rotation and translation of its map, which are removed.
    pub fn add(&mut self, field: &Field, rigid: &DAffine3) {
        let (to_mm, back) = (self.grid.index_to_world(), rigid.inverse());
        let [width, height, _] = self.grid.size;
        let rows = self.sums.par_chunks_mut(width).zip(field.vectors.par_chunks(width)).enumerate();
        rows.for_each(|(row, (sums, vectors))| {
            for (x, (sum, vector)) in sums.iter_mut().zip(vectors).enumerate() {
                let point = to_mm.transform_point3(DVec3::new(x as f64, (row % height) as f64, (row / height) as f64));
                let there = point + DVec3::from_array(vector.map(f64::from));
                *sum += back.transform_point3(there) - point;
            }
        });
        self.count += 1.0;
    }

    /// Returns the mean displacement field, and the mean and the largest length of its vectors, mm.
    pub fn field(self) -> (Field, [f64; 2]) {
        let Self { grid, sums, count } = self;
        let vectors: Vec<_> = sums.par_iter().map(|sum| (*sum / count).as_vec3().to_array()).collect();
        let length = |vector: &[f32; 3]| DVec3::from_array(vector.map(f64::from)).length();
        // Added up in voxel order, so that it has the same bits for any number of threads.
        let total: f64 = vectors.iter().map(length).sum();
        let largest = vectors.par_iter().map(length).reduce(|| 0.0, f64::max);
        let mean = total / vectors.len().max(1) as f64;
        (Field { geometry: grid, vectors }, [mean, largest])
    }
}
