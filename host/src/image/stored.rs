//! Quantised images as the backends keep them: 16-bit fractions of an intensity range, and bin numbers.

use super::{Range, Volume};
use crate::backend::simd::widest;
use crate::threads::{mapped, mapped_by_piece};
use gpu::math::binning::Binning;
use gpu::math::{bin, eight_bit, interpolate};
use rayon::prelude::*;

/// A number of bins for which a [`StoredImage`] keeps all 16 bits.
const ALL_BITS: u32 = 1024;

/// Intensities as 16-bit fractions of a range, x fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredImage {
    /// Voxels along x, y and z.
    pub size: [usize; 3],
    /// The voxels, then [`padding`](gpu::math::interpolate::padding).
    pub values: Vec<u16>,
}

/// Bin numbers, or 16-bit values, of an image that is never interpolated, x fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct BinImage {
    /// Voxels along x, y and z.
    pub size: [usize; 3],
    /// Bin numbers, or [`MASKED`](gpu::math::bin::MASKED) for voxels that are not to be counted.
    pub bins: Vec<u16>,
}

impl BinImage {
    /// Quantises every voxel.
    pub fn new(volume: &Volume, binning: Binning) -> Self {
        let bins = mapped_by_piece(&volume.voxels, 0, |voxels, bins| bin_all(voxels, binning, bins));
        Self { size: volume.geometry.size, bins }
    }

    /// Masks the voxels for whose number `keep` is false, and returns how many voxels remain.
    pub fn keep(&mut self, keep: impl Fn(usize) -> bool + Sync) -> usize {
        let left = self.bins.par_iter_mut().enumerate().with_min_len(1 << 12).map(|(i, bin)| {
            if !keep(i) {
                *bin = bin::MASKED;
            }
            usize::from(*bin != bin::MASKED)
        });
        left.sum()
    }
}

impl StoredImage {
    /// Quantises a volume, with `range` mapped to the 16-bit range. For up to 256 bins the values have 256 levels only.
    /// Intensities outside the range are clamped.
    pub fn new(volume: &Volume, range: Range, bins: u32) -> Self {
        Self::packed(volume, range, bin::fine(bins))
    }

    /// Quantises a volume to all 16 bits if `fine`, else to 256 levels.
    pub(super) fn packed(volume: &Volume, (low, high): Range, fine: bool) -> Self {
        let size = volume.geometry.size;
        let padding = interpolate::padding(size.map(|n| n as u32));
        let store = |voxels: &[f32], values: &mut [u16]| store_all(voxels, [low, high], fine, values);
        Self { size, values: mapped_by_piece(&volume.voxels, padding, store) }
    }

    /// Quantises a volume to all 16 bits, as windows and gradients require.
    pub fn fine(volume: &Volume, range: Range) -> Self {
        Self::new(volume, range, ALL_BITS)
    }

    /// The voxels without the padding.
    pub fn voxels(&self) -> &[u16] {
        &self.values[..self.size.iter().product()]
    }

    /// Bins every voxel, for 2 to 1024 bins.
    pub fn bins(&self, bins: u32) -> BinImage {
        let scale = bin::scale(bins, bin::FULL);
        // SAFETY: stored values are in range.
        let bins = mapped(self.voxels(), 0, |&v| unsafe { bin::of(f32::from(v), scale) } as u16);
        BinImage { size: self.size, bins }
    }

    /// The words of [`gpu::params::Images::moving`]: pairs of 16-bit values if `fine`, else words of 8-bit levels.
    pub fn words(&self, fine: bool) -> Vec<u32> {
        let [width, height, _] = self.size;
        let word = |i: usize| match fine {
            true => u32::from(self.values[i]) | u32::from(self.values[i + 1]) << 16,
            false => eight_bit::word([i, i + 1, i + width, i + width + 1].map(|i| eight_bit::level(self.values[i]))),
        };
        // A word includes voxels of the next row and slice, which the padding provides.
        let len = self.voxels().len() + width * height;
        (0..if fine { len + width } else { len }).into_par_iter().map(word).collect()
    }
}

widest! {
    fn bin_all(voxels: &[f32], binning: Binning, bins: &mut [u16]) {
        for (bin, &voxel) in bins.iter_mut().zip(voxels) {
            *bin = binning.of(voxel);
        }
    }
}

widest! {
    fn store_all(voxels: &[f32], range: [f32; 2], fine: bool, values: &mut [u16]) {
        for (value, &voxel) in values.iter_mut().zip(voxels) {
            *value = bin::store(voxel, range[0], range[1], fine);
        }
    }
}
