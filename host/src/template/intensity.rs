//! Averages intensities, as fractions of each image's range.

use crate::error::Setting;
use crate::image::{Intensities, IntensityRange};
use crate::{Error, Geometry, PixelType, Result, Volume};
use rayon::prelude::*;

/// An intensity range that outliers do not affect.
#[derive(Debug, Clone, Copy)]
pub struct Intensity {
    low: f32,
    high: f32,
}

impl Intensity {
    /// Finds the range of the image of this number, counted from 0.
    ///
    /// # Errors
    /// [`Error::Option`] if the image is constant, has infinite voxels, or has no data.
    pub fn of(number: usize, image: &Volume, range: IntensityRange) -> Result<Self> {
        let (low, high) = Intensities::of(image, range).range;
        match low < high && low.is_finite() && high.is_finite() {
            true => Ok(Self { low, high }),
            false => {
                let text =
                    format!("image {} is constant or has infinite voxels or no data: nothing to register", number + 1);
                Err(Error::option(Setting::Moving, text))
            }
        }
    }

    /// Returns the mean of several ranges.
    fn mean(all: &[Self]) -> Self {
        let mean =
            |of: fn(&Self) -> f32| (all.iter().map(|one| f64::from(of(one))).sum::<f64>() / all.len() as f64) as f32;
        Self { low: mean(|one| one.low), high: mean(|one| one.high) }
    }
}

/// Averages the intensities of images on one grid.
pub struct Mean {
    grid: Geometry,
    /// For each voxel, the sum of the intensities of the images that reach it, as fractions of their ranges, and the
    /// number of these images.
    sums: Vec<(f32, u32)>,
}

impl Mean {
    pub fn new(grid: Geometry) -> Self {
        Self { grid, sums: vec![(0.0, 0); grid.voxels()] }
    }

    /// Adds an image; voxels that it does not reach are NaN.
    pub fn add(&mut self, voxels: &[f32], of: Intensity) {
        let part = |voxel: f32| ((voxel - of.low) / (of.high - of.low)).clamp(0.0, 1.0);
        self.sums.par_iter_mut().zip(voxels).filter(|(_, voxel)| !voxel.is_nan()).for_each(|((sum, count), voxel)| {
            *sum += part(*voxel);
            *count += 1;
        });
    }

    /// Returns the mean image, scaled to the mean of all ranges, with its lower end where no image reaches; and the
    /// mean gradient, as a fraction of the range per mm.
    pub fn volume(self, all: &[Intensity]) -> (Volume, f64) {
        let part = |&(sum, count): &(f32, u32)| if count == 0 { 0.0 } else { sum / count as f32 };
        let voxels: Vec<f32> = self.sums.par_iter().map(part).collect();
        let parts = Volume { geometry: self.grid, voxels, pixel: PixelType::F32 };
        let (sharpness, Intensity { low, high }) = (sharpness(&parts), Intensity::mean(all));
        (parts.with(|n| low + parts.voxels[n] * (high - low)), sharpness)
    }
}

/// Returns the mean magnitude of the gradient, per mm, by central differences.
fn sharpness(volume: &Volume) -> f64 {
    let Volume { geometry: Geometry { size, spacing, .. }, voxels, .. } = volume;
    let steps = [1, size[0], size[0] * size[1]];
    let rows = (0..size[1] * size[2]).into_par_iter().map(|row| {
        let length = |x: usize| {
            let index = [x, row % size[1], row / size[1]];
            let at = row * size[0] + x;
            let slope = |axis: usize| {
                let before = if index[axis] > 0 { 1 } else { 0 };
                let after = if index[axis] + 1 < size[axis] { 1 } else { 0 };
                let mm = (before + after) as f64 * spacing[axis];
                let rise = f64::from(voxels[at + after * steps[axis]]) - f64::from(voxels[at - before * steps[axis]]);
                if mm > 0.0 { rise / mm } else { 0.0 }
            };
            let [x, y, z] = [slope(0), slope(1), slope(2)];
            (x * x + y * y + z * z).sqrt()
        };
        (0..size[0]).map(length).sum::<f64>()
    });
    // Added up in the order of rows, so that it has the same bits for any number of threads.
    rows.collect::<Vec<_>>().iter().sum::<f64>() / voxels.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    #[test]
    fn each_image_counts_by_its_range_and_where_it_reaches() {
        let grid = Geometry::axis_aligned([4, 1, 1], DVec3::splat(2.0), DVec3::ZERO);
        let all = [Intensity { low: 0.0, high: 10.0 }, Intensity { low: 100.0, high: 300.0 }];
        let mut mean = Mean::new(grid);
        mean.add(&[0.0, 5.0, 10.0, f32::NAN], all[0]);
        mean.add(&[100.0, 300.0, f32::NAN, f32::NAN], all[1]);
        let (volume, sharpness) = mean.volume(&all);
        assert_eq!(volume.voxels, [50.0, 50.0 + 0.75 * 105.0, 155.0, 50.0]);
        let slopes = [0.75 / 2.0, 1.0 / 4.0, 0.75 / 4.0, 1.0 / 2.0];
        assert!((sharpness - slopes.iter().sum::<f64>() / 4.0).abs() < 1e-12, "{sharpness}");
    }
}
