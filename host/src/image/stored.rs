//! Images as the backends keep them: 16-bit fractions of an intensity range, and bin numbers.

use super::Volume;
use gpu::math::bin;
use rayon::prelude::*;

/// Intensities as 16-bit fractions of a range, x fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredImage {
    /// Voxels along x, y and z, at least 2 each.
    pub size: [usize; 3],
    pub values: Vec<u16>,
}

/// Bin numbers of an image that is never interpolated, x fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct BinImage {
    pub size: [usize; 3],
    pub bins: Vec<u8>,
}

impl StoredImage {
    /// Maps `low..=high` to the 16-bit range; intensities beyond it are clamped.
    pub fn new(volume: &Volume, (low, high): (f32, f32)) -> Self {
        let values = volume.voxels.par_iter().map(|&v| bin::store(v, low, high)).collect();
        Self { size: volume.geometry.size, values }
    }

    /// The bin of every voxel, for 2 to 256 bins.
    pub fn bins(&self, bins: u32) -> BinImage {
        let scale = bin::scale(bins);
        let bins = self.values.par_iter().map(|&v| bin::of(f32::from(v), scale) as u8).collect();
        BinImage { size: self.size, bins }
    }
}
