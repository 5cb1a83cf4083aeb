//! The CPU's entropies: the order of additions is that of [`gpu::math::entropy`].

use super::simd::widest;
use gpu::math::entropy::{Entropies, LANES, Sums, finish, fold, term};

/// Sums terms in lanes, then folds the lanes.
#[inline(always)]
fn ordered(terms: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let mut chunks = terms.chunks_exact(LANES);
    for chunk in &mut chunks {
        for lane in 0..LANES {
            lanes[lane] += chunk[lane];
        }
    }
    for (lane, term) in lanes.iter_mut().zip(chunks.remainder()) {
        *lane += term;
    }
    fold(lanes)
}

/// The ordered sum of the counts' terms.
#[inline(always)]
fn sum(counts: &[u32], terms: &mut Vec<f64>) -> f64 {
    terms.clear();
    terms.extend(counts.iter().map(|&count| term(count)));
    ordered(terms)
}

widest! {
    /// Entropies of a joint histogram of `bins` fixed and moving bins: the pair (f, m) is at `f + bins[0] * m`.
    pub fn entropies(joint: &[u32], bins: [u32; 2]) -> Entropies {
        let [fixed_bins, moving_bins] = bins.map(|n| n as usize);
        let mut fixed = vec![0; fixed_bins];
        let mut moving = Vec::with_capacity(moving_bins);
        let mut columns = Vec::with_capacity(moving_bins);
        let mut terms = Vec::with_capacity(fixed_bins.max(moving_bins));
        for column in joint.chunks_exact(fixed_bins) {
            fixed.iter_mut().zip(column).for_each(|(sum, count)| *sum += count);
            moving.push(column.iter().sum());
            columns.push(sum(column, &mut terms));
        }
        let counts = moving.iter().map(|&count| u64::from(count)).sum();
        finish(Sums { fixed: sum(&fixed, &mut terms), moving: sum(&moving, &mut terms), joint: ordered(&columns), counts })
    }
}
