//! Solid shapes as signed distances in mm, negative inside, and how they blend.

use glam::Vec3;

/// About the distance of `p` to an ellipsoid's surface; exact at the surface.
pub fn ellipsoid(p: Vec3, centre: Vec3, radii: Vec3) -> f32 {
    let scaled = (p - centre) / radii;
    let (level, slope) = (scaled.length(), (scaled / radii).length());
    if slope > 0.0 { level * (level - 1.0) / slope } else { -radii.min_element() }
}

/// The distance of `p` to a rounded rod from `a` to `b`.
pub fn rod(p: Vec3, a: Vec3, b: Vec3, radius: f32) -> f32 {
    let (to_point, axis) = (p - a, b - a);
    let along = (to_point.dot(axis) / axis.length_squared()).clamp(0.0, 1.0);
    (to_point - axis * along).length() - radius
}

/// Both shapes, with a fillet of about `fillet` mm where they meet.
pub fn union(a: f32, b: f32, fillet: f32) -> f32 {
    let overlap = (fillet - (a - b).abs()).max(0.0);
    a.min(b) - overlap * overlap / (4.0 * fillet)
}

/// The first shape without the second, with a fillet of about `fillet` mm.
pub fn cut(a: f32, b: f32, fillet: f32) -> f32 {
    -union(-a, b, fillet)
}

/// The part of a voxel, 0 to 1, that lies inside a shape at `distance`, when voxels are about 1 mm.
pub fn coverage(distance: f32) -> f32 {
    (0.5 - distance * 0.8).clamp(0.0, 1.0)
}
