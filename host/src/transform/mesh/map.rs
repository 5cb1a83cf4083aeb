//! Maps points through a mesh, in both directions.

use super::{Locator, Mesh, border, corners};
use crate::Geometry;
use crate::transform::field::Field;
use glam::{DAffine2, DMat2, DVec2, DVec3};

/// The maximum number of steps by which a point outside the mesh is mapped back.
const STEPS: usize = 300;
/// How far off such a point may be in the moving picture, relative to its distance from the origin.
const CLOSE: f64 = 1e-13;

impl Mesh {
    /// Returns the mesh as a map of points, with what many points need prepared in advance.
    pub fn map(&self) -> MeshMap<'_> {
        MeshMap::new(self)
    }
}

/// A mesh as a map of points, prepared for many of them.
///
/// Inside the mesh each triangle has an affine map, and these are continuous across edges. Outside, a point is mapped
/// by the affine map that fits all corners best, plus a correction: the weighted mean, over all edges of the outline,
/// of how far the mesh differs from that affine map at the edge's nearest point. The weights are 1 over the fourth
/// power of the distance. So the map is continuous across the outline, and far away it approaches the affine map plus a
/// constant shift.
#[derive(Debug, Clone)]
pub struct MeshMap<'a> {
    mesh: &'a Mesh,
    fixed: Locator,
    moving: Locator,
    outline: Vec<[u32; 2]>,
    /// The affine map that fits the corners best, and its inverse.
    affine: DAffine2,
    back: DAffine2,
}

impl<'a> MeshMap<'a> {
    /// Prepares a mesh in which no triangle is folded: otherwise the inverse is not unique.
    pub fn new(mesh: &'a Mesh) -> Self {
        let affine = fit(&mesh.fixed, &mesh.moving);
        Self {
            mesh,
            fixed: Locator::new(&mesh.fixed, &mesh.triangles),
            moving: Locator::new(&mesh.moving, &mesh.triangles),
            outline: border::edges(mesh),
            affine,
            back: affine.inverse(),
        }
    }

    /// Maps a point of the fixed picture to the moving one; `None` outside the mesh.
    pub fn inside(&self, point: DVec2) -> Option<DVec2> {
        let place = self.fixed.find(point)?;
        Some(place.among(corners(&self.mesh.moving, &self.mesh.triangles[place.triangle])))
    }

    /// Maps a point of the fixed picture to the moving one.
    pub fn forward(&self, point: DVec2) -> DVec2 {
        self.inside(point).unwrap_or_else(|| self.beyond(point))
    }

    /// Maps a point of the moving picture to the fixed one. Inside the moved mesh this is the inverse of
    /// [`MeshMap::forward`]. Outside, the inverse is found by iteration; if the outline moves so unevenly that there is
    /// none, the result is the nearest point that was found.
    pub fn backward(&self, point: DVec2) -> DVec2 {
        match self.moving.find(point) {
            Some(place) => place.among(corners(&self.mesh.fixed, &self.mesh.triangles[place.triangle])),
            None => self.search(point),
        }
    }

    /// Maps a point of the fixed picture to the moving one, LPS mm; z is unchanged.
    pub fn transform_point3(&self, point: DVec3) -> DVec3 {
        self.forward(point.truncate()).extend(point.z)
    }

    /// Maps a point of the moving picture to the fixed one, LPS mm: see [`MeshMap::backward`]. z is unchanged.
    pub fn back(&self, point: DVec3) -> DVec3 {
        self.backward(point.truncate()).extend(point.z)
    }

    /// Samples the map as a displacement field on `grid`, that of the fixed picture or another 2-D one.
    pub fn field(&self, grid: &Geometry) -> Field {
        Field::of(grid, |point| self.transform_point3(point))
    }

    /// Maps a point outside the mesh.
    fn beyond(&self, point: DVec2) -> DVec2 {
        let (fixed, moving) = (&self.mesh.fixed, &self.mesh.moving);
        let (mut sum, mut weights) = (DVec2::ZERO, 0.0);
        for edge in &self.outline {
            let [a, b] = edge.map(|corner| corner as usize);
            let part = border::nearest(point, fixed[a], fixed[b]);
            let (from, to) = (fixed[a].lerp(fixed[b], part), moving[a].lerp(moving[b], part));
            let weight = from.distance_squared(point).powi(2).max(f64::MIN_POSITIVE).recip();
            sum += weight * (to - self.affine.transform_point2(from));
            weights += weight;
        }
        self.affine.transform_point2(point) + sum / weights
    }

    /// Inverts the map outside the mesh by fixed-point iteration: there it is affine plus a correction that changes
    /// slowly.
    fn search(&self, point: DVec2) -> DVec2 {
        let size = self.affine.matrix2.determinant().abs().sqrt();
        let close = CLOSE * (1.0 + point.length()) * size.max(1.0);
        let mut at = self.back.transform_point2(point);
        let mut best = (f64::INFINITY, at);
        for _ in 0..STEPS {
            let off = point - self.forward(at);
            if off.length() < best.0 {
                best = (off.length(), at);
            }
            if best.0 <= close {
                break;
            }
            at += self.back.transform_vector2(off);
        }
        best.1
    }
}

/// Fits the affine map that takes points to others, by least squares; a translation if the points lie on a line.
fn fit(from: &[DVec2], to: &[DVec2]) -> DAffine2 {
    let count = from.len().max(1) as f64;
    let mean = |points: &[DVec2]| points.iter().sum::<DVec2>() / count;
    let (source, target) = (mean(from), mean(to));
    let outer = |a: DVec2, b: DVec2| DMat2::from_cols(a * b.x, a * b.y);
    let sum = |to: &[DVec2], middle: DVec2| {
        from.iter().zip(to).fold(DMat2::ZERO, |sum, (&p, &q)| sum + outer(q - middle, p - source))
    };
    let square = sum(from, source);
    let matrix = match square.determinant() > f64::MIN_POSITIVE {
        true => sum(to, target) * square.inverse(),
        false => DMat2::IDENTITY,
    };
    DAffine2::from_mat2_translation(matrix, target - matrix * source)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells of 25 mm, each cut in two, whose corners were moved by up to 4 mm from an affine map.
    fn bent() -> Mesh {
        let fixed: Vec<DVec2> =
            (0..42).map(|n| DVec2::new((n % 7) as f64 * 25.0, (n / 7) as f64 * 25.0 + 20.0)).collect();
        let cells = (0..42).filter(|n| n % 7 < 6 && n / 7 < 5);
        let triangles = cells.flat_map(|n| [[n, n + 1, n + 7], [n + 1, n + 8, n + 7]]).collect();
        let start = DAffine2::from_angle(0.2) * DAffine2::from_translation(DVec2::new(12.0, -5.0));
        let moving = fixed.iter().map(|&point| start.transform_point2(point)).collect();
        let mut mesh = Mesh { fixed, moving, triangles };
        for (n, point) in (0..).zip(&mut mesh.moving) {
            *point += 4.0 * DVec2::new((f64::from(n) * 1.7).sin(), (f64::from(n) * 2.3).cos());
        }
        assert!(mesh.least_area_ratio() > 0.1);
        mesh
    }

    fn grid(from: DVec2, to: DVec2) -> impl Iterator<Item = DVec2> {
        (0..61 * 61).map(move |n| from + (to - from) * DVec2::new((n % 61) as f64, (n / 61) as f64) / 60.0)
    }

    #[test]
    fn points_come_back_from_everywhere() {
        let mesh = bent();
        let map = MeshMap::new(&mesh);
        let mut inside = 0;
        for point in grid(DVec2::new(-60.0, -30.0), DVec2::new(220.0, 210.0)) {
            let there = map.forward(point);
            if map.inside(point).is_some() {
                inside += 1;
                let back = map.backward(there);
                assert!(back.distance(point) < 1e-9, "{point} came back as {back}");
            }
            // Outside, several points may go to the same one.
            let again = map.forward(map.backward(there));
            assert!(again.distance(there) < 1e-9, "{there} became {again}");
        }
        assert!(inside > 500, "{inside}");
        assert!(mesh.fixed.iter().zip(&mesh.moving).all(|(f, m)| map.forward(*f).distance(*m) < 1e-9));
    }

    #[test]
    fn the_map_is_continuous_across_edges_and_the_outline() {
        let mesh = bent();
        let map = MeshMap::new(&mesh);
        for triangle in &mesh.triangles {
            let [a, b, c] = corners(&mesh.fixed, triangle);
            for part in [0.1, 0.5, 0.8] {
                let (on, across) = (a.lerp(b, part), (a + b - 2.0 * c).normalize() * 1e-9);
                let jump = map.forward(on + across).distance(map.forward(on - across));
                assert!(jump < 1e-7, "{jump} at {on}");
            }
        }
    }

    #[test]
    fn an_affine_mesh_is_that_affine_map_everywhere() {
        let mut mesh = bent();
        let affine = DAffine2::from_cols(DVec2::new(1.1, 0.2), DVec2::new(-0.1, 0.9), DVec2::new(30.0, -4.0));
        mesh.moving = mesh.fixed.iter().map(|&point| affine.transform_point2(point)).collect();
        let map = MeshMap::new(&mesh);
        for point in grid(DVec2::splat(-500.0), DVec2::splat(500.0)) {
            assert!(map.forward(point).distance(affine.transform_point2(point)) < 1e-9);
            assert!(map.backward(affine.transform_point2(point)).distance(point) < 1e-9);
        }
    }
}
