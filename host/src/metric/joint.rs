//! Joint histograms of a pair of images.

use super::evaluation::Evaluation;
use super::pair::{GridPair, ImagePair, Sampled};
use crate::backend::{Backend, Counted, Evaluator, HistogramMethod, Interpolated, Pair, Wanted, cpu};
use crate::error::Setting;
use crate::image::{ToBins, ToValues};
use crate::{Error, Result};
use glam::DAffine3;
use gpu::math::binning::{Binning, Stored};
use gpu::math::entropy::Entropies;
use gpu::math::interpolate::Interpolator;

/// How a joint histogram is counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Histogram {
    /// Bins per side, 2 to 1024.
    pub bins: u32,
    /// How values between voxels are interpolated.
    pub interpolator: Interpolator,
    /// How a GPU counts; all methods give the same counts.
    pub method: HistogramMethod,
}

impl Default for Histogram {
    /// 64 bins, linear.
    fn default() -> Self {
        Self { bins: Self::BINS, interpolator: Interpolator::Linear, method: HistogramMethod::Auto }
    }
}

impl Histogram {
    /// The default number of bins per side.
    pub const BINS: u32 = 64;

    /// Refuses numbers of bins that cannot be counted.
    ///
    /// # Errors
    /// [`Error::Option`] for too few or too many bins.
    pub fn check(&self) -> Result<()> {
        let bins = self.bins;
        match (2..=1024).contains(&bins) {
            true => Ok(()),
            false => Err(Error::option(
                Setting::Bins,
                format!("{bins} bins: the joint histogram takes 2 to 1024 bins per side"),
            )),
        }
    }
}

/// A pair of images ready to be loaded for joint histograms.
pub struct JointImages<'v> {
    pub grids: GridPair,
    sampled: ToBins<'v>,
    interpolated: ToValues<'v>,
    histogram: Histogram,
    /// The number of voxels that are counted.
    pub samples: u64,
}

impl<'v> JointImages<'v> {
    /// Prepares a pair, which the backend packs.
    pub fn new(pair: ImagePair<'v>, histogram: Histogram) -> Self {
        let (grids, samples, bins) = (pair.grids(), pair.samples() as u64, histogram.bins);
        let [(low, high), range] = pair.ranges;
        let binning = Binning { low, high, bins, stored: Stored::Bins };
        let sampled = ToBins::new(pair.sampled, binning, pair.keep);
        let interpolated = ToValues::new(pair.interpolated, pair.sigmas, range, bins);
        Self { grids, sampled, interpolated, histogram, samples }
    }

    fn pair(&self) -> Pair<'_> {
        let Histogram { bins, interpolator, .. } = self.histogram;
        let (fixed, moving) = (Counted::Image(&self.sampled), Interpolated::Image(&self.interpolated));
        Pair { fixed, moving, bins: [bins; 2], interpolator }
    }

    /// Returns the count that one sample adds to the histogram.
    ///
    /// # Errors
    /// Those of [`Pair::unit`].
    pub fn unit(&self) -> Result<u32> {
        self.pair().unit()
    }

    /// Loads the pair into a backend.
    ///
    /// # Errors
    /// Those of [`Backend::load`].
    pub fn load<'a>(&'a self, backend: &'a dyn Backend) -> Result<JointHistograms<'a>> {
        Ok(JointHistograms { images: self, evaluator: backend.load(self.pair(), self.histogram.method)? })
    }

    /// Converts what a backend returns, whichever image is sampled.
    pub fn evaluation(&self, entropies: &Entropies) -> Evaluation {
        let evaluation = Evaluation::new(entropies, self.samples);
        match self.grids.which {
            Sampled::Fixed => evaluation,
            Sampled::Moving => evaluation.exchanged(),
        }
    }
}

/// Returns the bias of mutual information, nats: how much too high it is on average because so many samples fill the
/// cells of the joint histogram by chance (Roulston 1999). The pair (f, m) is at `f + bins * m`.
pub fn chance(counts: &[u32], bins: usize, samples: u64) -> f64 {
    if samples == 0 {
        return 0.0;
    }
    let filled = |cells: &mut dyn Iterator<Item = bool>| cells.filter(|filled| *filled).count() as f64;
    let fixed = filled(&mut (0..bins).map(|f| counts.iter().skip(f).step_by(bins).any(|&n| n > 0)));
    let moving = filled(&mut counts.chunks(bins).map(|row| row.iter().any(|&n| n > 0)));
    let joint = filled(&mut counts.iter().map(|&n| n > 0));
    ((joint - fixed - moving + 1.0) / (2.0 * samples as f64)).max(0.0)
}

/// Mutual information beyond chance that counts as none, nats.
pub const NO_INFORMATION: f64 = 1e-4;

/// Returns the mutual information of a joint histogram less its bias by [`chance`], nats.
pub fn information(counts: &[u32], bins: usize) -> f64 {
    let found = cpu::entropies(counts, [bins as u32; 2], Wanted::Entropies);
    found.mi - chance(counts, bins, found.counts)
}

/// A loaded pair.
pub struct JointHistograms<'a> {
    images: &'a JointImages<'a>,
    evaluator: Box<dyn Evaluator + 'a>,
}

impl JointHistograms<'_> {
    /// Returns the name of the method that counts.
    pub fn method(&self) -> &'static str {
        self.evaluator.method()
    }

    /// Evaluates each map of points of the fixed image to points of the moving image, LPS mm. What is not wanted is 0.
    ///
    /// # Errors
    /// Those of [`Evaluator::evaluate`].
    pub fn evaluate(&mut self, transforms: &[DAffine3], wanted: Wanted) -> Result<Vec<Evaluation>> {
        let found = self.evaluator.evaluate(&self.images.grids.maps(transforms), wanted)?;
        Ok(found.iter().map(|entropies| self.images.evaluation(entropies)).collect())
    }

    /// Returns the counts at a map: the pair (f, m) is at `f + bins * m`, where f is the sampled image's.
    ///
    /// # Errors
    /// Those of [`Evaluator::histogram`].
    pub fn counts(&mut self, transform: &DAffine3) -> Result<Vec<u32>> {
        self.evaluator.histogram(&self.images.grids.map(transform))
    }
}
