//! Metrics that are made of a joint histogram: what is asked of one, and how a device counts it.

pub(super) mod cpu;
pub(super) mod device;

pub use device::methods::HistogramMethod;

use crate::error::{Setting, message};
use crate::image::{BinImage, StoredImage};
use crate::{Error, Result};
use gpu::math::entropy::Entropies;
use gpu::math::interpolate::Interpolator;
use gpu::math::{bin, partial_volume};
use gpu::params::Affine;

/// One pair of images to compare, as at one level of the pyramid.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'a> {
    pub fixed: &'a BinImage,
    pub moving: &'a StoredImage,
    /// Bins of the fixed and of the moving image, 2 to 1024 each.
    pub bins: [u32; 2],
    pub interpolator: Interpolator,
}

impl Pair<'_> {
    /// Whether devices sample 16-bit values of the moving image: for more than 256 bins, and for partial volumes, which need each
    /// neighbour and not a mean.
    fn fine(&self) -> bool {
        self.interpolator == Interpolator::PartialVolume || bin::fine(self.bins[1])
    }

    /// What a sample counts: 1, or with partial volumes the unit of its neighbours' weights.
    ///
    /// # Errors
    /// [`Error::Option`] where the counts of a fixed image with partial volumes would not fit 32 bits.
    pub fn unit(&self) -> Result<u32> {
        if self.interpolator != Interpolator::PartialVolume {
            return Ok(1);
        }
        let [x, y, z] = self.fixed.size;
        let refused = || {
            Error::option(
                Setting::Interpolator,
                message!("{x} x {y} x {z} voxels are too many for partial volumes"; "use ", Interpolator, " linear"),
            )
        };
        partial_volume::unit(x as u64 * y as u64 * z as u64).ok_or_else(refused)
    }
}

/// Entropies of counts of which a sample has `unit`, with the number of samples.
pub(crate) fn per_sample(entropies: Entropies, unit: u32) -> Entropies {
    Entropies { counts: entropies.counts / u64::from(unit), ..entropies }
}

/// What to take from a joint histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Entropies and what follows from them.
    Entropies,
    /// The correlation ratios as well.
    Ratios,
}

/// A loaded pair.
pub trait Evaluator {
    /// The name of the method that counts; what `auto` chose.
    fn method(&self) -> &'static str;

    /// What is wanted for each transform, from voxels of the fixed image to voxels of the moving image.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn evaluate(&mut self, transforms: &[Affine], wanted: Wanted) -> Result<Vec<Entropies>>;

    /// The joint histogram for one transform: the pair (f, m) is at `f + fixed_bins * m`. A sample counts [`Pair::unit`] in all.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn histogram(&mut self, transform: &Affine) -> Result<Vec<u32>>;

    /// The marginal histograms of the fixed and the moving image for the last transform that was counted, by a method
    /// that counts them beside the joint one; `None` by the others. They are the sums of its rows and of its columns.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn marginals(&mut self) -> Result<Option<[Vec<u32>; 2]>> {
        Ok(None)
    }

    /// Seconds that the device spends on a joint histogram alone, as the mean of `times` in a row; `None` where it has no clock.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn histogram_seconds(&mut self, _transform: &Affine, _times: u32) -> Result<Option<f64>> {
        Ok(None)
    }
}
