//! What is maximised, and what one evaluation returns.

mod compare;

pub use compare::evaluate;
use gpu::math::entropy::Entropies;

/// The metric to maximise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MetricKind {
    /// Normalised mutual information, (H(F) + H(M)) / H(F, M) (Shams 2009 eq. 5).
    Nmi,
    /// Mutual information, H(F) + H(M) - H(F, M), in nats (Shams 2009 eq. 3).
    Mi,
}

/// The metric and what it was made from, in nats, for one transform.
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
    /// Samples that fell inside the moving image.
    pub overlap: u64,
    /// Samples in all.
    pub samples: u64,
}

impl Evaluation {
    /// From the entropies that a backend returns, for this many samples.
    pub fn new(entropies: &Entropies, samples: u64) -> Self {
        Self {
            fixed_entropy: entropies.fixed,
            moving_entropy: entropies.moving,
            joint_entropy: entropies.joint,
            mi: entropies.mi,
            nmi: entropies.nmi,
            overlap: entropies.counts,
            samples,
        }
    }

    /// The value of `kind`.
    pub fn value(&self, kind: MetricKind) -> f64 {
        match kind {
            MetricKind::Nmi => self.nmi,
            MetricKind::Mi => self.mi,
        }
    }

    /// Fraction of the samples inside the moving image, 0 to 1.
    pub fn overlap_fraction(&self) -> f64 {
        self.overlap as f64 / self.samples.max(1) as f64
    }
}
