//! A mesh at every pixel of a picture.

use super::MeshMap;
use crate::Geometry;
use glam::{DVec2, DVec3};
use rayon::prelude::*;

impl MeshMap<'_> {
    /// How far the middle of each pixel of `grid`, the fixed picture's or another 2-D one, goes: LPS mm, i fastest.
    pub fn field(&self, grid: &Geometry) -> Vec<[f32; 2]> {
        let to_mm = grid.index_to_world();
        let [width, height, _] = grid.size;
        let pixel = |n: usize| {
            let at = DVec3::new((n % width) as f64, (n / width) as f64, 0.0);
            let point: DVec2 = to_mm.transform_point3(at).truncate();
            (self.forward(point) - point).as_vec2().to_array()
        };
        (0..width * height).into_par_iter().with_min_len(width).map(pixel).collect()
    }
}
