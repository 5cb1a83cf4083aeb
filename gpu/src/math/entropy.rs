//! From counts to entropies, MI and NMI (Shams 2009, eq. 2, 3 and 5), in nats, always in the same order.
//!
//! With N counts in all, H = (N ln N - sum of c ln c) / N. A sum runs over [`LANES`] interleaved partial sums, which are then folded
//! in halves: the order in which a warp adds, and one in which a CPU can vectorise.

use super::log::ln;

/// Partial sums of an ordered sum: the width of a warp.
pub const LANES: usize = 32;

/// c ln c, and 0 for no counts.
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

/// The three sums of [`term`]s and the number of counts.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sums {
    pub fixed: f64,
    pub moving: f64,
    pub joint: f64,
    pub counts: u64,
}

/// Entropies in nats, MI and NMI, and correlation ratios.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Entropies {
    pub fixed: f64,
    pub moving: f64,
    pub joint: f64,
    pub mi: f64,
    pub nmi: f64,
    /// [Correlation ratios](super::correlation) of the moving image given the fixed one and of the fixed image given the moving
    /// one; 0 unless they were asked for.
    pub ratios: [f64; 2],
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

/// Everything that follows from the sums; the ratios are left at 0. Without counts all is 0; with a joint entropy of 0 (a single bin pair) the NMI is 1,
/// the value for images that say nothing about each other.
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
