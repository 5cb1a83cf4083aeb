//! Mattes's mutual information: B-spline windows over bins, see [`gpu::math::mattes`].

pub(super) mod cpu;
pub(super) mod device;
mod images;

pub use images::MattesImages;

use super::histogram::{Counted, Interpolated};
use crate::Result;
use crate::image::Range;
use gpu::math::binning::{Binning, Stored};
use gpu::params::Affine;

/// A pair of images to compare by Mattes windows.
#[derive(Debug, Clone, Copy)]
pub struct MattesPair<'a> {
    /// With windows on the moving side alone a bin number per voxel; with both, the stored 16-bit value, which [`gpu::math::bin::MASKED`] is not.
    /// [`gpu::math::bin::MASKED`] where a voxel is not to be counted.
    pub fixed: Counted<'a>,
    /// 16-bit values.
    pub moving: Interpolated<'a>,
    /// Bins of the fixed and of the moving image with their padding, [`gpu::math::mattes::LEAST_BINS`] to 1024 each.
    pub bins: [u32; 2],
    pub windows: Windows,
}

/// Which intensities a cubic B-spline window spreads over the bins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Windows {
    /// The moving image's; a fixed intensity falls into one bin.
    Moving,
    /// Those of both images.
    Both,
}

impl Windows {
    /// What is stored of a fixed image.
    pub fn binning(self, (low, high): Range, bins: u32) -> Binning {
        let stored = match self {
            Self::Moving => Stored::Padded,
            Self::Both => Stored::Values,
        };
        Binning { low, high, bins, stored }
    }
}

/// A smooth metric at one map.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Smooth {
    /// Mutual information, nats.
    pub mi: f64,
    /// Samples inside the moving image.
    pub overlap: u64,
}

/// A smooth metric at one map, and how it changes with the map.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SmoothSlope {
    pub at: Smooth,
    /// The derivative of the mutual information by each of the map's twelve numbers, nats: rows as in [`Affine`].
    pub by_map: [[f64; 4]; 3],
}

/// A pair that was loaded for a smooth metric.
pub trait SmoothEvaluator {
    /// The metric at each map, from voxels of the fixed image to voxels of the moving image.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn values(&mut self, maps: &[Affine]) -> Result<Vec<Smooth>>;

    /// The metric and its derivative at a map.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn slope(&mut self, map: &Affine) -> Result<SmoothSlope>;

    /// Seconds that the device spends on the metric, and on it with its derivative, as the mean of `times` in a row; `None` where it
    /// has no clock.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn seconds(&mut self, _map: &Affine, _times: u32) -> Result<Option<[f64; 2]>> {
        Ok(None)
    }
}
