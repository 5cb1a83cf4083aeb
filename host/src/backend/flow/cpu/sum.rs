//! What several forces add up to.

use crate::backend::lanes::simd::widest;
use crate::threads::wanted;
use gpu::math::flow;
use rayon::prelude::*;

/// Numbers of a piece of work.
const PIECE: usize = 1 << 14;

/// Adds a multiple of `pull` to `sum`: of forces and precisions alike.
pub fn add(sum: &mut [f32], pull: &[f32], weight: f32) {
    let pieces = sum.par_chunks_mut(PIECE).zip(pull.par_chunks(PIECE)).take_any_while(|_| wanted());
    pieces.for_each(|(sum, pull)| add_piece(sum, pull, weight));
}

widest! {
    fn add_piece(sum: &mut [f32], pull: &[f32], weight: f32) {
        for (sum, &pull) in sum.iter_mut().zip(pull) {
            *sum = flow::added(*sum, pull, weight);
        }
    }
}
