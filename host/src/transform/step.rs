//! Steps away from a transform, in millimetres: the parameters that optimizers see.
//!
//! A parameter is scaled so that one unit of it moves the points of the fixed image by 1 mm, as the root of the mean square over
//! its grid. A step length then means the same for rotations, scales, shears and translations, for a mouse and for an elephant.

use super::{Dimension, Kind, rotation};
use crate::Geometry;
use glam::{DAffine3, DMat3, DVec3};

/// The ways in which a transform of one kind can change.
#[derive(Debug, Clone, PartialEq)]
pub struct Steps {
    kind: Kind,
    dimension: Dimension,
    /// What turns and scales leave in place, LPS mm.
    centre: DVec3,
    /// Root mean square distances from the centre along x, y and z, mm.
    reach: DVec3,
}

impl Steps {
    /// About the middle of a grid, and for its size.
    pub fn new(kind: Kind, dimension: Dimension, grid: &Geometry) -> Self {
        let centre = grid.centre();
        // Along an axis of a box the mean square is a third of the square of half its length; each axis of the grid adds its own.
        let half = |axis: usize| 0.5 * grid.size[axis] as f64 * grid.spacing[axis];
        let along = |axis: usize| grid.direction.col(axis) * half(axis);
        let square = (0..3).map(|axis| along(axis) * along(axis)).sum::<DVec3>() / 3.0;
        Self { kind, dimension, centre, reach: square.to_array().map(libm::sqrt).into() }
    }

    /// How many parameters there are.
    pub fn count(&self) -> usize {
        self.kind.parameters(self.dimension)
    }

    /// The map of points of the fixed image for parameters in mm: translations, then rotations, scales and shears. It comes before
    /// the transform that it changes.
    pub fn map(&self, mm: &[f64]) -> DAffine3 {
        let axes = self.dimension.axes();
        let (shift, rest) = mm.split_at(axes);
        let shift = DVec3::new(shift[0], shift[1], shift.get(2).copied().unwrap_or(0.0));
        let matrix = match self.dimension {
            Dimension::Two => self.in_plane(rest),
            Dimension::Three => self.in_space(rest),
        };
        DAffine3::from_mat3_translation(matrix, self.centre + shift - matrix * self.centre)
    }

    fn in_space(&self, mm: &[f64]) -> DMat3 {
        if self.kind == Kind::Translation {
            return DMat3::IDENTITY;
        }
        let DVec3 { x, y, z } = self.reach;
        // What a turn about x moves lies along y and z.
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
}

/// The root mean square distance over a grid between where two maps take its points, mm.
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
        let [nx, ny, _] = grid.size;
        let to_world = grid.index_to_world();
        let square = |n: usize| {
            let p = to_world.transform_point3(DVec3::new((n % nx) as f64, (n / nx % ny) as f64, (n / nx / ny) as f64));
            map.transform_point3(p).distance_squared(p)
        };
        ((0..grid.voxels()).map(square).sum::<f64>() / grid.voxels() as f64).sqrt()
    }

    #[test]
    fn a_small_step_along_any_parameter_moves_the_grid_by_its_length() {
        let turned = rotation::euler(DVec3::new(0.2, 0.4, -0.6));
        let space =
            Geometry { size: [40, 30, 20], spacing: DVec3::new(1.0, 2.0, 4.5), origin: DVec3::ONE, direction: turned };
        let plane = Geometry::axis_aligned([60, 40, 1], DVec3::new(0.5, 2.0, 1.0), DVec3::new(5.0, 6.0, 0.0));
        for (dimension, grid) in [(Dimension::Three, space), (Dimension::Two, plane)] {
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
