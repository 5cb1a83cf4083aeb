//! An image on another's grid.

use crate::{Geometry, Volume};
use glam::{DAffine3, DVec3};
use rayon::prelude::*;

/// Rows of a piece of work at least: those of a small picture are one.
const ROWS: usize = 256;

/// An image's voxels on the grid of another, and some further on all sides.
pub struct Canvas {
    pub size: [usize; 3],
    /// Voxels further along each axis.
    margins: [usize; 3],
    /// NaN where there is no image.
    pub voxels: Vec<f32>,
}

impl Canvas {
    /// `moving`, which is NaN where it is no image, by linear interpolation on `grid` and `margin` voxels further along each of its axes,
    /// through a map of points of the grid to points of `moving`, LPS mm.
    pub fn new(moving: &Volume, grid: &Geometry, map: &DAffine3, margin: usize) -> Self {
        let place = moving.geometry.world_to_index() * *map * grid.index_to_world();
        let margins = [0, 1, 2].map(|axis| if axis < grid.dimensions() { margin } else { 0 });
        let size = [0, 1, 2].map(|axis| grid.size[axis] + 2 * margins[axis]);
        let at = |axis: usize, n: usize| n as f64 - margins[axis] as f64;
        let step = place.matrix3.x_axis;
        let mut voxels = vec![0.0; size.iter().product()];
        voxels.par_chunks_mut(size[0]).with_min_len(ROWS).enumerate().for_each(|(row, voxels)| {
            let (j, k) = (row % size[1], row / size[1]);
            let row = place.transform_point3(DVec3::new(0.0, at(1, j), at(2, k)));
            voxels.iter_mut().enumerate().for_each(|(i, out)| *out = voxel(moving, row + step * at(0, i)));
        });
        Self { size, margins, voxels }
    }

    /// The index of the voxel that is so many voxels along each axis from the first of the grid, which must be on the canvas.
    pub fn index(&self, voxel: [isize; 3]) -> isize {
        let along = |axis: usize| self.margins[axis] as isize + voxel[axis];
        along(0) + self.size[0] as isize * (along(1) + self.size[1] as isize * along(2))
    }
}

/// The voxel at a place, NaN outside or next to NaN.
#[inline(always)]
pub fn voxel(image: &Volume, place: DVec3) -> f32 {
    let [width, height, depth] = image.geometry.size;
    let within = |x: f64, size: usize| x >= 0.0 && x < (size - 1) as f64;
    let flat = depth == 1;
    if !(within(place.x, width) && within(place.y, height) && (flat || within(place.z, depth))) {
        return f32::NAN;
    }
    let mix = |a: f32, b: f32, t: f64| a + (b - a) * t as f32;
    let (i, j, k) = (place.x as u32, place.y as u32, if flat { 0 } else { place.z as u32 });
    let (right, down) = (place.x - f64::from(i), place.y - f64::from(j));
    let first = i as usize + width * (j as usize + height * k as usize);
    if image.voxels[first].is_nan() {
        return f32::NAN;
    }
    let along = |n: usize| mix(image.voxels[n], image.voxels[n + 1], right);
    let slice = |n: usize| mix(along(n), along(n + width), down);
    if flat { slice(first) } else { mix(slice(first), slice(first + width * height), place.z - f64::from(k)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PixelType;

    fn same(found: &[f32], expected: &[f32]) -> bool {
        found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| a == b || a.is_nan() && b.is_nan())
    }

    #[test]
    fn pixels_are_mixed_and_nan_spreads() {
        let voxels = vec![0.0, 1.0, f32::NAN, 10.0, 11.0, 12.0, 20.0, 21.0, 22.0];
        let geometry = Geometry::axis_aligned([3, 3, 1], DVec3::ONE, DVec3::ZERO);
        let picture = Volume { geometry, voxels, pixel: PixelType::F32 };
        let grid = Geometry::axis_aligned([1, 2, 1], DVec3::ONE, DVec3::ZERO);
        let canvas = Canvas::new(&picture, &grid, &DAffine3::from_translation(DVec3::new(0.5, 0.25, 7.0)), 1);
        let none = f32::NAN;
        assert_eq!(canvas.size, [3, 4, 1]);
        let expected = [none, none, none, none, 3.0, none, none, 13.0, 14.0, none, none, none];
        assert!(same(&canvas.voxels, &expected), "{:?}", canvas.voxels);
    }

    #[test]
    fn voxels_are_mixed_along_all_axes() {
        let geometry = Geometry::axis_aligned([2, 2, 2], DVec3::ONE, DVec3::ZERO);
        let volume = Volume { geometry, voxels: (0..8).map(|n| n as f32).collect(), pixel: PixelType::F32 };
        let grid = Geometry::axis_aligned([1, 1, 1], DVec3::ONE, DVec3::new(0.5, 0.25, 0.0));
        let shift = DAffine3::from_translation(DVec3::new(0.0, 0.0, 0.75));
        assert!(same(&Canvas::new(&volume, &grid, &shift, 0).voxels, &[4.0]));
    }
}
