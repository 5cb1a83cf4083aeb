//! Metrics that are computed from the counts of a joint histogram.

use super::evaluation::Evaluation;
use super::family::{LoadedMetric, MetricFamily, MetricImages, MetricValue};
use super::joint::{Histogram, JointHistograms, JointImages};
use super::pair::{GridPair, ImagePair};
use crate::backend::{Backend, HistogramMethod, Wanted};
use crate::error::Setting;
use crate::{Error, Result};
use glam::DAffine3;
use gpu::math::interpolate::Interpolator;
use strum::{EnumMessage, IntoStaticStr, VariantArray};

/// The fewest samples per cell of the joint histogram, on average, and the fewest bins per side.
const SAMPLES_PER_CELL: f64 = 4.0;
const LEAST_BINS: u32 = 8;

/// Which metric is computed from a joint histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumMessage, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum CountedKind {
    /// Normalised mutual information, (H(F) + H(M)) / H(F, M) (Shams 2009 eq. 5).
    Nmi,
    /// Mutual information, H(F) + H(M) - H(F, M), in nats (Shams 2009 eq. 3).
    Mi,
    /// Entropy correlation coefficient, 2 MI / (H(F) + H(M)) (Maes and others 1997).
    Ecc,
    /// Correlation ratio eta^2(M|F): how much of the moving image's variance the fixed image explains (Roche and others 1998).
    CorrelationRatio,
}

impl CountedKind {
    /// Returns the metric's value in a comparison.
    pub fn of(self, evaluation: &Evaluation) -> f64 {
        match self {
            Self::Nmi => evaluation.nmi,
            Self::Mi => evaluation.mi,
            Self::Ecc => evaluation.ecc,
            Self::CorrelationRatio => evaluation.correlation_ratio_moving_given_fixed,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Nmi => "NMI",
            Self::Mi => "MI",
            Self::Ecc => "ECC",
            Self::CorrelationRatio => "eta2(M|F)",
        }
    }

    fn wanted(self) -> Wanted {
        match self {
            Self::CorrelationRatio => Wanted::Ratios,
            Self::Nmi | Self::Mi | Self::Ecc => Wanted::Entropies,
        }
    }
}

/// A metric of counted samples in a joint histogram: not smooth, and without a gradient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Counted {
    pub kind: CountedKind,
    /// Bins per side of the joint histogram, 2 to 1024; levels with few samples have fewer.
    pub bins: u32,
    /// The interpolator between the voxels of the interpolated image.
    pub interpolator: Interpolator,
    /// How a GPU counts; all methods give the same counts.
    pub method: HistogramMethod,
}

impl Default for Counted {
    /// NMI at 64 bins, linear.
    fn default() -> Self {
        let Histogram { bins, interpolator, method } = Histogram::default();
        Self { kind: CountedKind::Nmi, bins, interpolator, method }
    }
}

impl MetricFamily for Counted {
    fn name(&self) -> &'static str {
        self.kind.name()
    }

    fn key(&self) -> &'static str {
        self.kind.into()
    }

    fn summary(&self) -> &'static str {
        self.kind.get_documentation().unwrap_or_default()
    }

    fn has_gradient(&self) -> bool {
        false
    }

    fn worst(&self) -> f64 {
        0.0
    }

    fn independent_value(&self) -> f64 {
        if self.kind == CountedKind::Nmi { 1.0 } else { 0.0 }
    }

    fn histogram(&self) -> Histogram {
        Histogram { bins: self.bins, interpolator: self.interpolator, method: self.method }
    }

    fn of(&self, evaluation: &Evaluation) -> Option<f64> {
        Some(self.kind.of(evaluation))
    }

    fn check(&self) -> Result<()> {
        Ok(())
    }

    fn prepare<'v>(&self, pair: ImagePair<'v>) -> Result<Box<dyn MetricImages + 'v>> {
        let bins = pair.filled_bins(self.bins, SAMPLES_PER_CELL, LEAST_BINS);
        let images = JointImages::new(pair, Histogram { bins, ..self.histogram() });
        Ok(Box::new(CountedImages { images, kind: self.kind }))
    }
}

struct CountedImages<'v> {
    images: JointImages<'v>,
    kind: CountedKind,
}

impl MetricImages for CountedImages<'_> {
    fn grids(&self) -> &GridPair {
        &self.images.grids
    }

    fn samples(&self) -> u64 {
        self.images.samples
    }

    fn load<'a>(&'a self, backend: &'a dyn Backend) -> Result<Box<dyn LoadedMetric + 'a>> {
        Ok(Box::new(LoadedCounts { histograms: self.images.load(backend)?, kind: self.kind }))
    }
}

struct LoadedCounts<'a> {
    histograms: JointHistograms<'a>,
    kind: CountedKind,
}

impl LoadedMetric for LoadedCounts<'_> {
    fn values(&mut self, transforms: &[DAffine3]) -> Result<Vec<MetricValue>> {
        let found = self.histograms.evaluate(transforms, self.kind.wanted())?;
        Ok(found.iter().map(|found| MetricValue { value: self.kind.of(found), overlap: found.overlap }).collect())
    }

    fn slope(&mut self, _transform: &DAffine3) -> Result<(MetricValue, [[f64; 4]; 3])> {
        Err(Error::option(Setting::Metric, format!("{} has no gradient", self.kind.name())))
    }
}
