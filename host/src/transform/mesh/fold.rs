//! The area ratios of triangles, which show whether they fold.

use super::{Mesh, corners, twice_area};

impl Mesh {
    /// Returns the area of each triangle in the moving picture over that in the fixed one; 0 or less if it is folded.
    pub fn area_ratios(&self) -> impl Iterator<Item = f64> {
        let area = |points, triangle| twice_area(corners(points, triangle));
        self.triangles.iter().map(move |triangle| area(&self.moving, triangle) / area(&self.fixed, triangle))
    }

    /// Returns the smallest of [`Mesh::area_ratios`]: above 0 if no triangle is folded.
    pub fn least_area_ratio(&self) -> f64 {
        self.area_ratios().fold(f64::INFINITY, f64::min)
    }
}

#[cfg(test)]
mod tests {
    use crate::transform::Mesh;
    use glam::DVec2;

    #[test]
    fn a_corner_taken_across_the_opposite_side_folds_its_triangle() {
        let fixed = [(0.0, 0.0), (2.0, 0.0), (0.0, 2.0), (2.0, 2.0)].map(DVec2::from).to_vec();
        let mut mesh = Mesh { moving: fixed.clone(), fixed, triangles: vec![[0, 1, 2], [1, 3, 2]] };
        assert_eq!(mesh.least_area_ratio(), 1.0);
        mesh.moving[3] = DVec2::splat(1.5);
        assert_eq!(mesh.area_ratios().collect::<Vec<_>>(), [1.0, 0.5]);
        mesh.moving[3] = DVec2::splat(1.0);
        assert_eq!(mesh.least_area_ratio(), 0.0);
        mesh.moving[3] = DVec2::splat(0.5);
        assert_eq!(mesh.least_area_ratio(), -0.5);
        mesh.triangles.iter_mut().for_each(|triangle| triangle.reverse());
        assert_eq!(mesh.least_area_ratio(), -0.5, "the sense of the fixed picture is what counts");
    }
}
