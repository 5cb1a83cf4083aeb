//! A pair of images at one level, ready for a backend.

use super::chain::Chain;
use crate::backend::{Backend, Evaluator, HistogramMethod, MattesImages, MattesPair, Pair, Wanted, Windows};
use crate::image::{BinImage, Geometry, Range, StoredImage, voxel_map};
use crate::metric::Evaluation;
use crate::registration::Options;
use crate::transform::Steps;
use crate::{Result, Volume};
use glam::DAffine3;
use gpu::math::interpolate::Interpolator;
use gpu::params::Affine;

/// Which of the two images gives the voxels that are counted; the other one is interpolated at them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampled {
    Fixed,
    Moving,
}

impl Sampled {
    /// From points of the sampled image to points of the other one, where `transform` goes from the fixed to the moving image.
    pub fn from_sampled(self, transform: &DAffine3) -> DAffine3 {
        match self {
            Self::Fixed => *transform,
            Self::Moving => transform.inverse(),
        }
    }
}

/// A fixed and a moving image ready to be loaded.
pub struct Images {
    /// Bin numbers, or for windows on its intensities too stored values.
    sampled: BinImage,
    sampled_geometry: Geometry,
    interpolated: StoredImage,
    interpolated_geometry: Geometry,
    which: Sampled,
    bins: u32,
    interpolator: Interpolator,
    histogram: HistogramMethod,
    /// Voxels that are to be counted.
    samples: u64,
}

impl Images {
    /// The sampled and the interpolated volume, each with the intensity range that is to be spread over the bins, for joint histograms.
    /// Of the options it heeds interpolator and histogram.
    pub fn new(
        which: Sampled,
        (sampled, sampled_range): (&Volume, Range),
        (interpolated, interpolated_range): (&Volume, Range),
        bins: u32,
        options: &Options,
    ) -> Self {
        let sampled_bins = StoredImage::new(sampled, sampled_range, bins).bins(bins);
        let stored = StoredImage::new(interpolated, interpolated_range, bins);
        Self::of(which, (sampled_bins, sampled.geometry), (stored, interpolated.geometry), bins, options)
    }

    /// The same for windows.
    pub(crate) fn for_windows(
        which: Sampled,
        (sampled, sampled_range): (&Volume, Range),
        (interpolated, interpolated_range): (&Volume, Range),
        (bins, windows): (u32, Windows),
        options: &Options,
    ) -> Self {
        let MattesImages { fixed, moving, .. } =
            MattesImages::new((sampled, sampled_range), (interpolated, interpolated_range), bins, windows);
        Self::of(which, (fixed, sampled.geometry), (moving, interpolated.geometry), bins, options)
    }

    fn of(
        which: Sampled,
        (sampled, sampled_geometry): (BinImage, Geometry),
        (interpolated, interpolated_geometry): (StoredImage, Geometry),
        bins: u32,
        options: &Options,
    ) -> Self {
        let (interpolator, histogram, samples) = (options.interpolator, options.histogram, sampled.bins.len() as u64);
        Self {
            sampled,
            sampled_geometry,
            interpolated,
            interpolated_geometry,
            which,
            bins,
            interpolator,
            histogram,
            samples,
        }
    }

    /// Leaves out voxels of the sampled image whose `keep`, by their number, is false.
    pub fn keep(&mut self, keep: impl Fn(usize) -> bool + Sync) {
        self.samples = self.sampled.keep(keep) as u64;
    }

    /// Which of the two is sampled.
    pub(crate) fn which(&self) -> Sampled {
        self.which
    }

    /// The grid whose voxels are counted.
    pub fn grid(&self) -> &Geometry {
        &self.sampled_geometry
    }

    /// Voxels that are counted.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// What a sample counts.
    ///
    /// # Errors
    /// Those of [`Pair::unit`].
    pub fn unit(&self) -> Result<u32> {
        self.pair().unit()
    }

    fn pair(&self) -> Pair<'_> {
        let (fixed, moving, bins) = (&self.sampled, &self.interpolated, [self.bins; 2]);
        Pair { fixed, moving, bins, interpolator: self.interpolator }
    }

    /// Loads the pair into a backend.
    ///
    /// # Errors
    /// Those of [`Backend::load`].
    pub fn load<'a>(&'a self, backend: &'a dyn Backend) -> Result<Box<dyn Evaluator + 'a>> {
        backend.load(self.pair(), self.histogram)
    }

    /// What is wanted at each map of points of the fixed image, LPS mm; the rest is 0.
    ///
    /// # Errors
    /// Those of [`Evaluator::evaluate`].
    pub fn evaluate(
        &self,
        evaluator: &mut dyn Evaluator,
        transforms: &[DAffine3],
        wanted: Wanted,
    ) -> Result<Vec<Evaluation>> {
        let maps: Vec<Affine> = transforms.iter().map(|transform| self.map(transform)).collect();
        let found = evaluator.evaluate(&maps, wanted)?;
        Ok(found.iter().map(|entropies| self.evaluation(entropies)).collect())
    }

    /// Everything at one map, and the joint histogram: the pair (f, m) is at `f + bins * m`, where f is the sampled image's.
    ///
    /// # Errors
    /// Those of [`Evaluator::histogram`].
    pub fn histogram(&self, evaluator: &mut dyn Evaluator, transform: &DAffine3) -> Result<Vec<u32>> {
        evaluator.histogram(&self.map(transform))
    }

    /// The pair for Mattes windows; it was made for these.
    pub(crate) fn mattes(&self, windows: Windows) -> MattesPair<'_> {
        MattesPair { fixed: &self.sampled, moving: &self.interpolated, bins: [self.bins; 2], windows }
    }

    /// The stored values of the sampled image, for those who were made for windows on both, and those of the other one.
    pub(crate) fn stored(&self) -> (&BinImage, &StoredImage) {
        (&self.sampled, &self.interpolated)
    }

    /// What takes derivatives by the numbers of [`Self::map`] to those by steps before a transform.
    pub(crate) fn chain<'a>(&'a self, base: &'a DAffine3, steps: &'a Steps) -> Chain<'a> {
        Chain { grids: [&self.sampled_geometry, &self.interpolated_geometry], which: self.which, base, steps }
    }

    /// From voxels of the sampled image to voxels of the other, for a map of points in LPS mm.
    pub(crate) fn map(&self, transform: &DAffine3) -> Affine {
        voxel_map(&self.sampled_geometry, &self.interpolated_geometry, &self.which.from_sampled(transform))
    }

    fn evaluation(&self, entropies: &gpu::math::entropy::Entropies) -> Evaluation {
        let evaluation = Evaluation::new(entropies, self.samples);
        match self.which {
            Sampled::Fixed => evaluation,
            Sampled::Moving => evaluation.exchanged(),
        }
    }
}
