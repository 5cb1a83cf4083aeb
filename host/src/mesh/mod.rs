//! Piecewise-affine maps between two pictures: Lin & Medioni, section 4.

use glam::DVec2;

/// Triangles over the fixed picture, and where each of their corners lies in the moving one. Points are LPS mm in the plane z = 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Mesh {
    /// The corners in the fixed picture.
    pub fixed: Vec<DVec2>,
    /// The same corners in the moving picture.
    pub moving: Vec<DVec2>,
    /// Numbers of three corners each, all in the same sense of rotation in the fixed picture.
    pub triangles: Vec<[u32; 3]>,
}
