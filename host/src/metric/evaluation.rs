//! The result of one comparison by a joint histogram.

use gpu::math::entropy::Entropies;

/// The metrics, and the entropies from which they are computed, for one transform. Entropies and MI are in nats.
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
    /// 0 for images that are independent or constant, 1 for images that determine each other.
    pub ecc: f64,
    /// Correlation ratio eta^2(M|F), 0 to 1; 0 where the moving image is constant.
    pub correlation_ratio_moving_given_fixed: f64,
    /// Correlation ratio eta^2(F|M), 0 to 1; 0 where the fixed image is constant.
    pub correlation_ratio_fixed_given_moving: f64,
    /// Samples that fell inside the moving image.
    pub overlap: u64,
    /// All samples.
    pub samples: u64,
}

impl Evaluation {
    /// Converts what a backend returns for this many samples.
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

    /// Returns the same with the fixed and the moving image exchanged.
    pub fn exchanged(&self) -> Self {
        Self {
            fixed_entropy: self.moving_entropy,
            moving_entropy: self.fixed_entropy,
            correlation_ratio_moving_given_fixed: self.correlation_ratio_fixed_given_moving,
            correlation_ratio_fixed_given_moving: self.correlation_ratio_moving_given_fixed,
            ..*self
        }
    }

    /// Returns the mutual information that all samples share, nats, if those outside the moving image share none.
    pub fn total_mi(&self) -> f64 {
        self.mi * self.overlap as f64
    }

    /// Returns the fraction of the samples inside the moving image, 0 to 1.
    pub fn overlap_fraction(&self) -> f64 {
        self.overlap as f64 / self.samples.max(1) as f64
    }
}
