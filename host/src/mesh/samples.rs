//! Chooses the pixels by which each triangle is compared: Lin & Medioni, section 5.

use crate::Geometry;
use crate::backend::{Group, Sample};
use crate::threads::should_continue;
use crate::transform::Mesh;
use crate::transform::mesh::{Locator, corners};
use glam::DVec2;

/// The fewest pixels of a triangle. With fewer, the mutual information of its two halves is meaningless.
pub const LEAST: usize = 50;

/// The pixels of all triangles that have enough of them.
pub struct Samples {
    pub samples: Vec<Sample>,
    /// The moving picture's value at the position of each sample.
    pub moving: Vec<f32>,
    pub groups: Vec<Group>,
    /// The triangle of each group.
    pub triangles: Vec<usize>,
}

impl Samples {
    /// Takes the pixels of `grid` inside the mesh. `values` returns the values of both pictures, given the index of a
    /// pixel and its point in the moving picture, or `None` to leave it out. In scan-line order, the pixels of a
    /// triangle alternate between the sets A and B.
    pub fn new(mesh: &Mesh, grid: &Geometry, values: impl Fn(usize, DVec2) -> Option<[f32; 2]>) -> Self {
        let locator = Locator::new(&mesh.fixed, &mesh.triangles);
        let to_mm = grid.index_to_world();
        let [width, height, _] = grid.size;
        let mut members: Vec<Vec<(Sample, f32)>> = vec![Vec::new(); mesh.triangles.len()];
        for pixel in (0..width * height).take_while(|_| should_continue()) {
            let index = grid.index_of(pixel);
            let point = to_mm.transform_point3(index.map(|n| n as f64).into()).truncate();
            let Some(place) = locator.find(point) else { continue };
            let at = place.among(corners(&mesh.moving, &mesh.triangles[place.triangle]));
            if let Some([value, moving]) = values(pixel, at) {
                let sample = Sample { voxel: index.map(|n| n as u32), value };
                members[place.triangle].push((sample, moving));
            }
        }
        let mut new = Self { samples: Vec::new(), moving: Vec::new(), groups: Vec::new(), triangles: Vec::new() };
        let enough = members.iter().enumerate().filter(|(_, members)| members.len() >= LEAST);
        enough.for_each(|(triangle, members)| new.push(triangle, members));
        new
    }

    fn push(&mut self, triangle: usize, members: &[(Sample, f32)]) {
        let from = self.samples.len() as u32;
        let mut set = |skipped: usize| {
            let set = || members.iter().skip(skipped).step_by(2);
            self.samples.extend(set().map(|(sample, _)| sample));
            self.moving.extend(set().map(|(_, moving)| moving));
            self.samples.len() as u32
        };
        let (middle, end) = (set(0), set(1));
        self.groups.push(Group { a: from..middle, b: middle..end });
        self.triangles.push(triangle);
    }

    /// Returns the number of samples in a group.
    pub fn count(&self, group: usize) -> u32 {
        let Group { a, b } = &self.groups[group];
        b.end - a.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    #[test]
    fn a_triangle_has_its_pixels_by_turns() {
        let fixed: Vec<DVec2> = [(0.0, 0.0), (19.0, 0.0), (0.0, 9.0), (19.0, 9.0)].map(DVec2::from).into();
        let moving = fixed.iter().map(|&p| p + 100.0).collect();
        let mesh = Mesh { fixed, moving, triangles: vec![[0, 1, 2], [1, 3, 2]] };
        let grid = Geometry::axis_aligned([20, 10, 1], DVec3::ONE, DVec3::ZERO);
        let samples = Samples::new(&mesh, &grid, |pixel, at| {
            assert!(at.distance(DVec2::new(100.0 + (pixel % 20) as f64, 100.0 + (pixel / 20) as f64)) < 1e-9);
            Some([pixel as f32, 0.0])
        });
        assert_eq!((samples.samples.len(), samples.triangles.len()), (200, 2));
        let numbers = |set: &std::ops::Range<u32>| -> Vec<f32> {
            samples.samples[set.start as usize..set.end as usize].iter().map(|sample| sample.value).collect()
        };
        let Group { a, b } = &samples.groups[0];
        assert_eq!((&numbers(a)[..3], &numbers(b)[..3]), (&[0.0, 2.0, 4.0][..], &[1.0, 3.0, 5.0][..]));
        assert_eq!(samples.count(0), samples.groups[0].a.len() as u32 + samples.groups[0].b.len() as u32);
        // With half of the pixels unknown, what is left of one of them is too little.
        let left = Samples::new(&mesh, &grid, |pixel, _| (pixel % 20 < 8).then_some([0.0; 2]));
        assert_eq!(left.triangles, [0]);
    }
}
