//! What is maximised. Each metric has a file: what it checks, prepares of both images at a level, loads into a backend, and needs in memory.

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
pub(crate) use compare::{Compared, before_and_after};
pub use compare::{Comparison, evaluate};
pub use counted::{Counted, CountedKind};
pub use evaluation::Evaluation;
use family::Family;
pub(crate) use family::{At, LoadedMetric, MetricImages};
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

/// What is maximised.
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
    /// Mattes's, which takes less time than counts and is as accurate.
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

    /// The one place that asks which metric it is.
    fn family(&self) -> &dyn Family {
        match self {
            Self::Counted(counted) => counted,
            Self::Mattes(mattes) => mattes,
            Self::Viola(viola) => viola,
        }
    }

    /// As people write it: `NMI`.
    pub fn name(&self) -> &'static str {
        self.family().name()
    }

    /// As options and reports write it: `nmi`.
    pub fn key(&self) -> &'static str {
        self.family().key()
    }

    /// In a line, with its source.
    pub fn summary(&self) -> &'static str {
        self.family().summary()
    }

    /// Whether it is smooth and has a gradient.
    pub fn has_gradient(&self) -> bool {
        self.family().has_gradient()
    }

    /// How the joint histograms are counted that compare both images at full resolution, before and after.
    pub fn histogram(&self) -> Histogram {
        self.family().histogram()
    }

    /// The value that no two images are below.
    pub(crate) fn worst(&self) -> f64 {
        self.family().worst()
    }

    /// Its value where the images tell nothing about each other.
    pub(crate) fn nothing(&self) -> f64 {
        self.family().nothing()
    }

    /// Its value at full resolution; `None` for what no joint histogram of whole samples has.
    pub(crate) fn of(&self, evaluation: &Evaluation) -> Option<f64> {
        self.family().of(evaluation)
    }

    /// Refuses what it cannot do.
    ///
    /// # Errors
    /// [`crate::Error::Option`] says why.
    pub(crate) fn check(&self) -> Result<()> {
        self.histogram().check()?;
        self.family().check()
    }

    /// Bytes that it needs beside images and joint histograms.
    pub(crate) fn bytes(&self) -> u64 {
        self.family().bytes()
    }

    /// Both images of a level as it compares them.
    ///
    /// # Errors
    /// [`crate::Error::Option`] where they say too little for it.
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
