//! Solid shapes as signed distances in mm, negative inside, and how they blend.

use glam::Vec3;

/// Returns about the distance of `p` to the surface of an ellipsoid; it is exact at the surface.
pub fn ellipsoid(p: Vec3, centre: Vec3, radii: Vec3) -> f32 {
    let scaled = (p - centre) / radii;
    let (level, slope) = (scaled.length(), (scaled / radii).length());
    if slope > 0.0 { level * (level - 1.0) / slope } else { -radii.min_element() }
}

/// Returns the distance of `p` to a rounded rod from `a` to `b`.
pub fn rod(p: Vec3, a: Vec3, b: Vec3, radius: f32) -> f32 {
    let (to_point, axis) = (p - a, b - a);
    let along = (to_point.dot(axis) / axis.length_squared()).clamp(0.0, 1.0);
    (to_point - axis * along).length() - radius
}

/// Unites two shapes, with a fillet of about `fillet` mm where they meet.
pub fn union(a: f32, b: f32, fillet: f32) -> f32 {
    let overlap = (fillet - (a - b).abs()).max(0.0);
    a.min(b) - overlap * overlap / (4.0 * fillet)
}

/// Cuts the second shape out of the first one, with a fillet of about `fillet` mm.
pub fn cut(a: f32, b: f32, fillet: f32) -> f32 {
    -union(-a, b, fillet)
}

/// Returns the fraction of a voxel of about 1 mm, 0 to 1, that lies inside a shape at `distance`.
pub fn coverage(distance: f32) -> f32 {
    (0.5 - distance * 0.8).clamp(0.0, 1.0)
}
