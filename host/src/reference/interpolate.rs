//! Interpolates between voxels.

use super::position::{inside, position};
use super::spline::coefficients;
use crate::{Geometry, Volume};
use glam::{DAffine3, DVec3};
use ndarray::Array3;

/// The interpolation method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interpolator {
    /// The voxel whose centre is nearest; halves go up.
    Nearest,
    /// The eight neighbours, each weighted by a tent of one voxel's width along every axis.
    Linear,
    /// The 64 neighbours, each weighted along every axis by Keys's cubic convolution kernel with a = -1/2.
    CatmullRom,
    /// The cubic spline through the voxels: the 64 nearest coefficients, each weighted by a cubic B-spline along every
    /// axis.
    BSpline,
}

/// A volume prepared for interpolation. Beyond its border it is mirrored about the outermost voxel centres.
pub struct Samples {
    /// Voxels or, for [`Interpolator::BSpline`], coefficients, indexed `[k, j, i]`.
    values: Array3<f64>,
    size: [usize; 3],
    how: Interpolator,
}

impl Samples {
    /// Prepares `volume`, which must have as many voxels as its grid.
    pub fn new(volume: &Volume, how: Interpolator) -> Self {
        let size @ [nx, ny, nz] = volume.geometry.size;
        let voxel = |(z, y, x)| f64::from(volume.voxels[x + nx * (y + ny * z)]);
        let voxels = Array3::from_shape_fn((nz, ny, nx), voxel);
        let values = if how == Interpolator::BSpline { coefficients(voxels) } else { voxels };
        Self { values, size, how }
    }

    /// The intensity at a position in voxels, `None` outside. Cubic interpolation may leave the range of the voxels.
    pub fn value(&self, position: DVec3) -> Option<f64> {
        if !inside(position, self.size) {
            return None;
        }
        let last = DVec3::from_array(self.size.map(|n| n as f64 - 1.0));
        let position = position.clamp(DVec3::ZERO, last);
        Some(match self.how {
            Interpolator::Nearest => self.nearest(position),
            _ => self.weighted(position),
        })
    }

    /// The derivative of the linear interpolation along an axis at a position inside, in intensity per voxel: the
    /// difference between the values on the two faces of the cell of eight voxels around the position. It is 0 on the
    /// last voxel of the axis.
    pub fn linear_slope(&self, position: DVec3, axis: DVec3) -> f64 {
        let low = position + axis * (position.floor() - position);
        let ends = [low + axis, low].map(|face| self.value(face));
        if let [Some(high), Some(low)] = ends { high - low } else { 0.0 }
    }

    fn nearest(&self, position: DVec3) -> f64 {
        let [x, y, z] = (position + 0.5).floor().to_array().map(|n| n as usize);
        self.values[[z, y, x]]
    }

    /// The weighted sum over the neighbours.
    fn weighted(&self, position: DVec3) -> f64 {
        let [xs, ys, zs] = [0, 1, 2].map(|axis| taps(position[axis], self.size[axis], self.how));
        let mut sum = 0.0;
        for (z, in_z) in zs.into_iter().filter(|tap| tap.1 != 0.0) {
            for (y, in_y) in ys.into_iter().filter(|tap| tap.1 != 0.0) {
                for (x, in_x) in xs.into_iter().filter(|tap| tap.1 != 0.0) {
                    sum += in_x * in_y * in_z * self.values[[z, y, x]];
                }
            }
        }
        sum
    }
}

/// The four nearest samples of an axis, and their weights.
fn taps(position: f64, size: usize, how: Interpolator) -> [(usize, f64); 4] {
    [-1.0, 0.0, 1.0, 2.0].map(|step| {
        let tap = position.floor() + step;
        (mirrored(tap as isize, size), kernel(how, (position - tap).abs()))
    })
}

/// The index of the sample at `tap`, mirrored about the outermost centres as often as necessary.
fn mirrored(mut tap: isize, size: usize) -> usize {
    let last = size as isize - 1;
    if last == 0 {
        return 0;
    }
    while !(0..=last).contains(&tap) {
        tap = if tap < 0 { -tap } else { 2 * last - tap };
    }
    tap as usize
}

/// The weight of a sample at this distance, in voxels.
fn kernel(how: Interpolator, d: f64) -> f64 {
    match how {
        Interpolator::CatmullRom if d < 1.0 => 1.5 * d.powi(3) - 2.5 * d.powi(2) + 1.0,
        Interpolator::CatmullRom if d < 2.0 => -0.5 * d.powi(3) + 2.5 * d.powi(2) - 4.0 * d + 2.0,
        Interpolator::BSpline if d < 1.0 => 2.0 / 3.0 - d.powi(2) + 0.5 * d.powi(3),
        Interpolator::BSpline if d < 2.0 => (2.0 - d).powi(3) / 6.0,
        Interpolator::Linear if d < 1.0 => 1.0 - d,
        _ => 0.0,
    }
}

/// Resamples the moving image on `grid`, indexed `[k, j, i]`. `transform` maps points of the grid to points of
/// `moving`, in LPS mm. The result is NaN outside the image.
pub fn resample(moving: &Volume, grid: &Geometry, transform: &DAffine3, how: Interpolator) -> Array3<f64> {
    let [nx, ny, nz] = grid.size;
    let samples = Samples::new(moving, how);
    Array3::from_shape_fn((nz, ny, nx), |(z, y, x)| {
        samples.value(position(grid, &moving.geometry, transform, [x, y, z])).unwrap_or(f64::NAN)
    })
}

#[cfg(test)]
mod tests {
    use super::super::position::indices;
    use super::*;
    use crate::PixelType;
    use Interpolator::{BSpline, CatmullRom, Linear, Nearest};

    fn volume(size: [usize; 3], intensity: impl Fn(DVec3) -> f64) -> Volume {
        let geometry = Geometry::axis_aligned(size, DVec3::new(1.0, 2.0, 4.0), DVec3::ZERO);
        let index = |index: [usize; 3]| DVec3::from_array(index.map(|n| n as f64));
        let voxels = indices(size).map(|i| intensity(index(i)) as f32).collect();
        Volume { geometry, voxels, pixel: PixelType::F32 }
    }

    /// 100 i + 10 j + k, which linear interpolation reproduces.
    fn ramp() -> Volume {
        volume([3, 4, 2], |index| index.dot(DVec3::new(100.0, 10.0, 1.0)))
    }

    #[test]
    fn linear_keeps_a_ramp() {
        let (ramp, last) = (Samples::new(&ramp(), Linear), DVec3::new(2.0, 3.0, 1.0));
        for position in [DVec3::ZERO, last, DVec3::new(0.25, 1.5, 0.75), DVec3::new(2.0, 0.5, 1.0)] {
            let found = ramp.value(position).unwrap();
            assert!((found - position.dot(DVec3::new(100.0, 10.0, 1.0))).abs() < 1e-12, "{found} at {position}");
        }
        assert_eq!(ramp.value(last + 1e-6), None);
    }

    #[test]
    fn halves_go_up() {
        let ramp = Samples::new(&ramp(), Nearest);
        let at = |x: f64| ramp.value(DVec3::new(x, 2.4, 0.6));
        assert_eq!([0.49, 0.5, 1.49, 1.5].map(at), [Some(21.0), Some(121.0), Some(121.0), Some(221.0)]);
    }

    #[test]
    fn cubics_go_through_the_voxels() {
        for size in [[5, 4, 3], [2, 1, 6]] {
            let random = volume(size, |index| (index.dot(DVec3::new(7919.0, 1013.0, 31.0)) % 101.0).floor());
            for samples in [CatmullRom, BSpline].map(|how| Samples::new(&random, how)) {
                for (index, &voxel) in indices(size).zip(&random.voxels) {
                    let found = samples.value(DVec3::from_array(index.map(|n| n as f64))).unwrap();
                    assert!((found - f64::from(voxel)).abs() < 1e-12, "{:?} {found} at {index:?}", samples.how);
                }
            }
        }
    }

    #[test]
    fn cubics_keep_polynomials_of_their_degree_far_inside() {
        let middle = DVec3::splat(21.0);
        let square = |index: DVec3| (index - middle).powf(2.0).dot(DVec3::new(1.0, -2.0, 0.5)) + index.x * index.z;
        let cube = |index: DVec3| (index - middle).powf(3.0).element_sum();
        let at = |volume, how, position| Samples::new(volume, how).value(position).unwrap();
        let (squares, cubes) = (volume([42; 3], square), volume([42; 3], cube));
        for position in [DVec3::new(20.25, 21.5, 20.875), DVec3::new(21.0, 20.1, 21.3)] {
            assert!((at(&squares, CatmullRom, position) - square(position)).abs() < 1e-9);
            assert!((at(&cubes, BSpline, position) - cube(position)).abs() < 1e-6);
        }
    }

    #[test]
    fn resampling_goes_through_points() {
        let grid = Geometry::axis_aligned([2, 1, 1], DVec3::ONE, DVec3::new(0.5, 1.0, 2.0));
        let out = resample(&ramp(), &grid, &DAffine3::from_translation(DVec3::X), Linear);
        assert_eq!(out[[0, 0, 0]], 155.5);
        assert!(out[[0, 0, 1]].is_nan());
    }
}
