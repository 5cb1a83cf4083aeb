//! Values between voxels.

use super::position::{indices, inside, position};
use crate::{Geometry, Volume};
use glam::{DAffine3, DVec3};
use ndarray::Array3;

/// How a value between voxels is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interpolator {
    /// The voxel whose centre is nearest; halves go up.
    Nearest,
    /// The eight neighbours, each weighted by a tent of one voxel's width along every axis.
    Linear,
}

/// The intensity of `volume` at a position in voxels, `None` outside.
pub fn value(volume: &Volume, position: DVec3, how: Interpolator) -> Option<f64> {
    let size = volume.geometry.size;
    if !inside(position, size) {
        return None;
    }
    let last = DVec3::from_array(size.map(|n| n as f64 - 1.0));
    let position = position.clamp(DVec3::ZERO, last);
    Some(match how {
        Interpolator::Nearest => voxel(volume, (position + 0.5).floor()),
        Interpolator::Linear => linear(volume, position),
    })
}

/// The moving image's intensities at the voxels of `grid`, indexed `[k, j, i]`, through `transform` from points of the
/// grid to points of `moving`, LPS mm; NaN outside.
pub fn resample(moving: &Volume, grid: &Geometry, transform: &DAffine3, how: Interpolator) -> Array3<f64> {
    let [nx, ny, nz] = grid.size;
    Array3::from_shape_fn((nz, ny, nx), |(z, y, x)| {
        value(moving, position(grid, &moving.geometry, transform, [x, y, z]), how).unwrap_or(f64::NAN)
    })
}

fn linear(volume: &Volume, position: DVec3) -> f64 {
    neighbours(position).map(|(neighbour, weight)| weight * voxel(volume, neighbour)).sum()
}

/// The neighbours of a position that have a weight, and that weight. Those beyond the border have none.
pub fn neighbours(position: DVec3) -> impl Iterator<Item = (DVec3, f64)> {
    let corners = indices([2; 3]).map(move |step| position.floor() + DVec3::from_array(step.map(|n| n as f64)));
    let weighted = corners.map(move |corner| (corner, (DVec3::ONE - (position - corner).abs()).element_product()));
    weighted.filter(|&(_, weight)| weight > 0.0)
}

/// The intensity of the voxel at whole coordinates.
pub fn voxel(volume: &Volume, index: DVec3) -> f64 {
    let [nx, ny, _] = volume.geometry.size;
    let [x, y, z] = index.to_array().map(|n| n as usize);
    f64::from(volume.voxels[x + nx * (y + ny * z)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PixelType;

    /// 100 i + 10 j + k, which linear interpolation keeps.
    fn ramp() -> Volume {
        let geometry = Geometry::axis_aligned([3, 4, 2], DVec3::new(1.0, 2.0, 4.0), DVec3::ZERO);
        let voxels = indices(geometry.size).map(|[x, y, z]| (100 * x + 10 * y + z) as f32).collect();
        Volume { geometry, voxels, pixel: PixelType::F32 }
    }

    #[test]
    fn linear_keeps_a_ramp() {
        let (ramp, last) = (ramp(), DVec3::new(2.0, 3.0, 1.0));
        for position in [DVec3::ZERO, last, DVec3::new(0.25, 1.5, 0.75), DVec3::new(2.0, 0.5, 1.0)] {
            let found = value(&ramp, position, Interpolator::Linear).unwrap();
            assert!((found - position.dot(DVec3::new(100.0, 10.0, 1.0))).abs() < 1e-12, "{found} at {position}");
        }
        assert_eq!(value(&ramp, last + 1e-6, Interpolator::Linear), None);
    }

    #[test]
    fn halves_go_up() {
        let at = |x: f64| value(&ramp(), DVec3::new(x, 2.4, 0.6), Interpolator::Nearest);
        assert_eq!([0.49, 0.5, 1.49, 1.5].map(at), [Some(21.0), Some(121.0), Some(121.0), Some(221.0)]);
    }

    #[test]
    fn resampling_goes_through_points() {
        let grid = Geometry::axis_aligned([2, 1, 1], DVec3::ONE, DVec3::new(0.5, 1.0, 2.0));
        let out = resample(&ramp(), &grid, &DAffine3::from_translation(DVec3::X), Interpolator::Linear);
        assert_eq!(out[[0, 0, 0]], 155.5);
        assert!(out[[0, 0, 1]].is_nan());
    }
}
