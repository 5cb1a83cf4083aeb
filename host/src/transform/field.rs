//! Displacement fields: transforms that say of every voxel of a grid how far it goes.

use glam::{DAffine3, DMat3, DVec3};
use rayon::prelude::*;

use crate::Geometry;

/// Part of the smallest voxel within which the way back is found.
const CLOSE: f64 = 1e-8;
/// Most steps on the way back, and most times that one of them is halved.
const STEPS: usize = 60;
const HALVINGS: usize = 8;
/// Steps of plain substitution with which the way back begins.
const SUBSTITUTIONS: usize = 3;
/// A map that shrinks volumes by this much has no direction in which to go.
const FLAT: f64 = 1e-6;

/// A point p of the fixed image goes to p + u(p) in the moving image, LPS mm, with u known at the voxels of a grid.
///
/// Between voxel centres u is linear along each axis (trilinear). Beyond the outermost ones it is what it is at the nearest point of the
/// grid's box, so it is continuous everywhere. (ITK's DisplacementFieldTransform does the same inside the box and up to half a voxel beyond it;
/// farther out its displacements are 0.)
///
/// The grid of a 2-D image has one voxel along k, and displacements there have no part along z.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Where the voxels lie.
    pub geometry: Geometry,
    /// How far each voxel centre goes, LPS mm, i fastest, then j, then k; as many as the grid has voxels, all finite.
    pub vectors: Vec<[f32; 3]>,
}

impl Field {
    /// What `map`, of points in LPS mm, does at the voxels of `grid`.
    pub fn of(grid: &Geometry, map: impl Fn(DVec3) -> DVec3 + Sync) -> Self {
        Self::by_voxel(grid, |_, _, point| map(point))
    }

    /// The field that takes each voxel of `grid` to the point, LPS mm, that `map` makes of its number, its index and its own point.
    pub(crate) fn by_voxel(grid: &Geometry, map: impl Fn(usize, DVec3, DVec3) -> DVec3 + Sync) -> Self {
        let to_mm = grid.index_to_world();
        let [width, height, _] = grid.size;
        let mut vectors = vec![[0.0; 3]; grid.voxels()];
        vectors.par_chunks_mut(width).enumerate().for_each(|(row, vectors)| {
            let (y, z) = ((row % height) as f64, (row / height) as f64);
            for (x, vector) in vectors.iter_mut().enumerate() {
                let index = DVec3::new(x as f64, y, z);
                let point = to_mm.transform_point3(index);
                *vector = (map(row * width + x, index, point) - point).as_vec3().to_array();
            }
        });
        Self { geometry: *grid, vectors }
    }

    /// The field as a map of points, which has at hand what many points need.
    pub fn map(&self) -> FieldMap<'_> {
        FieldMap::new(self)
    }

    /// u at a point, LPS mm; for many points see [`Field::map`].
    pub fn at(&self, point: DVec3) -> DVec3 {
        self.map().at(point)
    }

    /// Where a point goes, LPS mm; for many points see [`Field::map`].
    pub fn transform_point3(&self, point: DVec3) -> DVec3 {
        self.map().transform_point3(point)
    }

    /// This field first and `next` after it, on this field's grid. Another map, or another grid, is for [`Field::of`].
    pub fn then(&self, next: &Self) -> Self {
        let (first, next) = (self.map(), next.map());
        Self::of(&self.geometry, |point| next.transform_point3(first.transform_point3(point)))
    }

    /// The way back, on `grid`, which lies in the moving image: see [`FieldMap::back`].
    pub fn inverse(&self, grid: &Geometry) -> Self {
        let map = self.map();
        Self::of(grid, |point| map.back(point))
    }

    /// How many times larger the neighbourhood of each voxel becomes: the determinant of the derivative of p + u(p) by p, in mm, by
    /// central differences, and by differences to the one neighbour at borders. Nothing changes along axes of one voxel. Negative
    /// where the field folds.
    pub fn jacobians(&self) -> Vec<f32> {
        let by_mm = self.geometry.world_to_index().matrix3;
        let [width, height, _] = self.geometry.size;
        let mut jacobians = vec![0.0; self.vectors.len()];
        jacobians.par_chunks_mut(width).enumerate().for_each(|(row, jacobians)| {
            for (x, jacobian) in jacobians.iter_mut().enumerate() {
                let place = [x, row % height, row / height];
                let slopes = [0, 1, 2].map(|axis| self.slope(place, axis));
                *jacobian = (DMat3::IDENTITY + matrix(slopes) * by_mm).determinant() as f32;
            }
        });
        jacobians
    }

    /// How u changes from voxel to voxel along an axis.
    fn slope(&self, place: [usize; 3], axis: usize) -> DVec3 {
        let along = |n: usize| {
            let mut there = place;
            there[axis] = n;
            self.vector(there)
        };
        let (low, high) = (place[axis].saturating_sub(1), (place[axis] + 1).min(self.geometry.size[axis] - 1));
        match high - low {
            0 => DVec3::ZERO,
            voxels => (along(high) - along(low)) / voxels as f64,
        }
    }

    fn vector(&self, [i, j, k]: [usize; 3]) -> DVec3 {
        let [width, height, _] = self.geometry.size;
        DVec3::from_array(self.vectors[i + width * (j + height * k)].map(f64::from))
    }
}

/// A [`Field`] as a map of points.
pub struct FieldMap<'a> {
    field: &'a Field,
    to_voxel: DAffine3,
    /// The last voxel along each axis.
    last: DVec3,
    /// Mm within which the way back is found.
    close: f64,
}

impl<'a> FieldMap<'a> {
    fn new(field: &'a Field) -> Self {
        let Geometry { size, spacing, .. } = field.geometry;
        let last = DVec3::from_array(size.map(|n| n as f64 - 1.0));
        Self { field, to_voxel: field.geometry.world_to_index(), last, close: CLOSE * spacing.min_element() }
    }

    /// u at a point, LPS mm.
    pub fn at(&self, point: DVec3) -> DVec3 {
        let (cell, part) = self.cell(point);
        let [x, y, z] = part.to_array();
        let edges = |k: usize| {
            let row = |j: usize| cell[4 * k + 2 * j].lerp(cell[4 * k + 2 * j + 1], x);
            row(0).lerp(row(1), y)
        };
        edges(0).lerp(edges(1), z)
    }

    /// Where a point goes, LPS mm.
    pub fn transform_point3(&self, point: DVec3) -> DVec3 {
        point + self.at(point)
    }

    /// Whether a point lies in the box of the grid, which reaches half a voxel beyond the outermost voxel centres; along an axis of one
    /// voxel every point does.
    pub fn holds(&self, point: DVec3) -> bool {
        let position = self.to_voxel.transform_point3(point);
        (0..3).all(|axis| self.last[axis] == 0.0 || (-0.5..=self.last[axis] + 0.5).contains(&position[axis]))
    }

    /// The point that goes to `target`, LPS mm. It may lie beyond the grid. Where several go there it is one of them; where none is found,
    /// as can be where the field folds, it is the one found that comes nearest.
    ///
    /// Newton's method with the derivative of the trilinear field. A step that does not bring the point nearer is halved, and where that does not
    /// help or the derivative has no inverse the step is that of substitution, p = target - u(p).
    pub fn back(&self, target: DVec3) -> DVec3 {
        let off = |point: DVec3| self.transform_point3(point) - target;
        let mut point = (0..SUBSTITUTIONS).fold(target, |point, _| target - self.at(point));
        let mut error = off(point);
        let mut best = (error.length(), point);
        for _ in 0..STEPS {
            if best.0 <= self.close {
                break;
            }
            let newton = self.newton(point, error);
            let halves = (0..HALVINGS).map(|n| 0.5f64.powi(n as i32));
            let steps = newton.into_iter().flat_map(|step| halves.clone().map(move |part| point - part * step));
            let nearer = steps.map(|next| (next, off(next))).find(|(_, next)| next.length() < error.length());
            (point, error) = nearer.unwrap_or_else(|| (point - error, off(point - error)));
            if error.length() < best.0 {
                best = (error.length(), point);
            }
        }
        best.1
    }

    /// Newton's step, to be taken off; none where the derivative has no inverse.
    fn newton(&self, point: DVec3, error: DVec3) -> Option<DVec3> {
        let derivative = DMat3::IDENTITY + self.slopes(point) * self.to_voxel.matrix3;
        (derivative.determinant().abs() > FLAT).then(|| derivative.inverse() * error)
    }

    /// How u changes at a point from voxel to voxel along each axis, columns. Beyond the box it does not, across the border.
    fn slopes(&self, point: DVec3) -> DMat3 {
        let (cell, part) = self.cell(point);
        let position = self.to_voxel.transform_point3(point);
        let part = part.to_array();
        let along = |axis: usize| {
            if !(0.0..=self.last[axis]).contains(&position[axis]) {
                return DVec3::ZERO;
            }
            let (one, other) = ((axis + 1) % 3, (axis + 2) % 3);
            let edge = |a: usize, b: usize| {
                let from = (a << one) | (b << other);
                cell[from | (1 << axis)] - cell[from]
            };
            edge(0, 0).lerp(edge(1, 0), part[one]).lerp(edge(0, 1).lerp(edge(1, 1), part[one]), part[other])
        };
        matrix([0, 1, 2].map(along))
    }

    /// The corners of the cell around a point, or around the nearest point of the box, i fastest, and how far in it is along each axis.
    fn cell(&self, point: DVec3) -> ([DVec3; 8], DVec3) {
        let position = self.to_voxel.transform_point3(point).max(DVec3::ZERO).min(self.last);
        let first = position.floor().min(self.last - 1.0).max(DVec3::ZERO);
        let [width, height, _] = self.field.geometry.size;
        let steps = [1, width, width * height];
        // An axis of one voxel has no next one.
        let next: [usize; 3] = std::array::from_fn(|axis| if self.last[axis] > 0.0 { steps[axis] } else { 0 });
        let start = first.x as usize + steps[1] * first.y as usize + steps[2] * first.z as usize;
        let vectors = &self.field.vectors;
        let corner = |n: usize| {
            let at = start + (n & 1) * next[0] + (n >> 1 & 1) * next[1] + (n >> 2) * next[2];
            DVec3::from_array(vectors[at].map(f64::from))
        };
        (std::array::from_fn(corner), position - first)
    }
}

fn matrix([i, j, k]: [DVec3; 3]) -> DMat3 {
    DMat3::from_cols(i, j, k)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oblique, of anisotropic voxels.
    fn grid(size: [usize; 3]) -> Geometry {
        Geometry {
            size,
            spacing: DVec3::new(1.5, 2.0, 2.5),
            origin: DVec3::new(-12.0, 20.0, 5.0),
            direction: DMat3::from_rotation_z(0.4) * DMat3::from_rotation_x(-0.7),
        }
    }

    fn flat() -> Geometry {
        let direction = DMat3::from_rotation_z(0.4);
        Geometry {
            size: [14, 12, 1],
            spacing: DVec3::new(1.5, 2.0, 1.0),
            origin: DVec3::new(-12.0, 20.0, 0.0),
            direction,
        }
    }

    fn affine() -> DAffine3 {
        let matrix = DMat3::from_rotation_y(0.2) * DMat3::from_diagonal(DVec3::new(1.2, 0.9, 1.1));
        DAffine3::from_mat3_translation(matrix, DVec3::new(3.0, -2.0, 1.0))
    }

    /// Waves of a few mm.
    fn wave(point: DVec3) -> DVec3 {
        let sine = |v: DVec3| v.to_array().map(libm::sin).into();
        let turned: DVec3 = sine(point.yzx() / 9.0 + DVec3::new(0.3, 0.7, 1.1));
        point + 2.5 * turned
    }

    use glam::Vec3Swizzles;

    fn points(grid: &Geometry) -> impl Iterator<Item = DVec3> + use<> {
        let map = grid.index_to_world();
        let last = DVec3::from_array(grid.size.map(|n| n as f64 - 1.0));
        (0..200).map(move |n| {
            let part = DVec3::new(0.618, 0.755, 0.57) * f64::from(n);
            map.transform_point3(part.fract() * last)
        })
    }

    #[test]
    fn a_linear_map_is_kept_between_voxels() {
        for grid in [grid([9, 8, 7]), grid([5, 1, 4])] {
            let field = Field::of(&grid, |point| affine().transform_point3(point));
            for point in points(&grid) {
                let there = affine().transform_point3(point);
                assert!(field.transform_point3(point).distance(there) < 2e-6, "{point}");
            }
        }
    }

    #[test]
    fn beyond_the_grid_is_what_is_nearest() {
        let grid = grid([4, 3, 5]);
        let field = Field::of(&grid, wave);
        let (to_mm, last) = (grid.index_to_world(), DVec3::new(3.0, 2.0, 4.0));
        for index in [DVec3::new(-7.0, 1.3, 2.0), DVec3::new(3.4, 5.0, -0.2), DVec3::new(1.0, 1.0, 40.0)] {
            let nearest = to_mm.transform_point3(index.clamp(DVec3::ZERO, last));
            assert!(field.at(to_mm.transform_point3(index)).distance(field.at(nearest)) < 1e-9);
        }
        let corner = DVec3::from_array(field.vectors[59].map(f64::from));
        assert!(field.at(to_mm.transform_point3(DVec3::splat(99.0))).distance(corner) < 1e-12);
    }

    #[test]
    fn it_holds_half_a_voxel_more_than_its_centres() {
        let (grid, flat) = (grid([4, 3, 5]), flat());
        let holds = |grid: &Geometry, index: DVec3| {
            let field = Field::of(grid, |point| point);
            field.map().holds(grid.index_to_world().transform_point3(index))
        };
        assert!(holds(&grid, DVec3::new(-0.4, 2.4, 4.4)) && !holds(&grid, DVec3::new(-0.6, 0.0, 0.0)));
        assert!(!holds(&grid, DVec3::new(0.0, 0.0, 4.6)) && holds(&flat, DVec3::new(1.0, 1.0, 50.0)));
    }

    #[test]
    fn the_way_back_leads_back_inside_and_beyond() {
        for grid in [grid([14, 12, 10]), flat()] {
            let in_plane = |p: DVec3| if grid.is_flat() { wave(p).with_z(p.z) } else { wave(p) };
            let field = Field::of(&grid, in_plane);
            let map = field.map();
            for point in points(&grid).chain(grid.corners()).chain([DVec3::splat(500.0)]) {
                let miss = map.transform_point3(map.back(point)).distance(point);
                assert!(miss < 2e-8, "{point}: {miss}");
            }
            let wider = Geometry { size: grid.size.map(|n| if n > 1 { n + 4 } else { 1 }), ..grid };
            let back = field.inverse(&wider);
            let there = Field::of(&wider, |p| map.transform_point3(back.transform_point3(p)));
            assert!(there.vectors.as_flattened().iter().all(|u| u.abs() < 1e-5));
        }
    }

    #[test]
    fn the_way_back_of_steep_maps_is_found_too() {
        // Voxels along i are 8 mm apart on one side and 0.1 mm on the other, where substitution alone goes astray.
        let grid = Geometry::axis_aligned([21, 4, 4], DVec3::ONE, DVec3::ZERO);
        let steep = |p: DVec3| p.with_x(if p.x < 10.0 { 8.0 * p.x } else { 79.0 + 0.1 * p.x });
        let map = Field::of(&grid, steep);
        let map = map.map();
        for n in 0..=100 {
            let target = steep(DVec3::new(0.2 * f64::from(n), 1.5, 2.5));
            assert!(map.transform_point3(map.back(target)).distance(target) < 1e-6, "{target}");
        }
    }

    #[test]
    fn where_it_folds_the_way_back_is_near_and_finite() {
        let grid = Geometry::axis_aligned([12, 4, 4], DVec3::ONE, DVec3::ZERO);
        let folded = Field::of(&grid, |p| p.with_x(if p.x < 5.5 { p.x } else { 11.0 - p.x }));
        assert!(folded.jacobians().iter().any(|&j| j < 0.0));
        let back = folded.inverse(&grid);
        assert!(back.vectors.as_flattened().iter().all(|u| u.is_finite()));
    }

    #[test]
    fn jacobians_of_linear_and_bent_maps() {
        let expected = affine().matrix3.determinant() as f32;
        let field = Field::of(&grid([6, 5, 4]), |point| affine().transform_point3(point));
        assert!(field.jacobians().iter().all(|j| (j - expected).abs() < 1e-5));

        let flat = flat();
        let shrunk = DAffine3::from_scale(DVec3::new(0.5, 0.8, 1.0));
        let field = Field::of(&flat, |point| shrunk.transform_point3(point));
        assert!(field.jacobians().iter().all(|j| (j - 0.4).abs() < 1e-5));

        // x -> x + 0.01 x^2 has the derivative 1 + 0.02 x, which central differences find exactly, and one-sided ones half a voxel in.
        let grid = Geometry::axis_aligned([10, 3, 3], DVec3::splat(2.0), DVec3::ZERO);
        let jacobians = Field::of(&grid, |p| p.with_x(p.x + 0.01 * p.x * p.x)).jacobians();
        assert!(
            (jacobians[4] - 1.16).abs() < 1e-5
                && (jacobians[0] - 1.02).abs() < 1e-5
                && (jacobians[9] - 1.34).abs() < 1e-5
        );
    }

    #[test]
    fn one_after_the_other_and_on_another_grid() {
        let grid = grid([14, 12, 10]);
        let (first, next) = (Field::of(&grid, wave), Field::of(&grid, |p| affine().transform_point3(p)));
        let both = first.then(&next);
        for (n, vector) in both.vectors.iter().enumerate() {
            let place = DVec3::new((n % 14) as f64, (n / 14 % 12) as f64, (n / 168) as f64);
            let point = grid.index_to_world().transform_point3(place);
            let there = next.transform_point3(first.transform_point3(point));
            assert!((point + DVec3::from_array(vector.map(f64::from))).distance(there) < 1e-5);
        }
    }

    #[test]
    fn threads_change_no_bit() {
        let field = Field::of(&grid([14, 12, 10]), wave);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| (field.inverse(&field.geometry), field.jacobians()))
        };
        assert!(with(1) == with(5));
    }
}
