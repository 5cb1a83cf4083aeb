//! Converts the intensity of a voxel, and those of its neighbours, to what metrics store of it.

use super::{bin, eight_bit, mattes};

/// What is stored per voxel of an image that is not interpolated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Stored {
    /// Bin numbers. The first and the last bin are half as wide as the others: see [`bin`].
    Bins,
    /// Bin numbers. All bins have the same width, and some at either end stay empty: see [`mattes`].
    Padded,
    /// 16-bit fractions of the range.
    Values,
}

/// How intensities of an image that is not interpolated are converted to stored numbers.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Binning {
    /// The range of intensities; those beyond are clamped.
    pub low: f32,
    pub high: f32,
    /// Bins, including those that stay empty.
    pub bins: u32,
    pub stored: Stored,
}

impl Binning {
    /// Returns what is stored of an intensity.
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

/// Returns the [word](eight_bit::word) of the levels of a voxel and its neighbours, from their intensities. Neighbours
/// beyond the last voxel are `None`.
#[inline(always)]
pub fn levels(intensities: [Option<f32>; 4], low: f32, high: f32) -> u32 {
    let level = |intensity: Option<f32>| match intensity {
        Some(intensity) => eight_bit::level(bin::store(intensity, low, high, false)),
        None => 0,
    };
    let [here, right, below, both] = intensities;
    eight_bit::word([level(here), level(right), level(below), level(both)])
}

/// Returns the word of the 16-bit values of a voxel and its neighbour along x, from their intensities. A neighbour
/// beyond the last voxel is `None`.
#[inline(always)]
pub fn values(intensities: [Option<f32>; 2], low: f32, high: f32) -> u32 {
    let value = |intensity: Option<f32>| match intensity {
        Some(intensity) => u32::from(bin::store(intensity, low, high, true)),
        None => 0,
    };
    let [here, right] = intensities;
    value(here) | value(right) << 16
}
