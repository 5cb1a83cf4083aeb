//! Metrics that are made of a joint histogram: what is asked of one, and how a device counts it.

pub(super) mod cpu;
pub(super) mod device;

pub use device::methods::HistogramMethod;

use crate::error::{Setting, message};
use crate::image::{BinImage, StoredImage, ToBins, ToValues, WordImage};
use crate::{Error, Result};
use gpu::math::entropy::Entropies;
use gpu::math::interpolate::Interpolator;
use gpu::math::{bin, partial_volume};
use gpu::params::Affine;
use std::borrow::Cow;

/// One pair of images to compare, as at one level of the pyramid.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'a> {
    pub fixed: Counted<'a>,
    pub moving: Interpolated<'a>,
    /// Bins of the fixed and of the moving image, 2 to 1024 each.
    pub bins: [u32; 2],
    pub interpolator: Interpolator,
}

/// The fixed image of a pair.
#[derive(Debug, Clone, Copy)]
pub enum Counted<'a> {
    Bins(&'a BinImage),
    /// Packed where it is counted.
    Image(&'a ToBins<'a>),
}

impl<'a> Counted<'a> {
    /// Voxels along x, y and z.
    pub fn size(&self) -> [usize; 3] {
        match self {
            Self::Bins(image) => image.size,
            Self::Image(image) => image.image.geometry.size,
        }
    }

    /// All voxels.
    pub fn voxels(&self) -> usize {
        self.size().iter().product()
    }

    /// The bins.
    pub fn bins(self) -> &'a BinImage {
        match self {
            Self::Bins(image) => image,
            Self::Image(image) => image.bins(),
        }
    }
}

impl<'a> From<&'a BinImage> for Counted<'a> {
    fn from(image: &'a BinImage) -> Self {
        Self::Bins(image)
    }
}

/// The moving image of a pair.
#[derive(Debug, Clone, Copy)]
pub enum Interpolated<'a> {
    /// Packed where it is counted.
    Image(&'a ToValues<'a>),
    /// For every interpolator.
    Values(&'a StoredImage),
    /// For linear interpolation and at most 256 bins: what is made of the values then.
    Words(&'a WordImage),
}

impl<'a> Interpolated<'a> {
    /// Voxels along x, y and z.
    pub fn size(&self) -> [usize; 3] {
        match self {
            Self::Values(image) => image.size,
            Self::Words(image) => image.size,
            Self::Image(image) => image.image.geometry.size,
        }
    }

    /// The values.
    ///
    /// # Errors
    /// [`Error::Option`] where there are only words.
    pub(super) fn values(&self) -> Result<&'a StoredImage> {
        match self {
            Self::Values(image) => Ok(image),
            Self::Image(image) => Ok(image.values()),
            Self::Words(_) => Err(Error::option(
                Setting::Interpolator,
                "words of 256 levels are for linear interpolation and at most 256 bins",
            )),
        }
    }
}

impl<'a> From<&'a StoredImage> for Interpolated<'a> {
    fn from(image: &'a StoredImage) -> Self {
        Self::Values(image)
    }
}

/// Whether an interpolator samples words of 256 levels, for so many bins.
pub(crate) fn samples_words(interpolator: Interpolator, bins: u32) -> bool {
    interpolator == Interpolator::Linear && !bin::fine(bins)
}

impl<'a> Pair<'a> {
    /// What devices sample: pairs of 16-bit values where it is [`fine`](Self::fine), else words of 8-bit levels.
    ///
    /// # Errors
    /// [`Error::Option`] for words that the interpolator does not sample.
    pub(super) fn words(&self) -> Result<Cow<'a, [u32]>> {
        match self.moving {
            Interpolated::Words(image) if self.samples_words() => Ok((&image.words).into()),
            Interpolated::Image(image) if self.samples_words() => Ok((&image.words().words).into()),
            moving => Ok(moving.values()?.words(self.fine()).into()),
        }
    }

    /// Whether the moving image is sampled as words of 256 levels.
    fn samples_words(&self) -> bool {
        samples_words(self.interpolator, self.bins[1])
    }

    /// Whether devices sample 16-bit values of the moving image: for more than 256 bins, and for partial volumes, which need each
    /// neighbour and not a mean.
    pub(super) fn fine(&self) -> bool {
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
        let [x, y, z] = self.fixed.size();
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
