//! Which corners of a mesh are neighbours.

use crate::transform::Mesh;
use glam::DVec2;
use std::collections::BTreeSet;

/// The edges of a mesh.
pub struct Links {
    /// Both corners of each edge.
    pub edges: Vec<[usize; 2]>,
    /// Edges of each corner, 2 or more.
    pub degrees: Vec<f64>,
}

impl Links {
    pub fn new(mesh: &Mesh) -> Self {
        let of = |&[a, b, c]: &[u32; 3]| [(a, b), (b, c), (c, a)].map(|(a, b)| [a.min(b), a.max(b)]);
        let edges: BTreeSet<[u32; 2]> = mesh.triangles.iter().flat_map(of).collect();
        let edges: Vec<[usize; 2]> = edges.into_iter().map(|edge| edge.map(|corner| corner as usize)).collect();
        let mut degrees = vec![0.0; mesh.fixed.len()];
        edges.iter().flatten().for_each(|&corner| degrees[corner] += 1.0);
        Self { edges, degrees }
    }

    /// Returns the mean of each vector and the mean of its neighbours (a damped Jacobi iteration).
    pub fn smoothed(&self, vectors: &[DVec2]) -> Vec<DVec2> {
        self.means(vectors).iter().zip(vectors).map(|(&mean, &own)| 0.5 * (own + mean)).collect()
    }

    /// Returns the mean of each vector's neighbours.
    pub fn means(&self, vectors: &[DVec2]) -> Vec<DVec2> {
        let mut sums = vec![DVec2::ZERO; vectors.len()];
        for &[a, b] in &self.edges {
            sums[a] += vectors[b];
            sums[b] += vectors[a];
        }
        sums.iter().zip(&self.degrees).map(|(&sum, degree)| sum / degree).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_counted_once_and_smoothing_keeps_what_is_even() {
        let fixed = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)].map(DVec2::from).to_vec();
        let links = Links::new(&Mesh { moving: fixed.clone(), fixed, triangles: vec![[0, 1, 2], [1, 3, 2]] });
        assert_eq!(links.edges, [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]]);
        assert_eq!(links.degrees, [2.0, 3.0, 3.0, 2.0]);
        assert_eq!(links.smoothed(&[DVec2::ONE; 4]), [DVec2::ONE; 4]);
        let one = [DVec2::ZERO, DVec2::ZERO, DVec2::ZERO, DVec2::X];
        assert_eq!(links.smoothed(&one), [DVec2::ZERO, DVec2::X / 6.0, DVec2::X / 6.0, DVec2::X / 2.0]);
    }
}
