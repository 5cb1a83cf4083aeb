//! The centre of mass and the principal axes of an image.

use crate::Volume;
use crate::transform::Dimension;
use glam::{DMat3, DVec3};

/// Moments of the intensities above the lowest one, LPS mm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// The centre of mass; the centre of the grid for a constant volume.
    pub centre: DVec3,
    /// The covariance about the centre, mm^2.
    spread: DMat3,
}

impl Moments {
    pub fn of(volume: &Volume) -> Self {
        let (low, _) = volume.range();
        let [width, height, _] = volume.geometry.size;
        // Sums are taken about the grid's centre: squares of large indices would cost precision.
        let middle = DVec3::from_array(volume.geometry.size.map(|n| (n as f64 - 1.0) / 2.0));
        let (mut mass, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
        for (row, voxels) in volume.voxels.chunks_exact(width).enumerate() {
            let (mut sum, mut along, mut square) = (0.0, 0.0, 0.0);
            for (x, voxel) in voxels.iter().enumerate() {
                let above = f64::from(voxel - low);
                let x = x as f64 - middle.x;
                sum += above;
                along += above * x;
                square += above * x * x;
            }
            let y = (row % height) as f64 - middle.y;
            let z = (row / height) as f64 - middle.z;
            mass += sum;
            first += DVec3::new(along, sum * y, sum * z);
            let [xy, xz, yz] = [along * y, along * z, sum * y * z];
            second += DMat3::from_cols_array(&[square, xy, xz, xy, sum * y * y, yz, xz, yz, sum * z * z]);
        }
        if mass <= 0.0 {
            return Self { centre: volume.geometry.centre(), spread: DMat3::IDENTITY };
        }
        let mean = first / mass;
        let outer = DMat3::from_cols(mean * mean.x, mean * mean.y, mean * mean.z);
        let to_world = volume.geometry.index_to_world();
        let axes = to_world.matrix3;
        Self {
            centre: to_world.transform_point3(middle + mean),
            spread: axes * (second * mass.recip() - outer) * axes.transpose(),
        }
    }

    /// Returns the principal axes as the columns of a rotation, the longest first.
    pub fn axes(&self) -> DMat3 {
        axes(self.spread)
    }

    /// Returns the rotations that align these principal axes with those of `other`. An axis has no sense of direction,
    /// so there are four in 3-D and two in 2-D.
    pub fn rotations_to(&self, other: &Self, dimension: Dimension) -> Vec<DMat3> {
        let (from, to) = (axes(self.spread), axes(other.spread));
        let turns = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]].map(|[x, y]| {
            let signed = DMat3::from_cols(to.x_axis * x, to.y_axis * y, to.z_axis * (x * y));
            signed * from.transpose()
        });
        // In 2-D the z axis stays.
        let stays = |turn: &DMat3| dimension == Dimension::Three || turn.z_axis.z > 0.5;
        turns.into_iter().filter(stays).collect()
    }
}

/// Returns the eigenvectors of a symmetric matrix as the columns of a rotation, largest eigenvalue first, by Jacobi's
/// method.
fn axes(mut matrix: DMat3) -> DMat3 {
    let mut vectors = DMat3::IDENTITY;
    for _ in 0..12 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let off = matrix.col(q)[p];
            if off == 0.0 {
                continue;
            }
            let theta = 0.5 * libm::atan2(2.0 * off, matrix.col(q)[q] - matrix.col(p)[p]);
            let (sine, cosine) = libm::sincos(theta);
            let mut turn = DMat3::IDENTITY;
            turn.col_mut(p)[p] = cosine;
            turn.col_mut(q)[q] = cosine;
            turn.col_mut(q)[p] = sine;
            turn.col_mut(p)[q] = -sine;
            matrix = turn.transpose() * matrix * turn;
            vectors *= turn;
        }
    }
    let mut order = [0, 1, 2];
    order.sort_by(|&a, &b| matrix.col(b)[b].total_cmp(&matrix.col(a)[a]));
    let [first, second] = [vectors.col(order[0]), vectors.col(order[1])];
    DMat3::from_cols(first, second, first.cross(second))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transform::{Rigid, angle};
    use crate::{Geometry, PixelType};
    use glam::DAffine3;

    /// A box of 1 with a brighter end, moved by `pose`.
    fn bar(pose: DAffine3) -> Volume {
        let geometry = Geometry::axis_aligned([50, 52, 48], DVec3::new(2.0, 2.0, 2.2), DVec3::new(-50.0, -52.0, -52.0));
        let (back, to_world) = (pose.inverse(), geometry.index_to_world());
        let voxel = |n: usize| {
            let index = DVec3::new((n % 50) as f64, (n / 50 % 52) as f64, (n / 2600) as f64);
            let p = back.transform_point3(to_world.transform_point3(index));
            let inside = p.abs().cmplt(DVec3::new(30.0, 20.0, 10.0)).all();
            if inside { if p.x > 0.0 { 2.0 } else { 1.0 } } else { 0.0 }
        };
        Volume { geometry, voxels: (0..geometry.voxels()).map(voxel).collect(), pixel: PixelType::F32 }
    }

    #[test]
    fn the_centre_of_mass_is_where_the_mass_is() {
        let geometry = Geometry::axis_aligned([4, 5, 6], DVec3::new(1.0, 2.0, 3.0), DVec3::new(-1.0, 0.0, 10.0));
        let mut voxels = vec![-100.0; geometry.voxels()];
        voxels[1 + 4 * (2 + 5 * 3)] = 0.0;
        voxels[3 + 4 * (2 + 5 * 3)] = 0.0;
        let volume = Volume { geometry, voxels, pixel: PixelType::F32 };
        assert_eq!(Moments::of(&volume).centre, DVec3::new(1.0, 4.0, 19.0));
    }

    #[test]
    fn one_of_the_four_rotations_is_the_true_one() {
        let pose =
            Rigid { angles: DVec3::new(0.9, -1.3, 2.2), translation: DVec3::new(8.0, -5.0, 3.0), centre: DVec3::ZERO };
        let (fixed, moving) = (bar(DAffine3::IDENTITY), bar(pose.to_affine()));
        let turns = Moments::of(&fixed).rotations_to(&Moments::of(&moving), Dimension::Three);
        let off = turns.iter().map(|turn| angle(&(turn.transpose() * pose.to_affine().matrix3)).to_degrees());
        assert_eq!(turns.len(), 4);
        let nearest = off.fold(f64::INFINITY, f64::min);
        assert!(nearest < 3.0, "{nearest} degrees");
    }
}
