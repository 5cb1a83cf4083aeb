//! The objective of a mesh's gradient ascent: the mutual information of its triangles as a function of the corners in
//! the moving picture, and its gradient: Lin & Medioni, sections 2.2 and 4.

use super::Samples;
use super::links::Links;
use crate::backend::{ViolaEvaluator, ViolaValue};
use crate::transform::Mesh;
use crate::transform::mesh::corners;
use crate::{Geometry, Result};
use glam::{DMat3, DVec2, DVec3};
use gpu::params::Affine;

/// The weight of the regularisation, nats per square pixel of the moving picture by which neighbours move apart (the
/// mean over all edges). It is enough to take corners along that lie on no structure, and too little to hold others
/// back.
const STIFFNESS: f64 = 1e-3;
/// The fraction of a triangle's samples that must lie inside the moving picture for it to count, so that no triangle
/// gains by leaving.
const STAYS: f64 = 0.5;

/// A triangle with samples.
struct Patch {
    corners: [usize; 3],
    /// The weight of each corner at a pixel of the fixed picture: the factors of x and of y, and a constant.
    weights: [DVec3; 3],
    /// Its fraction of all samples.
    share: f64,
    samples: u32,
}

/// What is maximised: the mean mutual information of the triangles, weighted by their samples, minus the
/// regularisation. Corners are in pixels of the moving picture.
pub struct Objective<'a> {
    evaluator: Box<dyn ViolaEvaluator + 'a>,
    patches: Vec<Patch>,
    pub links: Links,
    /// The corners at the start of the ascent.
    rest: Vec<DVec2>,
}

impl<'a> Objective<'a> {
    /// Takes samples of the fixed picture's `grid`. `rest` are corners in pixels of the moving picture; moving them
    /// apart from there is what the regularisation penalises.
    pub fn new(
        evaluator: Box<dyn ViolaEvaluator + 'a>,
        samples: &Samples,
        mesh: &Mesh,
        grid: &Geometry,
        rest: Vec<DVec2>,
    ) -> Self {
        let to_pixels = grid.world_to_index();
        let patch = |(group, &triangle): (usize, &usize)| {
            let triangle = &mesh.triangles[triangle];
            let [a, b, c] = corners(&mesh.fixed, triangle).map(|point| {
                let pixel = to_pixels.transform_point3(point.extend(0.0));
                DVec3::new(pixel.x, pixel.y, 1.0)
            });
            let inverse = DMat3::from_cols(a, b, c).inverse();
            let samples_of_it = samples.count(group);
            Patch {
                corners: triangle.map(|corner| corner as usize),
                weights: [0, 1, 2].map(|row| inverse.row(row)),
                share: f64::from(samples_of_it) / samples.samples.len() as f64,
                samples: samples_of_it,
            }
        };
        let patches = samples.triangles.iter().enumerate().map(patch).collect();
        Self { evaluator, patches, links: Links::new(mesh), rest }
    }

    /// Returns the value alone.
    pub fn value(&mut self, corners: &[DVec2]) -> Result<f64> {
        let found = self.evaluator.values(&self.maps(corners))?;
        Ok(self.mean(found.iter()) - self.cost(corners))
    }

    /// Returns the value, the mean mutual information without the regularisation, and the derivative by each corner.
    pub fn slope(&mut self, corners: &[DVec2]) -> Result<(f64, f64, Vec<DVec2>)> {
        let found = self.evaluator.slopes(&self.maps(corners))?;
        let mut slope = self.cost_slope(corners);
        for (patch, (at, by_map)) in self.patches.iter().zip(&found) {
            if !patch.counts(at) {
                continue;
            }
            // The map is linear in the corners.
            for (&corner, weight) in patch.corners.iter().zip(patch.weights) {
                let along = |row: usize| weight.dot(DVec3::new(by_map[row][0], by_map[row][1], by_map[row][3]));
                slope[corner] += patch.share * DVec2::new(along(0), along(1));
            }
        }
        let mean = self.mean(found.iter().map(|(at, _)| at));
        Ok((mean - self.cost(corners), mean, slope))
    }

    /// Returns for each patch the map from pixels of the fixed picture to pixels of the moving one.
    fn maps(&self, corners: &[DVec2]) -> Vec<Affine> {
        let map = |patch: &Patch| {
            let row = |axis: usize| {
                let part = |corner: usize| patch.weights[corner] * corners[patch.corners[corner]][axis];
                let row = part(0) + part(1) + part(2);
                // Adding 0 makes a -0 a 0, so that no position is -0.
                [row.x as f32, row.y as f32, 0.0, row.z as f32 + 0.0]
            };
            Affine { rows: [row(0), row(1), [0.0, 0.0, 1.0, 0.0]] }
        };
        self.patches.iter().map(map).collect()
    }

    fn mean<'v>(&self, found: impl Iterator<Item = &'v ViolaValue>) -> f64 {
        let counted = self.patches.iter().zip(found).filter(|(patch, at)| patch.counts(at));
        counted.map(|(patch, at)| patch.share * at.mi).sum()
    }

    /// Returns how far the ends of an edge have moved apart.
    fn stretch(&self, corners: &[DVec2], [a, b]: [usize; 2]) -> DVec2 {
        (corners[a] - self.rest[a]) - (corners[b] - self.rest[b])
    }

    fn cost(&self, corners: &[DVec2]) -> f64 {
        let edges = &self.links.edges;
        let squares: f64 = edges.iter().map(|&edge| self.stretch(corners, edge).length_squared()).sum();
        STIFFNESS * squares / edges.len() as f64
    }

    /// Returns the derivative of the cost, negated.
    fn cost_slope(&self, corners: &[DVec2]) -> Vec<DVec2> {
        let mut slope = vec![DVec2::ZERO; corners.len()];
        for &edge in &self.links.edges {
            let pull = 2.0 * STIFFNESS / self.links.edges.len() as f64 * self.stretch(corners, edge);
            slope[edge[0]] -= pull;
            slope[edge[1]] += pull;
        }
        slope
    }
}

impl Patch {
    fn counts(&self, at: &ViolaValue) -> bool {
        f64::from(at.overlap[0] + at.overlap[1]) >= STAYS * f64::from(self.samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Backend, Exponentials, Sigmas, ViolaPair, cpu::Cpu};
    use crate::image::StoredImage;
    use crate::{PixelType, Volume};

    fn picture(phase: f64) -> Volume {
        let geometry = Geometry::axis_aligned([64, 48, 1], DVec3::ONE, DVec3::ZERO);
        let pixel = |n: usize| {
            let (x, y) = ((n % 64) as f64, (n / 64) as f64);
            (0.19 * x + phase).sin() + (0.23 * y + 0.05 * x - phase).cos()
        };
        Volume { geometry, voxels: (0..64 * 48).map(|n| pixel(n) as f32).collect(), pixel: PixelType::F32 }
    }

    /// Every sample lies at the same fractions of a pixel in the moving picture. So a small move of a corner takes none
    /// across a pixel, where the derivative of bilinear interpolation jumps.
    #[test]
    fn the_slope_is_what_central_differences_are() {
        let [fixed, moving] = [picture(0.0), picture(0.7)];
        let mesh = Mesh::build(&fixed, &glam::DAffine3::IDENTITY, Some(16.0), None).unwrap();
        let stored = [&fixed, &moving].map(|picture| StoredImage::new(picture, (-2.0, 2.0), 1024));
        let value = |pixel: usize, _| Some([f32::from(stored[0].values[pixel]), 0.0]);
        let samples = Samples::new(&mesh, &fixed.geometry, value);
        let pair = ViolaPair {
            samples: &samples.samples,
            groups: &samples.groups,
            moving: &stored[1],
            sigmas: Sigmas { fixed: 4000.0, moving: 5000.0, joint: None },
            exponentials: Exponentials::Exact,
        };
        let evaluator = Cpu.load_viola(pair).unwrap();
        let rest = mesh.moving.clone();
        let mut objective = Objective::new(evaluator, &samples, &mesh, &fixed.geometry, rest.clone());
        let at: Vec<DVec2> = rest.iter().map(|&point| point + DVec2::new(0.37, 0.42)).collect();
        let (value, mean, slope) = objective.slope(&at).unwrap();
        assert_eq!(objective.value(&at).unwrap(), value);
        assert!((mean - value - objective.cost(&at)).abs() < 1e-12);
        let largest = slope.iter().map(|slope| slope.abs().max_element()).fold(0.0, f64::max);
        for corner in 0..at.len() {
            for axis in 0..2 {
                let mut there = |by: f64| {
                    let mut there = at.clone();
                    there[corner][axis] += by;
                    objective.value(&there).unwrap()
                };
                let difference = (there(0.02) - there(-0.02)) / 0.04;
                let off = (slope[corner][axis] - difference).abs();
                assert!(off < 1e-3 * largest, "{} and {difference} at {corner}, {axis}", slope[corner][axis]);
            }
        }
    }
}
