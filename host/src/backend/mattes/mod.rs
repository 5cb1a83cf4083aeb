//! Mattes mutual information, which estimates densities with B-spline windows over bins: see [`gpu::math::mattes`].

pub(super) mod cpu;
pub(super) mod device;
mod images;

pub use images::MattesImages;

use super::histogram::{Counted, Interpolated};
use crate::Result;
use crate::image::Range;
use gpu::math::binning::{Binning, Stored};
use gpu::params::Affine;

/// A pair of images to compare by Mattes mutual information.
#[derive(Debug, Clone, Copy)]
pub struct MattesPair<'a> {
    /// One number per voxel: its bin if only the moving image has windows, else its stored 16-bit value. Voxels that
    /// are not to be counted have [`gpu::math::bin::MASKED`], which no stored value equals.
    pub fixed: Counted<'a>,
    /// 16-bit values.
    pub moving: Interpolated<'a>,
    /// Bins of the fixed and of the moving image, padding included, [`gpu::math::mattes::LEAST_BINS`] to 1024 each.
    pub bins: [u32; 2],
    pub windows: Windows,
}

/// Which image's intensities are spread over several bins by a cubic B-spline window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Windows {
    /// Those of the moving image. A fixed intensity falls into one bin.
    Moving,
    /// Those of both images.
    Both,
}

impl Windows {
    /// How the fixed image is quantised.
    pub fn binning(self, (low, high): Range, bins: u32) -> Binning {
        let stored = match self {
            Self::Moving => Stored::Padded,
            Self::Both => Stored::Values,
        };
        Binning { low, high, bins, stored }
    }
}

/// The value of a smooth metric at one map.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Smooth {
    /// Mutual information, nats.
    pub mi: f64,
    /// Samples inside the moving image.
    pub overlap: u64,
}

/// The value of a smooth metric at one map, and its derivative by the map.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SmoothSlope {
    pub at: Smooth,
    /// The derivative of the mutual information by each of the map's twelve numbers, nats: rows as in [`Affine`].
    pub by_map: [[f64; 4]; 3],
}

/// A pair of images that is loaded for a smooth metric.
pub trait SmoothEvaluator {
    /// The metric at each map. Maps take voxels of the fixed image to voxels of the moving image.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn values(&mut self, maps: &[Affine]) -> Result<Vec<Smooth>>;

    /// The metric and its derivative at a map.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn slope(&mut self, map: &Affine) -> Result<SmoothSlope>;

    /// The time that the device spends on the metric, and on the metric with its derivative, in seconds, as the mean of
    /// `times` in a row; `None` if it has no clock.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn seconds(&mut self, _map: &Affine, _times: u32) -> Result<Option<[f64; 2]>> {
        Ok(None)
    }
}
