//! Maps points through a displacement field and through its inverse.

use glam::{DAffine3, DMat3, DVec3};

use super::Field;
use crate::Geometry;

/// The tolerance of the inverse, as a fraction of the smallest spacing.
const CLOSE: f64 = 1e-8;
/// The maximum number of steps of the inverse, and how often a step is halved at most.
const STEPS: usize = 60;
const HALVINGS: usize = 8;
/// The number of fixed-point steps with which the inverse begins.
const SUBSTITUTIONS: usize = 3;
/// The smallest determinant of the derivative, by magnitude, for which a Newton step is made.
const FLAT: f64 = 1e-6;

impl Field {
    /// Returns the field as a map of points, with what many points need prepared in advance.
    pub fn map(&self) -> FieldMap<'_> {
        FieldMap::new(self)
    }
}

/// A [`Field`] as a map of points.
pub struct FieldMap<'a> {
    field: &'a Field,
    to_voxel: DAffine3,
    /// The last voxel along each axis.
    last: DVec3,
    /// The tolerance of the inverse, mm.
    close: f64,
}

impl<'a> FieldMap<'a> {
    fn new(field: &'a Field) -> Self {
        let Geometry { size, spacing, .. } = field.geometry;
        let last = DVec3::from_array(size.map(|n| n as f64 - 1.0));
        Self { field, to_voxel: field.geometry.world_to_index(), last, close: CLOSE * spacing.min_element() }
    }

    // Inlined here and below: a call would lose the vector instructions that a loop over many points is compiled for.
    /// Returns u at a point, LPS mm.
    #[inline(always)]
    pub fn at(&self, point: DVec3) -> DVec3 {
        let (cell, part) = self.cell(point);
        let [x, y, z] = part.to_array();
        let edges = |k: usize| {
            let row = |j: usize| cell[4 * k + 2 * j].lerp(cell[4 * k + 2 * j + 1], x);
            row(0).lerp(row(1), y)
        };
        edges(0).lerp(edges(1), z)
    }

    /// Maps a point, LPS mm.
    #[inline(always)]
    pub fn transform_point3(&self, point: DVec3) -> DVec3 {
        point + self.at(point)
    }

    /// Returns whether a point lies in the box of the grid, which reaches half a voxel beyond the outermost voxel
    /// centres. Along an axis of one voxel every point does.
    pub fn holds(&self, point: DVec3) -> bool {
        let position = self.to_voxel.transform_point3(point);
        (0..3).all(|axis| self.last[axis] == 0.0 || (-0.5..=self.last[axis] + 0.5).contains(&position[axis]))
    }

    /// Returns the point that the field takes to `target`, LPS mm. It may lie beyond the grid. If there are several, it
    /// is one of them. If none is found, which can happen where the field folds, it is the point found that comes
    /// closest.
    ///
    /// This is Newton's method with the derivative of the trilinear field. A step that does not come closer is halved.
    /// If that does not help, or the derivative has no inverse, a fixed-point step p = target - u(p) is made.
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

    /// Returns Newton's step, which is to be subtracted, or `None` if the derivative has no inverse.
    fn newton(&self, point: DVec3, error: DVec3) -> Option<DVec3> {
        let derivative = DMat3::IDENTITY + self.slopes(point) * self.to_voxel.matrix3;
        (derivative.determinant().abs() > FLAT).then(|| derivative.inverse() * error)
    }

    /// Returns the change of u per voxel at a point, a column for each axis. Beyond the grid, u does not change across
    /// the border.
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
        DMat3::from_cols(along(0), along(1), along(2))
    }

    /// Returns u at the corners of the cell around a point, or around the nearest point of the grid, i fastest, and the
    /// position in the cell along each axis, 0 to 1.
    #[inline(always)]
    fn cell(&self, point: DVec3) -> ([DVec3; 8], DVec3) {
        let position = self.to_voxel.transform_point3(point).max(DVec3::ZERO).min(self.last);
        let [width, height, _] = self.field.geometry.size;
        let steps = [1, width, width * height];
        // An axis of one voxel has no next one.
        let next: [usize; 3] = std::array::from_fn(|axis| if self.last[axis] > 0.0 { steps[axis] } else { 0 });
        let first = (self.last - 1.0).max(DVec3::ZERO).min(position).to_array().map(|n| n as u32);
        let start = first[0] as usize + steps[1] * first[1] as usize + steps[2] * first[2] as usize;
        let first = DVec3::from_array(first.map(f64::from));
        let vectors = &self.field.vectors;
        let corner = |n: usize| {
            let at = start + (n & 1) * next[0] + (n >> 1 & 1) * next[1] + (n >> 2) * next[2];
            DVec3::from_array(vectors[at].map(f64::from))
        };
        (std::array::from_fn(corner), position - first)
    }
}
