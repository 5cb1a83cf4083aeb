//! The metrics that a registration maximises. Each metric has a file with its checks, the preparation of both images at
//! a level, the loading into a backend, and the memory that it needs.

mod chain;
pub(crate) mod check;
mod compare;
mod counted;
mod evaluation;
mod family;
mod joint;
mod mattes;
mod pair;
pub(crate) mod sampling;
mod sigmas;
mod viola;

pub(crate) use chain::Chain;
pub(crate) use compare::{BeforeAfter, before_and_after};
pub use compare::{Comparison, evaluate};
pub use counted::{Counted, CountedKind};
pub use evaluation::Evaluation;
use family::MetricFamily;
pub(crate) use family::{LoadedMetric, MetricImages, MetricValue};
pub use joint::Histogram;
pub(crate) use joint::{NO_INFORMATION, chance, information};
pub use mattes::Mattes;
pub use pair::Sampled;
pub(crate) use pair::{GridPair, ImagePair};
pub use sampling::Sampling;
pub use viola::Viola;

pub use crate::backend::{Exponentials, HistogramMethod, Sigmas, Windows};
pub use gpu::math::interpolate::Interpolator;

use crate::Result;
use serde::{Serialize, Serializer};
use strum::VariantArray;

/// The metric that a registration maximises.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Metric {
    /// From the counts of a joint histogram: MI, NMI, ECC or the correlation ratio.
    Counted(Counted),
    /// Mutual information by B-spline windows, with its gradient.
    Mattes(Mattes),
    /// Mutual information by Gaussian windows over samples, with its gradient.
    Viola(Viola),
}

impl Default for Metric {
    /// Mattes's metric, which takes less time than counting and is as accurate.
    fn default() -> Self {
        Self::Mattes(Mattes::default())
    }
}

impl Metric {
    /// Every metric, each with its defaults.
    pub fn all() -> Vec<Self> {
        let counted = CountedKind::VARIANTS.iter().map(|&kind| Self::Counted(Counted { kind, ..Counted::default() }));
        let mattes =
            [Windows::Moving, Windows::Both].map(|windows| Self::Mattes(Mattes { windows, ..Mattes::default() }));
        counted.chain(mattes).chain([Self::Viola(Viola::default())]).collect()
    }

    /// Returns the metric as its family. This is the only place that distinguishes the metrics.
    fn family(&self) -> &dyn MetricFamily {
        match self {
            Self::Counted(counted) => counted,
            Self::Mattes(mattes) => mattes,
            Self::Viola(viola) => viola,
        }
    }

    /// Returns the name in text: `NMI`.
    pub fn name(&self) -> &'static str {
        self.family().name()
    }

    /// Returns the name in options and reports: `nmi`.
    pub fn key(&self) -> &'static str {
        self.family().key()
    }

    /// Returns a description in one line, with its source.
    pub fn summary(&self) -> &'static str {
        self.family().summary()
    }

    /// Returns whether the metric is smooth and has a gradient.
    pub fn has_gradient(&self) -> bool {
        self.family().has_gradient()
    }

    /// Returns how the joint histograms are counted that compare both images at full resolution, before and after.
    pub fn histogram(&self) -> Histogram {
        self.family().histogram()
    }

    /// Returns the value that counts as the worst: see [`MetricFamily::worst`].
    pub(crate) fn worst(&self) -> f64 {
        self.family().worst()
    }

    /// Returns the metric's value for independent images.
    pub(crate) fn independent_value(&self) -> f64 {
        self.family().independent_value()
    }

    /// Returns the metric's value at full resolution; `None` if a joint histogram of whole samples does not give it.
    pub(crate) fn of(&self, evaluation: &Evaluation) -> Option<f64> {
        self.family().of(evaluation)
    }

    /// Refuses options that the metric cannot use.
    ///
    /// # Errors
    /// [`crate::Error::Option`] says why.
    pub(crate) fn check(&self) -> Result<()> {
        self.histogram().check()?;
        self.family().check()
    }

    /// Returns the bytes that the metric needs beside images and joint histograms.
    pub(crate) fn bytes(&self) -> u64 {
        self.family().bytes()
    }

    /// Prepares both images of a level for the metric.
    ///
    /// # Errors
    /// [`crate::Error::Option`] if the images have too little content for it.
    pub(crate) fn prepare<'v>(&self, pair: ImagePair<'v>) -> Result<Box<dyn MetricImages + 'v>> {
        self.family().prepare(pair)
    }
}

impl Serialize for Metric {
    /// As its [`key`](Self::key).
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.key())
    }
}
