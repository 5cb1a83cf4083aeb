//! From counts to entropies, MI and NMI (Shams 2009, eq. 2, 3 and 5), in nats, always summed in the same order.
//!
//! With N counts in all, H = (N ln N - sum of c ln c) / N. A sum runs over [`LANES`] interleaved partial sums, which are then folded
//! in halves: the order in which a warp adds, and one in which a CPU can vectorise.

use super::log::ln;

/// Partial sums of an ordered sum: the width of a warp.
pub const LANES: usize = 32;

/// The term c ln c of a counter; 0 for no counts.
#[inline(always)]
pub fn term(count: u32) -> f64 {
    f64::from(count) * ln(count.max(1))
}

/// Folds partial sums in halves: lane l takes lane l + 16, then l + 8, 4, 2, 1.
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

/// The values that follow from a joint histogram.
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
    /// [Correlation ratios](super::correlation) of the moving image given the fixed one and of the fixed image given the moving
    /// one; 0 unless they were asked for.
    pub ratios: [f64; 2],
    /// All counts.
    pub counts: u64,
}

impl Entropies {
    /// The entropy correlation coefficient, 2 MI / (H(F) + H(M)) (Maes and others 1997): 0 for images that say nothing about each
    /// other, where both are constant as well, 1 for images that determine each other.
    pub fn ecc(&self) -> f64 {
        let sum = self.fixed + self.moving;
        if sum > 0.0 { 2.0 * self.mi / sum } else { 0.0 }
    }
}

/// The entropies, MI and NMI, with ratios of 0. Without counts all is 0; with a joint entropy of 0 (a single pair of bins) the NMI is 1, the
/// value for images that say nothing about each other.
#[inline(always)]
pub fn finish(sums: Sums) -> Entropies {
    if sums.counts == 0 {
        return Entropies::default();
    }
    let n = sums.counts as f64;
    // Not ln N - sum / N: of a single bin the sum is this very product, so that its entropy is 0 and not one unit of round-off.
    let whole = n * ln(sums.counts as u32);
    let entropy = |sum: f64| ((whole - sum) / n).max(0.0);
    let (fixed, moving, joint) = (entropy(sums.fixed), entropy(sums.moving), entropy(sums.joint));
    let nmi = if joint > 0.0 { (fixed + moving) / joint } else { 1.0 };
    Entropies { fixed, moving, joint, mi: fixed + moving - joint, nmi, ratios: [0.0; 2], counts: sums.counts }
}
