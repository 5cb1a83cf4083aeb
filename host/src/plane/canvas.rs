//! Resamples an image onto another one's grid, with a margin around it.

// Loops over SIMD lanes use one index for several arrays.
#![allow(clippy::needless_range_loop)]

use crate::backend::simd::widest;
use crate::threads::made_by_piece;
use crate::{Geometry, Volume};
use glam::{DAffine3, DVec3};

/// Rows per task. All rows of a small picture are one task.
const ROWS: usize = 256;

/// Positions that are interpolated together, in SIMD lanes.
pub const CHUNK: usize = 16;

/// An image's voxels on the grid of another one, and on a margin around that.
pub struct Canvas {
    pub size: [usize; 3],
    /// Voxels of the margin, on either side of each axis.
    margins: [usize; 3],
    /// NaN in the background and outside of the image.
    pub voxels: Vec<f32>,
}

impl Canvas {
    /// Interpolates `moving`, which is NaN in the background, linearly on `grid` and on a margin of `margin` voxels
    /// around it. `map` takes points of the grid to points of `moving`, LPS mm.
    pub fn new(moving: &Volume, grid: &Geometry, map: &DAffine3, margin: usize) -> Self {
        let place = moving.geometry.world_to_index() * *map * grid.index_to_world();
        let margins = [0, 1, 2].map(|axis| if axis < grid.dimensions() { margin } else { 0 });
        let size = [0, 1, 2].map(|axis| grid.size[axis] + 2 * margins[axis]);
        let at = |axis: usize, n: usize| n as f64 - margins[axis] as f64;
        let step = place.matrix3.x_axis;
        let source = Source::new(moving);
        let voxels = made_by_piece(size.iter().product(), ROWS * size[0], |piece, voxels| {
            for (row, voxels) in (piece * ROWS..).zip(voxels.chunks_mut(size[0])) {
                let (j, k) = (row % size[1], row / size[1]);
                let row = place.transform_point3(DVec3::new(0.0, at(1, j), at(2, k)));
                fill(&source, row, step, at(0, 0), voxels);
            }
        });
        Self { size, margins, voxels }
    }

    /// Returns the index on the canvas of the voxel that is `voxel` steps from the first one of the grid. It must be on
    /// the canvas.
    pub fn index(&self, voxel: [isize; 3]) -> isize {
        let along = |axis: usize| self.margins[axis] as isize + voxel[axis];
        along(0) + self.size[0] as isize * (along(1) + self.size[1] as isize * along(2))
    }
}

widest! {
    /// Writes the image along a row: the n-th voxel is at `row` and `first` + n steps of `step`.
    fn fill(source: &Option<Source>, row: DVec3, step: DVec3, first: f64, voxels: &mut [f32]) {
        let Some(source) = source else { return voxels.fill(f32::NAN) };
        for (chunk, voxels) in voxels.chunks_mut(CHUNK).enumerate() {
            let mut places = [[0.0; CHUNK]; 3];
            for l in 0..CHUNK {
                let steps = (chunk * CHUNK + l) as f64 + first;
                [places[0][l], places[1][l], places[2][l]] = (row + step * steps).to_array();
            }
            voxels.copy_from_slice(&source.voxels(&places)[..voxels.len()]);
        }
    }
}

/// An image that is interpolated linearly.
pub struct Source<'a> {
    voxels: &'a [f32],
    size: [usize; 3],
}

impl<'a> Source<'a> {
    /// Returns `None` for an image that cannot be interpolated: with a single voxel along x or y (along z it makes the
    /// image 2-D). An `i32` counts the voxels of every image that can be registered: see
    /// [`Geometry::is_addressable`].
    pub fn new(image: &'a Volume) -> Option<Self> {
        let (voxels, size) = (&*image.voxels, image.geometry.size);
        let whole = size.iter().product::<usize>() == voxels.len() && i32::try_from(voxels.len()).is_ok();
        (whole && size[0] > 1 && size[1] > 1 && size[2] > 0).then_some(Self { voxels, size })
    }

    /// Interpolates at positions x, y and z, in voxels; NaN outside of the image and next to NaN.
    #[inline(always)]
    pub fn voxels(&self, places: &[[f64; CHUNK]; 3]) -> [f32; CHUNK] {
        let axes = if self.size[2] == 1 { 2 } else { 3 };
        let (mut first, mut stride) = ([0; CHUNK], 1);
        let (mut inside, mut part) = ([true; CHUNK], [[0.0; CHUNK]; 3]);
        for axis in 0..axes {
            let last = (self.size[axis] - 1) as f64;
            for l in 0..CHUNK {
                let place = places[axis][l];
                let within = (place >= 0.0) & (place < last);
                let safe = if within { place } else { 0.0 };
                // SAFETY: the value is not negative, and less than a size.
                let whole: i32 = unsafe { safe.to_int_unchecked() };
                part[axis][l] = (safe - f64::from(whole)) as f32;
                first[l] += stride * whole;
                inside[l] &= within;
            }
            stride *= self.size[axis] as i32;
        }
        let mut found = self.slice(&first, &part);
        if axes == 3 {
            let below = self.slice(&first.map(|n| n + stride / self.size[2] as i32), &part);
            for l in 0..CHUNK {
                found[l] = mix(found[l], below[l], part[2][l]);
            }
        }
        for l in 0..CHUNK {
            found[l] = if inside[l] { found[l] } else { f32::NAN };
        }
        found
    }

    /// Interpolates within a plane of constant z. `first` is the index of the voxel before each position along x and y,
    /// and `part` what is left of the position, 0 to 1.
    #[inline(always)]
    fn slice(&self, first: &[i32; CHUNK], part: &[[f32; CHUNK]; 3]) -> [f32; CHUNK] {
        let width = self.size[0] as i32;
        let mut found = [0.0; CHUNK];
        for l in 0..CHUNK {
            // SAFETY: along x and y there is one more voxel after that of a position inside, and after the first voxel
            // of all, which stands for positions outside. Offsets are signed because that is what SIMD gathers take.
            let at = |n: i32| unsafe { *self.voxels.as_ptr().offset((first[l] + n) as isize) };
            let along = |n: i32| mix(at(n), at(n + 1), part[0][l]);
            found[l] = mix(along(0), along(width), part[1][l]);
        }
        found
    }
}

#[inline(always)]
fn mix(a: f32, b: f32, t: f32) -> f32 {
    a + (b - a) * t
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
