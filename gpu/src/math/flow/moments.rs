//! The score of local correlation, from the moments of a pair of images around a voxel.

use super::{Score, at_least, variance};
#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;

/// The local moments of a pair of images around a voxel: means under a Gaussian window. Intensities are fractions of the range.
#[derive(Debug, Clone, Copy)]
pub struct Moments {
    /// The mean of f.
    pub fixed: f32,
    /// The variance of f.
    pub fixed_variance: f32,
    /// The mean of m.
    pub moving: f32,
    /// The mean of m^2.
    pub moving_square: f32,
    /// The mean of f m.
    pub product: f32,
}

/// Added to each variance: the variance of noise with a standard deviation of 1 % of the range.
pub const NOISE: f32 = 1e-4;

/// The largest squared correlation that is used.
pub(super) const MOST: f32 = 0.999;

impl Moments {
    /// Returns the squared local correlation r^2, and the score and the information at a voxel's intensities. These are
    /// of the mutual information of two normal variables, -ln(1 - r^2) / 2.
    #[inline(always)]
    pub fn score(&self, [fixed, moving]: [f32; 2]) -> (f32, Score) {
        let fixed_variance = at_least(self.fixed_variance, 0.0) + NOISE;
        let moving_variance = at_least(variance(self.moving, self.moving_square), 0.0) + NOISE;
        let covariance = (-self.fixed).mul_add(self.moving, self.product);
        let correlation = covariance * covariance / (fixed_variance * moving_variance);
        let correlation = if correlation < MOST { correlation } else { MOST };
        let rest = moving_variance * (1.0 - correlation);
        let away = moving - self.moving;
        let expected = covariance / fixed_variance * (fixed - self.fixed);
        let score = (expected - away) / rest + away / moving_variance;
        (correlation, Score { score, information: correlation / rest })
    }
}
