//! How images are stored for metrics, voxel by voxel.

use super::{bin, eight_bit, mattes};

/// What is stored of an image that is not interpolated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Stored {
    /// Bin numbers whose first and last are half as wide as the others, as [`bin`] says.
    Bins,
    /// Bin numbers of one width between empty ones, as [`mattes`] says.
    Padded,
    /// 16-bit fractions of the range.
    Values,
}

/// From the intensities of an image that is not interpolated to what is stored of them.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Binning {
    /// The range of intensities; those beyond are clamped.
    pub low: f32,
    pub high: f32,
    /// Bins, with those that stay empty.
    pub bins: u32,
    pub stored: Stored,
}

impl Binning {
    /// What is stored of an intensity.
    #[inline(always)]
    pub fn of(&self, intensity: f32) -> u16 {
        let Self { low, high, bins, stored } = *self;
        match stored {
            Stored::Bins => bin::number(intensity, low, high, bins),
            Stored::Padded => mattes::bin(intensity, low, high, bins),
            Stored::Values => bin::value(intensity, low, high),
        }
    }
}

/// A [word](eight_bit::word) of the levels of a voxel and its neighbours, by their intensities; none beyond the last voxel.
#[inline(always)]
pub fn levels(intensities: [Option<f32>; 4], low: f32, high: f32) -> u32 {
    let level = |intensity: Option<f32>| match intensity {
        Some(intensity) => eight_bit::level(bin::store(intensity, low, high, false)),
        None => 0,
    };
    let [here, right, below, both] = intensities;
    eight_bit::word([level(here), level(right), level(below), level(both)])
}

/// A word of the 16-bit values of a voxel and its neighbour along x, by their intensities; none beyond the last voxel.
#[inline(always)]
pub fn values(intensities: [Option<f32>; 2], low: f32, high: f32) -> u32 {
    let value = |intensity: Option<f32>| match intensity {
        Some(intensity) => u32::from(bin::store(intensity, low, high, true)),
        None => 0,
    };
    let [here, right] = intensities;
    value(here) | value(right) << 16
}
