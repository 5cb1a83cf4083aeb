//! Steps away from a transform, in millimetres: the parameters that optimizers see.
//!
//! A parameter is scaled so that one unit of it moves the points of the fixed image by 1 mm, as the root of the mean square over
//! its grid. A step length then means the same for rotations, scales, shears and translations, for a mouse and for an elephant.

use super::kind::{Dimension, Kind};
use super::rotation;
use crate::Geometry;
use glam::{DAffine3, DMat3, DVec3};

/// The parameters of steps for a transform of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Steps {
    kind: Kind,
    dimension: Dimension,
    /// The point that rotations and scales leave in place, LPS mm.
    centre: DVec3,
    /// Root mean square distances from the centre along x, y and z, mm.
    reach: DVec3,
}

impl Steps {
    /// Makes steps about the centre of a grid, scaled to its size.
    pub fn new(kind: Kind, dimension: Dimension, grid: &Geometry) -> Self {
        let centre = grid.centre();
        // Along an axis of a box, the mean square distance from the centre is a third of the square of half its length;
        // each axis of the grid adds its own.
        let half = |axis: usize| 0.5 * grid.size[axis] as f64 * grid.spacing[axis];
        let along = |axis: usize| grid.direction.col(axis) * half(axis);
        let square = (0..3).map(|axis| along(axis) * along(axis)).sum::<DVec3>() / 3.0;
        Self { kind, dimension, centre, reach: square.to_array().map(libm::sqrt).into() }
    }

    /// Returns the number of parameters.
    pub fn count(&self) -> usize {
        self.kind.parameters(self.dimension)
    }

    /// Returns the map of points of the fixed image for parameters in mm: translations, then rotations, scales and
    /// shears. It is applied before the transform that it changes.
    pub fn map(&self, mm: &[f64]) -> DAffine3 {
        let axes = self.dimension.axes();
        let (shift, rest) = mm.split_at(axes);
        let shift = DVec3::new(shift[0], shift[1], shift.get(2).copied().unwrap_or(0.0));
        let matrix = self.matrix(rest);
        DAffine3::from_mat3_translation(matrix, self.centre + shift - matrix * self.centre)
    }

    /// Returns the derivatives of [`Steps::map`] by each parameter, per mm: those of its matrix and of its translation.
    pub fn derivatives(&self, mm: &[f64]) -> Vec<DAffine3> {
        let (shift, rest) = mm.split_at(self.dimension.axes());
        let shifts = DVec3::AXES.into_iter().map(|axis| DAffine3 { matrix3: DMat3::ZERO, translation: axis });
        let about_centre = |matrix3| DAffine3 { matrix3, translation: -(matrix3 * self.centre) };
        shifts.take(shift.len()).chain(self.matrix_derivatives(rest).into_iter().map(about_centre)).collect()
    }

    fn matrix(&self, mm: &[f64]) -> DMat3 {
        match self.dimension {
            Dimension::Two => self.in_plane(mm),
            Dimension::Three => self.in_space(mm),
        }
    }

    fn in_space(&self, mm: &[f64]) -> DMat3 {
        if self.kind == Kind::Translation {
            return DMat3::IDENTITY;
        }
        let DVec3 { x, y, z } = self.reach;
        // A rotation about x moves points by their distance from the x axis, along y and z.
        let turn = |n: usize, a: f64, b: f64| mm[n] / libm::hypot(a, b);
        let rotation = rotation::exponential(DVec3::new(turn(0, y, z), turn(1, z, x), turn(2, x, y)));
        match self.kind {
            Kind::Translation | Kind::Rigid => rotation,
            Kind::Similarity => rotation * libm::exp(mm[3] / self.reach.length()),
            Kind::Affine => {
                let [xy, yz, zx] = [turn(6, x, y), turn(7, y, z), turn(8, z, x)];
                let [xx, yy, zz] = [mm[3] / x, mm[4] / y, mm[5] / z];
                rotation * (DMat3::IDENTITY + DMat3::from_cols_array(&[xx, xy, zx, xy, yy, yz, zx, yz, zz]))
            }
        }
    }

    fn in_plane(&self, mm: &[f64]) -> DMat3 {
        if self.kind == Kind::Translation {
            return DMat3::IDENTITY;
        }
        let DVec3 { x, y, .. } = self.reach;
        let both = libm::hypot(x, y);
        let rotation = rotation::plane(mm[0] / both);
        let scale = |x: f64, y: f64, xy: f64| DMat3::from_cols_array(&[x, xy, 0.0, xy, y, 0.0, 0.0, 0.0, 1.0]);
        match self.kind {
            Kind::Translation | Kind::Rigid => rotation,
            Kind::Similarity => {
                let grown = libm::exp(mm[1] / both);
                rotation * scale(grown, grown, 0.0)
            }
            Kind::Affine => rotation * scale(1.0 + mm[1] / x, 1.0 + mm[2] / y, mm[3] / both),
        }
    }

    /// Returns the derivatives of the matrix, which is a rotation times a stretch, by its parameters.
    fn matrix_derivatives(&self, mm: &[f64]) -> Vec<DMat3> {
        if self.kind == Kind::Translation {
            return Vec::new();
        }
        let matrix = self.matrix(mm);
        let turns = self.turns();
        let turn = turns.iter().zip(mm).map(|(&turn, &mm)| turn * mm).sum();
        let jacobian = rotation::left_jacobian(turn);
        let turned = turns.iter().map(|&turn| rotation::cross(jacobian * turn) * matrix);
        let stretched = match self.kind {
            Kind::Translation | Kind::Rigid => Vec::new(),
            Kind::Similarity => vec![matrix * self.growth()],
            Kind::Affine => self.stretches().into_iter().map(|by| rotation::exponential(turn) * by).collect(),
        };
        turned.chain(stretched).collect()
    }

    /// Returns what 1 mm of each rotation adds to the rotation's vector, radians.
    fn turns(&self) -> Vec<DVec3> {
        let DVec3 { x, y, z } = self.reach;
        let [about_x, about_y] = [DVec3::X / libm::hypot(y, z), DVec3::Y / libm::hypot(z, x)];
        let about_z = DVec3::Z / libm::hypot(x, y);
        match self.dimension {
            Dimension::Two => vec![about_z],
            Dimension::Three => vec![about_x, about_y, about_z],
        }
    }

    /// Returns what 1 mm of a similarity's scale adds to the matrix, as a factor of the matrix.
    fn growth(&self) -> DMat3 {
        match self.dimension {
            Dimension::Two => DMat3::from_diagonal((DVec3::X + DVec3::Y) / self.reach.truncate().length()),
            Dimension::Three => DMat3::IDENTITY / self.reach.length(),
        }
    }

    /// Returns what 1 mm of each scale and shear adds to the stretch of an affine map.
    fn stretches(&self) -> Vec<DMat3> {
        let DVec3 { x, y, z } = self.reach;
        let stretch = |row: usize, column: usize, reach: f64| {
            let mut matrix = DMat3::ZERO;
            matrix.col_mut(column)[row] = reach.recip();
            matrix.col_mut(row)[column] = reach.recip();
            matrix
        };
        let shear = |row: usize, column: usize| stretch(row, column, libm::hypot(self.reach[row], self.reach[column]));
        match self.dimension {
            Dimension::Two => vec![stretch(0, 0, x), stretch(1, 1, y), shear(0, 1)],
            Dimension::Three => {
                vec![stretch(0, 0, x), stretch(1, 1, y), stretch(2, 2, z), shear(0, 1), shear(1, 2), shear(2, 0)]
            }
        }
    }
}

/// Returns the root mean square distance, mm, between where two maps take the points of a grid.
pub fn distance(a: &DAffine3, b: &DAffine3, grid: &Geometry) -> f64 {
    let centre = grid.centre();
    let apart = a.transform_point3(centre) - b.transform_point3(centre);
    let matrix = a.matrix3 - b.matrix3;
    let along = |axis: usize| matrix * grid.direction.col(axis) * (0.5 * grid.size[axis] as f64 * grid.spacing[axis]);
    let square = apart.length_squared() + (0..3).map(|axis| along(axis).length_squared()).sum::<f64>() / 3.0;
    libm::sqrt(square)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The root mean square distance by which a map moves the voxels of a grid.
    fn moved(map: &DAffine3, grid: &Geometry) -> f64 {
        let to_world = grid.index_to_world();
        let square = |n: usize| {
            let p = to_world.transform_point3(grid.index_of(n).map(|i| i as f64).into());
            map.transform_point3(p).distance_squared(p)
        };
        ((0..grid.voxels()).map(square).sum::<f64>() / grid.voxels() as f64).sqrt()
    }

    /// An oblique grid in space and one in the plane.
    fn grids() -> [(Dimension, Geometry); 2] {
        let turned = rotation::euler(DVec3::new(0.2, 0.4, -0.6));
        let space =
            Geometry { size: [40, 30, 20], spacing: DVec3::new(1.0, 2.0, 4.5), origin: DVec3::ONE, direction: turned };
        let plane = Geometry::axis_aligned([60, 40, 1], DVec3::new(0.5, 2.0, 1.0), DVec3::new(5.0, 6.0, 0.0));
        [(Dimension::Three, space), (Dimension::Two, plane)]
    }

    /// Near the identity, where the exponential has a removable singularity, and far from it.
    #[test]
    fn derivatives_are_those_of_central_differences() {
        for (dimension, grid) in grids() {
            for kind in [Kind::Translation, Kind::Rigid, Kind::Similarity, Kind::Affine] {
                let steps = Steps::new(kind, dimension, &grid);
                for far in [0.0, 1e-3, 1.0, 20.0] {
                    let mm: Vec<f64> = (0..steps.count()).map(|n| far * libm::sin(1.0 + n as f64)).collect();
                    let derivatives = steps.derivatives(&mm);
                    assert_eq!(derivatives.len(), steps.count());
                    for (parameter, derivative) in derivatives.iter().enumerate() {
                        let at = |by: f64| {
                            let mut mm = mm.clone();
                            mm[parameter] += by;
                            steps.map(&mm).to_cols_array()
                        };
                        let close = at(1e-3)
                            .iter()
                            .zip(at(-1e-3))
                            .zip(derivative.to_cols_array())
                            .all(|((above, below), derivative)| ((above - below) / 2e-3 - derivative).abs() < 1e-8);
                        assert!(close, "{kind:?}, {dimension:?}, {parameter}, {far} mm: {derivative}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_small_step_along_any_parameter_moves_the_grid_by_its_length() {
        for (dimension, grid) in grids() {
            for kind in [Kind::Translation, Kind::Rigid, Kind::Similarity, Kind::Affine] {
                let steps = Steps::new(kind, dimension, &grid);
                for parameter in 0..steps.count() {
                    let mut mm = vec![0.0; steps.count()];
                    mm[parameter] = 0.01;
                    let length = moved(&steps.map(&mm), &grid);
                    assert!((length - 0.01).abs() < 1e-4, "{kind:?}, {dimension:?}, {parameter}: {length} mm");
                    let distance = distance(&DAffine3::IDENTITY, &steps.map(&mm), &grid);
                    assert!((distance - length).abs() < 1e-4);
                }
            }
        }
    }
}
