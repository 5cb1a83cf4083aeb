//! Images as the backends keep them: 16-bit fractions of an intensity range, and bin numbers.

use super::Volume;
use gpu::math::{bin, interpolate};
use rayon::prelude::*;

/// Intensities as 16-bit fractions of a range, x fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredImage {
    /// Voxels along x, y and z.
    pub size: [usize; 3],
    /// The voxels, then [`padding`](gpu::math::interpolate::padding).
    pub values: Vec<u16>,
}

/// Bin numbers of an image that is never interpolated, x fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct BinImage {
    pub size: [usize; 3],
    /// Bin numbers; [`MASKED`](gpu::math::bin::MASKED) where a voxel is not to be counted.
    pub bins: Vec<u16>,
}

impl StoredImage {
    /// Maps `low..=high` to the 16-bit range; intensities beyond it are clamped.
    pub fn new(volume: &Volume, (low, high): (f32, f32)) -> Self {
        let mut values: Vec<u16> = volume.voxels.par_iter().map(|&v| bin::store(v, low, high)).collect();
        let size = volume.geometry.size;
        values.resize(values.len() + interpolate::padding(size.map(|n| n as u32)), 0);
        Self { size, values }
    }

    /// The voxels without the padding.
    pub fn voxels(&self) -> &[u16] {
        &self.values[..self.size.iter().product()]
    }

    /// The bin of every voxel, for 2 to 1024 bins.
    pub fn bins(&self, bins: u32) -> BinImage {
        let scale = bin::scale(bins);
        // SAFETY: stored values are in range.
        let bins = self.voxels().par_iter().map(|&v| unsafe { bin::of(f32::from(v), scale) } as u16).collect();
        BinImage { size: self.size, bins }
    }
}
