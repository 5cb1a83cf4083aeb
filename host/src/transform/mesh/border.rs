//! The outline of a mesh.

use super::Mesh;
use glam::DVec2;
use std::collections::BTreeMap;

/// Returns the edges that belong to one triangle only, each as its two corners.
pub fn edges(mesh: &Mesh) -> Vec<[u32; 2]> {
    let mut seen: BTreeMap<[u32; 2], u32> = BTreeMap::new();
    for [a, b, c] in &mesh.triangles {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            *seen.entry([*from.min(to), *from.max(to)]).or_default() += 1;
        }
    }
    seen.into_iter().filter(|&(_, times)| times == 1).map(|(edge, _)| edge).collect()
}

/// Returns the point of the edge from `a` to `b` that is nearest to `point`, as a fraction of the way from `a` to `b`.
pub fn nearest(point: DVec2, a: DVec2, b: DVec2) -> f64 {
    let along = b - a;
    ((point - a).dot(along) / along.length_squared()).clamp(0.0, 1.0)
}
