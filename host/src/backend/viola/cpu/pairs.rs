//! Viola's mutual information by sums over all pairs of a sample of A and a sample of B. 16 samples of one set are
//! processed together, those of the other set one after the other.

// Loops over lanes index several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::{Densities, GroupSums, InterpolatedSample, add_in_order};
use crate::backend::lanes::simd::widest;
use crate::backend::lanes::{CHUNK as LANES, Lanes};
use crate::backend::viola::Sigmas;
use crate::threads::should_continue;
use gpu::math::viola::{
    self, CHUNKS_PER_SEGMENT, JointGaussian, JointWindow, Product, SAMPLES_PER_CHUNK, SEGMENTS_PER_STRETCH, Scaled,
    Sums, Weights,
};
use rayon::prelude::*;

/// The least number of pairs in a piece of work.
const PIECE: usize = 1 << 16;

/// Compares the sample sets A and B of a group.
pub fn compare(a: &[InterpolatedSample], b: &[InterpolatedSample], sigmas: &Sigmas, slopes: bool) -> GroupSums {
    let [scaled_a, scaled_b] = [a, b].map(|set| scaled(set, sigmas.scales()));
    let mut densities = vec![Densities::default(); scaled_b.len()];
    let tiles = densities.par_chunks_mut(LANES).zip(scaled_b.par_chunks(LANES)).with_min_len(least(&scaled_a));
    tiles
        .take_any_while(|_| should_continue())
        .for_each(|(densities, tile)| evaluate(sigmas.joint_gaussian(), &scaled_a, tile, slopes, densities));
    let counts = |n: usize| b.get(n).is_some_and(|at| at.inside);
    densities
        .iter_mut()
        .enumerate()
        .filter(|(n, _)| !counts(*n))
        .for_each(|(_, densities)| *densities = Densities::default());
    let mut logarithms = [0.0; 3];
    add_in_order(&mut logarithms, b.len(), |i| densities[i].logarithms);
    if !slopes {
        return GroupSums { logarithms, coefficients: Default::default() };
    }
    let mut a_derivatives = vec![0.0; scaled_a.len()];
    let all: Vec<_> = scaled_b.iter().copied().zip(densities.iter().map(|densities| densities.weights)).collect();
    let tiles = a_derivatives.par_chunks_mut(LANES).zip(scaled_a.par_chunks(LANES)).with_min_len(least(&scaled_b));
    tiles
        .take_any_while(|_| should_continue())
        .for_each(|(a_derivatives, tile)| derivatives(sigmas.joint_gaussian(), &all, tile, a_derivatives));
    a_derivatives.iter_mut().zip(a).filter(|(_, a)| !a.inside).for_each(|(a_derivatives, _)| *a_derivatives = 0.0);
    GroupSums {
        logarithms,
        coefficients: [a_derivatives, densities.iter().map(|densities| densities.coefficient).collect()],
    }
}

/// Scales the samples of a set, and fills it up to whole chunks with samples that don't count.
fn scaled(set: &[InterpolatedSample], scales: Scaled) -> Vec<Scaled> {
    let one = |at: &InterpolatedSample| viola::scaled(at.values, at.inside, scales);
    let fill = viola::scaled([0.0; 2], false, scales);
    let mut all: Vec<_> = set.iter().map(one).collect();
    all.resize(all.len().next_multiple_of(SAMPLES_PER_CHUNK), fill);
    all
}

/// The least number of tiles in a piece of work that compares tiles with a set.
fn least(set: &[Scaled]) -> usize {
    PIECE.div_ceil(LANES * set.len().max(1))
}

widest! {
    /// Evaluates the densities of A at 16 samples of B.
    fn evaluate(
        gaussian: Option<JointGaussian>, a: &[Scaled], tile: &[Scaled], slopes: bool, densities: &mut [Densities],
    ) {
        match (gaussian, slopes) {
            (None, false) => evaluate_by::<false, Product>(Product, a, tile, densities),
            (None, true) => evaluate_by::<true, Product>(Product, a, tile, densities),
            (Some(gaussian), false) => evaluate_by::<false, JointGaussian>(gaussian, a, tile, densities),
            (Some(gaussian), true) => evaluate_by::<true, JointGaussian>(gaussian, a, tile, densities),
        }
    }
}

widest! {
    /// The derivative of the mutual information by v of 16 samples of A.
    fn derivatives(
        gaussian: Option<JointGaussian>, b: &[(Scaled, Weights)], tile: &[Scaled], a_derivatives: &mut [f64],
    ) {
        let [lanes] = match gaussian {
            None => in_order(&OverB { joint: Product, b, tile: by_lane(tile) }),
            Some(gaussian) => in_order(&OverB { joint: gaussian, b, tile: by_lane(tile) }),
        };
        a_derivatives.copy_from_slice(&lanes);
    }
}

#[inline(always)]
fn evaluate_by<const SLOPE: bool, J: JointWindow>(
    joint: J,
    a: &[Scaled],
    tile: &[Scaled],
    densities: &mut [Densities],
) {
    let lanes = in_order(&OverA::<SLOPE, J> { joint, a, tile: by_lane(tile) });
    for (l, densities) in densities.iter_mut().enumerate() {
        let sums =
            Sums { u: lanes[0][l], v: lanes[1][l], joint: lanes[2][l], slope_v: lanes[3][l], slope_joint: lanes[4][l] };
        *densities = Densities::new(sums, joint);
    }
}

#[inline(always)]
fn by_lane(tile: &[Scaled]) -> [Lanes; 2] {
    [std::array::from_fn(|l| tile[l].u), std::array::from_fn(|l| tile[l].v)]
}

/// N sums over a set for each of 16 samples. This is a trait and not a closure, because a closure would not be compiled
/// for the caller's instruction set.
trait Terms<const N: usize> {
    /// The number of chunks in the set.
    fn chunks(&self) -> usize;

    /// The sums over one chunk.
    fn chunk(&self, chunk: usize) -> [Lanes; N];
}

/// The sums over the whole set, in the order that [`gpu::math::viola`] defines.
#[inline(always)]
fn in_order<const N: usize>(terms: &impl Terms<N>) -> [[f64; LANES]; N] {
    let (chunks, mut total) = (terms.chunks(), [[0.0; LANES]; N]);
    for stretch in (0..chunks).step_by(SEGMENTS_PER_STRETCH * CHUNKS_PER_SEGMENT) {
        let (end, mut stretch_sums) =
            (chunks.min(stretch + SEGMENTS_PER_STRETCH * CHUNKS_PER_SEGMENT), [[0.0; LANES]; N]);
        for segment in (stretch..end).step_by(CHUNKS_PER_SEGMENT) {
            let mut segment_sums = [[0.0; LANES]; N];
            for chunk in segment..end.min(segment + CHUNKS_PER_SEGMENT) {
                let sums = terms.chunk(chunk);
                for n in 0..N {
                    for l in 0..LANES {
                        segment_sums[n][l] += f64::from(sums[n][l]);
                    }
                }
            }
            add(&mut stretch_sums, &segment_sums);
        }
        add(&mut total, &stretch_sums);
    }
    total
}

#[inline(always)]
fn add<const N: usize>(sums: &mut [[f64; LANES]; N], more: &[[f64; LANES]; N]) {
    for n in 0..N {
        for l in 0..LANES {
            sums[n][l] += more[n][l];
        }
    }
}

/// The sums over A for 16 samples of B.
struct OverA<'a, const SLOPE: bool, J> {
    joint: J,
    a: &'a [Scaled],
    tile: [Lanes; 2],
}

impl<const SLOPE: bool, J: JointWindow> Terms<5> for OverA<'_, SLOPE, J> {
    #[inline(always)]
    fn chunks(&self) -> usize {
        self.a.len() / SAMPLES_PER_CHUNK
    }

    #[inline(always)]
    fn chunk(&self, chunk: usize) -> [Lanes; 5] {
        let [mut u, mut v, mut joint, mut slope_v, mut slope_joint] = [[0.0; LANES]; 5];
        for &j in &self.a[chunk * SAMPLES_PER_CHUNK..][..SAMPLES_PER_CHUNK] {
            for l in 0..LANES {
                let i = Scaled { u: self.tile[0][l], v: self.tile[1][l] };
                let mut sums =
                    Sums { u: u[l], v: v[l], joint: joint[l], slope_v: slope_v[l], slope_joint: slope_joint[l] };
                sums.add::<SLOPE>(i, j, self.joint);
                (u[l], v[l], joint[l]) = (sums.u, sums.v, sums.joint);
                (slope_v[l], slope_joint[l]) = (sums.slope_v, sums.slope_joint);
            }
        }
        [u, v, joint, slope_v, slope_joint]
    }
}

/// The sums over B for 16 samples of A.
struct OverB<'a, J> {
    joint: J,
    b: &'a [(Scaled, Weights)],
    tile: [Lanes; 2],
}

impl<J: JointWindow> Terms<1> for OverB<'_, J> {
    #[inline(always)]
    fn chunks(&self) -> usize {
        self.b.len() / SAMPLES_PER_CHUNK
    }

    #[inline(always)]
    fn chunk(&self, chunk: usize) -> [Lanes; 1] {
        let mut sums = [0.0; LANES];
        for &(i, weights) in &self.b[chunk * SAMPLES_PER_CHUNK..][..SAMPLES_PER_CHUNK] {
            for l in 0..LANES {
                let j = Scaled { u: self.tile[0][l], v: self.tile[1][l] };
                sums[l] = viola::add_derivative(sums[l], i, weights, j, self.joint);
            }
        }
        [sums]
    }
}
