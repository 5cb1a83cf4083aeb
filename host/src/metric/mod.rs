//! What is maximised, and what one evaluation returns.

mod chain;
mod compare;
mod images;
mod measure;
mod samples;
mod sampling;
mod sigmas;

use crate::backend::Wanted;
pub use compare::evaluate;
pub(crate) use compare::images;
use gpu::math::entropy::Entropies;
pub use images::{Images, Sampled};
pub(crate) use measure::{At, Measure};
pub(crate) use samples::Samples;
pub use sampling::Sampling;
pub(crate) use sampling::{picked, plan, thinned, within};
use strum::{Display, EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// The metric to maximise.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Display, EnumMessage, EnumString, IntoStaticStr, VariantArray, serde::Serialize,
)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum MetricKind {
    /// Normalised mutual information, (H(F) + H(M)) / H(F, M) (Shams 2009 eq. 5).
    Nmi,
    /// Mutual information, H(F) + H(M) - H(F, M), in nats (Shams 2009 eq. 3).
    Mi,
    /// Entropy correlation coefficient, 2 MI / (H(F) + H(M)) (Maes and others 1997).
    Ecc,
    /// Correlation ratio eta^2(M|F): how much of the moving image's variance the fixed image explains (Roche and others 1998).
    CorrelationRatio,
    /// Mutual information by cubic B-spline windows on the intensities that are interpolated, with its gradient (Mattes and others 2003).
    Mattes,
    /// The same with windows on the intensities of both images.
    MattesSymmetric,
    /// Mutual information by Gaussian windows over two sets of samples, with its gradient (Viola & Wells 1997; Lin & Medioni 2008).
    Viola,
}

impl MetricKind {
    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nmi => "NMI",
            Self::Mi => "MI",
            Self::Ecc => "ECC",
            Self::CorrelationRatio => "eta2(M|F)",
            Self::Mattes => "Mattes MI",
            Self::MattesSymmetric => "symmetric Mattes MI",
            Self::Viola => "Viola MI",
        }
    }

    /// What an evaluation must have for its value.
    pub fn wanted(self) -> Wanted {
        match self {
            Self::CorrelationRatio => Wanted::Ratios,
            _ => Wanted::Entropies,
        }
    }

    /// Whether it is smooth and has a gradient; the others are made from the counts of a joint histogram.
    pub fn smooth(self) -> bool {
        matches!(self, Self::Mattes | Self::MattesSymmetric | Self::Viola)
    }
}

/// The metrics and what they are made from, entropies and MI in nats, for one transform.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct Evaluation {
    /// H(F), over the overlap.
    pub fixed_entropy: f64,
    /// H(M), over the overlap.
    pub moving_entropy: f64,
    /// H(F, M).
    pub joint_entropy: f64,
    pub mi: f64,
    pub nmi: f64,
    /// 0 for images that say nothing about each other or are constant, 1 for images that determine each other.
    pub ecc: f64,
    /// Correlation ratio eta^2(M|F), 0 to 1; 0 where the moving image is constant.
    pub correlation_ratio_moving_given_fixed: f64,
    /// Correlation ratio eta^2(F|M), 0 to 1; 0 where the fixed image is constant.
    pub correlation_ratio_fixed_given_moving: f64,
    /// Samples that fell inside the moving image.
    pub overlap: u64,
    /// Samples in all.
    pub samples: u64,
}

impl Evaluation {
    /// From what a backend returns, for this many samples.
    pub fn new(entropies: &Entropies, samples: u64) -> Self {
        let [moving_given_fixed, fixed_given_moving] = entropies.ratios;
        Self {
            fixed_entropy: entropies.fixed,
            moving_entropy: entropies.moving,
            joint_entropy: entropies.joint,
            mi: entropies.mi,
            nmi: entropies.nmi,
            ecc: entropies.ecc(),
            correlation_ratio_moving_given_fixed: moving_given_fixed,
            correlation_ratio_fixed_given_moving: fixed_given_moving,
            overlap: entropies.counts,
            samples,
        }
    }

    /// The same with the fixed and the moving image in each other's place.
    pub fn exchanged(&self) -> Self {
        Self {
            fixed_entropy: self.moving_entropy,
            moving_entropy: self.fixed_entropy,
            correlation_ratio_moving_given_fixed: self.correlation_ratio_fixed_given_moving,
            correlation_ratio_fixed_given_moving: self.correlation_ratio_moving_given_fixed,
            ..*self
        }
    }

    /// The value of `kind`; `None` for a smooth metric, which no joint histogram has.
    pub fn value(&self, kind: MetricKind) -> Option<f64> {
        match kind {
            MetricKind::Nmi => Some(self.nmi),
            MetricKind::Mi => Some(self.mi),
            MetricKind::Ecc => Some(self.ecc),
            MetricKind::CorrelationRatio => Some(self.correlation_ratio_moving_given_fixed),
            MetricKind::Mattes | MetricKind::MattesSymmetric | MetricKind::Viola => None,
        }
    }

    /// Fraction of the samples inside the moving image, 0 to 1.
    pub fn overlap_fraction(&self) -> f64 {
        self.overlap as f64 / self.samples.max(1) as f64
    }
}
