//! The interface to metrics that are computed from a joint histogram of integer counts.

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

/// A pair of images to compare, such as those of one resolution level.
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
    /// An image that is quantised by the backend that loads it.
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

    /// The number of voxels.
    pub fn voxels(&self) -> usize {
        self.size().iter().product()
    }

    /// The image as bins, on the host.
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
    /// An image that is quantised by the backend that loads it.
    Image(&'a ToValues<'a>),
    /// 16-bit values, for every interpolator.
    Values(&'a StoredImage),
    /// Words of 8-bit levels, only for linear interpolation and at most 256 bins.
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

    /// The image as 16-bit values, on the host.
    ///
    /// # Errors
    /// [`Error::Option`] if there are only words.
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

/// Whether the interpolator reads words of 8-bit levels, given the number of bins of the moving image.
pub(crate) fn samples_words(interpolator: Interpolator, bins: u32) -> bool {
    interpolator == Interpolator::Linear && !bin::fine(bins)
}

impl<'a> Pair<'a> {
    /// The moving image as devices read it: pairs of 16-bit values if it is [`fine`](Self::fine), else words of 8-bit
    /// levels.
    ///
    /// # Errors
    /// [`Error::Option`] for words that the interpolator does not read.
    pub(super) fn words(&self) -> Result<Cow<'a, [u32]>> {
        match self.moving {
            Interpolated::Words(image) if self.samples_words() => Ok((&image.words).into()),
            Interpolated::Image(image) if self.samples_words() => Ok((&image.words().words).into()),
            moving => Ok(moving.values()?.words(self.fine()).into()),
        }
    }

    /// Whether the moving image is read as words of 8-bit levels.
    fn samples_words(&self) -> bool {
        samples_words(self.interpolator, self.bins[1])
    }

    /// Whether devices read 16-bit values of the moving image. They do for more than 256 bins, and for partial volumes,
    /// which need each neighbour and not a mean.
    pub(super) fn fine(&self) -> bool {
        self.interpolator == Interpolator::PartialVolume || bin::fine(self.bins[1])
    }

    /// The count that one sample adds to the histogram in all: 1, or with partial volumes the sum of its neighbours'
    /// integer weights.
    ///
    /// # Errors
    /// [`Error::Option`] if the fixed image is so large that its counts with partial volumes would not fit 32 bits.
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

/// Divides the counts by `unit`, so that [`Entropies::counts`] is the number of samples.
pub(crate) fn per_sample(entropies: Entropies, unit: u32) -> Entropies {
    Entropies { counts: entropies.counts / u64::from(unit), ..entropies }
}

/// What to compute from a joint histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// The entropies, and the metrics that follow from them.
    Entropies,
    /// The correlation ratios too.
    Ratios,
}

/// A pair of images that is loaded on a backend.
pub trait Evaluator {
    /// The name of the method that counts; never `auto` but the method it chose.
    fn method(&self) -> &'static str;

    /// Computes what is wanted for each transform. Transforms map voxels of the fixed image to voxels of the moving
    /// image.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn evaluate(&mut self, transforms: &[Affine], wanted: Wanted) -> Result<Vec<Entropies>>;

    /// The joint histogram for one transform, with the pair (f, m) at `f + fixed_bins * m`. Each sample adds
    /// [`Pair::unit`] in all.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn histogram(&mut self, transform: &Affine) -> Result<Vec<u32>>;

    /// The marginal histograms of the fixed and the moving image for the last transform counted, or `None` if the
    /// method does not count them along with the joint histogram. They equal the sums of its rows and columns.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn marginals(&mut self) -> Result<Option<[Vec<u32>; 2]>> {
        Ok(None)
    }

    /// The time that the device spends on the joint histogram alone, in seconds, as the mean of `times` in a row;
    /// `None` if it has no clock.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn histogram_seconds(&mut self, _transform: &Affine, _times: u32) -> Result<Option<f64>> {
        Ok(None)
    }
}
