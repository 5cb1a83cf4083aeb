//! Sums in the order of [`gpu::math::entropy`].

use gpu::math::entropy::{LANES, fold};

/// Sums terms in lanes, then folds the lanes.
#[inline(always)]
pub fn ordered(terms: &[f64]) -> f64 {
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
