//! A picture on another's grid.

use crate::{Geometry, Volume};
use glam::{DAffine3, DVec3};

/// A picture's pixels on the grid of another, and some further on all sides.
pub struct Canvas {
    pub columns: usize,
    /// NaN where there is no image.
    pub pixels: Vec<f32>,
}

impl Canvas {
    /// `moving`, which is NaN where it is no image, by linear interpolation on `grid` and `margin` pixels further, through a map of points of
    /// the grid to points of `moving`, LPS mm.
    pub fn new(moving: &Volume, grid: &Geometry, map: &DAffine3, margin: usize) -> Self {
        let place = moving.geometry.world_to_index() * *map * grid.index_to_world();
        let [columns, rows] = [0, 1].map(|axis| grid.size[axis] + 2 * margin);
        let at = |n: usize| n as f64 - margin as f64;
        let mut pixels = Vec::with_capacity(columns * rows);
        for j in 0..rows {
            let row = place.transform_point3(DVec3::new(0.0, at(j), 0.0));
            let step = place.matrix3.x_axis;
            pixels.extend((0..columns).map(|i| pixel(moving, row.x + step.x * at(i), row.y + step.y * at(i))));
        }
        Self { columns, pixels }
    }
}

/// The pixel at a place, NaN outside or next to NaN.
#[inline]
fn pixel(picture: &Volume, x: f64, y: f64) -> f32 {
    let [width, height, _] = picture.geometry.size;
    let inside = x >= 0.0 && y >= 0.0 && x < (width - 1) as f64 && y < (height - 1) as f64;
    if !inside {
        return f32::NAN;
    }
    let (i, j) = (x as u32, y as u32);
    let (right, down) = ((x - f64::from(i)) as f32, (y - f64::from(j)) as f32);
    let first = i as usize + width * j as usize;
    let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
    let along = |n: usize| mix(picture.voxels[n], picture.voxels[n + 1], right);
    mix(along(first), along(first + width), down)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PixelType;

    #[test]
    fn pixels_are_mixed_and_nan_spreads() {
        let voxels = vec![0.0, 1.0, f32::NAN, 10.0, 11.0, 12.0, 20.0, 21.0, 22.0];
        let geometry = Geometry::axis_aligned([3, 3, 1], DVec3::ONE, DVec3::ZERO);
        let picture = Volume { geometry, voxels, pixel: PixelType::F32 };
        let grid = Geometry::axis_aligned([1, 2, 1], DVec3::ONE, DVec3::ZERO);
        let canvas = Canvas::new(&picture, &grid, &DAffine3::from_translation(DVec3::new(0.5, 0.25, 7.0)), 1);
        let same = |a: f32, b: f32| a == b || a.is_nan() && b.is_nan();
        let none = f32::NAN;
        let expected = [none, none, none, none, 3.0, none, none, 13.0, 14.0, none, none, none];
        assert_eq!((canvas.columns, canvas.pixels.len()), (3, 12));
        assert!(canvas.pixels.iter().zip(expected).all(|(&a, b)| same(a, b)), "{:?}", canvas.pixels);
    }
}
