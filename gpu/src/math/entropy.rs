//! Computes entropies, MI and NMI (Shams 2009, eq. 2, 3 and 5) from counts, in nats. Sums are always taken in the same
//! order.
//!
//! With N counts in all, H = (N ln N - sum of c ln c) / N. A sum is computed as [`LANES`] interleaved partial sums,
//! which are then folded in halves. A warp can add in this order, and a CPU can vectorise it.

use super::log::ln;

/// The number of partial sums of an ordered sum, which is the width of a warp.
pub const LANES: usize = 32;

/// Returns the term c ln c of a count c; 0 for no counts.
#[inline(always)]
pub fn term(count: u32) -> f64 {
    f64::from(count) * ln(count.max(1))
}

/// Folds partial sums in halves: lane l adds lane l + 16, then l + 8, l + 4, l + 2 and l + 1.
#[inline(always)]
pub fn fold<T: Copy + core::ops::AddAssign>(mut lanes: [T; LANES]) -> T {
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            let other = lanes[lane + half];
            lanes[lane] += other;
        }
        half /= 2;
    }
    lanes[0]
}

/// The sums of [`term`]s over the three histograms.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sums {
    /// Over the fixed image's marginal histogram.
    pub fixed: f64,
    /// Over the moving image's marginal histogram.
    pub moving: f64,
    /// Over the joint histogram.
    pub joint: f64,
    /// N: all counts, below 2^32.
    pub counts: u64,
}

/// What is computed from a joint histogram.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Entropies {
    /// H(F), nats.
    pub fixed: f64,
    /// H(M), nats.
    pub moving: f64,
    /// H(F, M), nats.
    pub joint: f64,
    /// Mutual information, H(F) + H(M) - H(F, M), nats.
    pub mi: f64,
    /// Normalised mutual information, (H(F) + H(M)) / H(F, M): 1 to 2.
    pub nmi: f64,
    /// The [correlation ratios](super::correlation) of the moving image given the fixed one and of the fixed image
    /// given the moving one; 0 unless they were requested.
    pub ratios: [f64; 2],
    /// All counts.
    pub counts: u64,
}

impl Entropies {
    /// Returns the entropy correlation coefficient, 2 MI / (H(F) + H(M)) (Maes and others 1997). It is 0 for
    /// independent images and for two constant images, and 1 for images that determine each other.
    pub fn ecc(&self) -> f64 {
        let sum = self.fixed + self.moving;
        if sum > 0.0 { 2.0 * self.mi / sum } else { 0.0 }
    }
}

/// Computes the entropies, MI and NMI; the ratios are set to 0. Without counts, all results are 0. With a joint entropy
/// of 0 (a single pair of bins), the NMI is 1, its value for independent images.
#[inline(always)]
pub fn finish(sums: Sums) -> Entropies {
    if sums.counts == 0 {
        return Entropies::default();
    }
    let n = sums.counts as f64;
    // This form, and not ln N - sum / N, gives an entropy of exactly 0 for a single bin, since the sum is then the same
    // product.
    let whole = n * ln(sums.counts as u32);
    let entropy = |sum: f64| ((whole - sum) / n).max(0.0);
    let (fixed, moving, joint) = (entropy(sums.fixed), entropy(sums.moving), entropy(sums.joint));
    let nmi = if joint > 0.0 { (fixed + moving) / joint } else { 1.0 };
    Entropies { fixed, moving, joint, mi: fixed + moving - joint, nmi, ratios: [0.0; 2], counts: sums.counts }
}
