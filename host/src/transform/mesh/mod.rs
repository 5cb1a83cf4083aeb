//! Triangle meshes: piecewise-affine maps between two pictures (Lin & Medioni, section 4).

mod border;
mod check;
mod fold;
mod locate;
mod map;

use glam::DVec2;

pub(crate) use locate::Locator;
pub use map::MeshMap;

/// Triangles over the fixed picture, and where each of their corners lies in the moving one. Points are LPS mm in the plane z = 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Mesh {
    /// The corners in the fixed picture.
    pub fixed: Vec<DVec2>,
    /// The same corners in the moving picture.
    pub moving: Vec<DVec2>,
    /// The numbers of each triangle's three corners; all triangles have the same orientation in the fixed picture.
    pub triangles: Vec<[u32; 3]>,
}

/// Returns the corners of a triangle.
pub(crate) fn corners(points: &[DVec2], triangle: &[u32; 3]) -> [DVec2; 3] {
    triangle.map(|corner| points[corner as usize])
}

/// Returns twice the area of a triangle, with the sign of its orientation.
pub(crate) fn twice_area([a, b, c]: [DVec2; 3]) -> f64 {
    (b - a).perp_dot(c - a)
}
