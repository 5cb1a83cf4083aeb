//! From the joint histogram to the value of the metric and the tables of its force.
//!
//! With the joint density P(f, m), smoothed by a Gaussian window, the score of a pair of intensities is the derivative by m of
//! ln P(f, m) - ln P(m) for mutual information (Chefd'hotel 2002, after Hermosillo), of NMI ln P(f, m) - ln P(m) for its normalised
//! form, and (f - m) / s^2 for squared differences of mean s^2. The information at f is the mean of the score's square over P(m | f).

use super::Force;
use crate::backend::simd::widest;
use crate::backend::{Score, WeightedScore};
use gpu::math::log;

/// The window's standard deviation as a part of the range.
const WINDOW: f64 = 0.0235;

/// What is added to densities, so that their logarithms are finite.
const FLOOR: f64 = 1e-9;

/// Sums are of so many, which do not wait for each other.
const EIGHT: usize = 8;

/// Neighbours that are smoothed together.
const BLOCK: usize = 32;

/// The value of a metric, and what [`gpu::math::flow::score`] reads.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// What the force climbs.
    pub value: f64,
    /// The information per voxel that it stands for, nats: mutual information, or the logarithm of the likelihood of the differences.
    pub nats: f64,
    pub scores: Vec<f32>,
    pub information: Vec<f32>,
}

impl Table {
    /// Of joint counts, of which the pair (f, m) is at `f + bins * m`; all 0 where nothing was counted.
    pub fn new(force: Force, counts: &[u32], bins: usize) -> Self {
        let total: u64 = counts.iter().map(|&n| u64::from(n)).sum();
        if total == 0 {
            return Self { value: 0.0, nats: 0.0, scores: vec![0.0; bins * bins], information: vec![0.0; bins] };
        }
        let density: Vec<f64> = counts.iter().map(|&n| f64::from(n) / total as f64).collect();
        match force {
            Force::Ssd => squares(&density, bins),
            _ => information(&smoothed(&density, bins, WINDOW * (bins - 1) as f64), bins, force == Force::Nmi),
        }
    }

    /// What tables of the same images pull together, each with a weight; one alone keeps its weight.
    pub fn together(mut tables: Vec<(Self, f64)>) -> WeightedScore {
        if tables.len() > 1 {
            let sum = |of: fn(&Self) -> &[f32]| {
                let at = |i: usize| tables.iter().map(|(table, weight)| weight * f64::from(of(table)[i])).sum::<f64>();
                (0..of(&tables[0].0).len()).map(|i| at(i) as f32).collect()
            };
            let [scores, information] = [sum(|table| &table.scores), sum(|table| &table.information)];
            return (Score::Joint { scores, information }, 1.0);
        }
        let (Self { scores, information, .. }, weight) = tables.swap_remove(0);
        (Score::Joint { scores, information }, weight)
    }
}

/// Mutual information, or NMI.
fn information(joint: &[f64], bins: usize, normalised: bool) -> Table {
    let [fixed, moving] = marginals(joint, bins);
    let [of_fixed, of_moving, of_both] = [&fixed[..], &moving, joint].map(logarithms);
    let entropy = |density: &[f64], logarithms: &[f64]| -dot(density, logarithms);
    let marginal = entropy(&fixed, &of_fixed) + entropy(&moving, &of_moving);
    let both = entropy(joint, &of_both);
    let nats = marginal - both;
    let (value, share) = if normalised { (marginal / both, marginal / both) } else { (nats, 1.0) };
    let (scores, squares) = scores(joint, &of_both, &of_moving, share);
    let information = squares.iter().zip(&fixed).map(|(sum, p)| (sum / (p + FLOOR)) as f32).collect();
    Table { value, nats, scores, information }
}

widest! {
    /// The sums of a joint density over the moving and over the fixed intensities.
    fn marginals(joint: &[f64], bins: usize) -> [Vec<f64>; 2] {
        let (mut fixed, mut moving) = (vec![0.0; bins], vec![0.0; bins]);
        for (row, moving) in joint.chunks_exact(bins).zip(&mut moving) {
            for (fixed, p) in fixed.iter_mut().zip(row) {
                *fixed += p;
            }
            let mut sums = [0.0; EIGHT];
            for row in row.chunks(EIGHT) {
                for (sum, p) in sums.iter_mut().zip(row) {
                    *sum += p;
                }
            }
            *moving = sums.iter().sum();
        }
        [fixed, moving]
    }
}

widest! {
    /// The derivative by m of `share` times the joint logarithms less those of the moving image's density, by central differences, one-sided at
    /// the ends; and for each f the sum of its squares over the joint density.
    fn scores(joint: &[f64], of_joint: &[f64], of_moving: &[f64], share: f64) -> (Vec<f32>, Vec<f64>) {
        let bins = of_moving.len();
        let row = |m: usize| &of_joint[m * bins..][..bins];
        let (mut scores, mut squares) = (vec![0.0; joint.len()], vec![0.0; bins]);
        for (m, (scores, joint)) in scores.chunks_exact_mut(bins).zip(joint.chunks_exact(bins)).enumerate() {
            let (low, high) = (m.saturating_sub(1), (m + 1).min(bins - 1));
            let part = 1.0 / (high - low) as f64;
            let marginal = of_moving[high] - of_moving[low];
            let (low, high) = (row(low), row(high));
            for f in 0..bins {
                let score = part * (share * (high[f] - low[f]) - marginal);
                scores[f] = score as f32;
                squares[f] += joint[f] * score * score;
            }
        }
        (scores, squares)
    }
}

widest! {
    fn logarithms(density: &[f64]) -> Vec<f64> {
        let mut logarithms = vec![0.0; density.len()];
        for (out, p) in logarithms.iter_mut().zip(density) {
            *out = log::of(p + FLOOR);
        }
        logarithms
    }
}

widest! {
    /// The sum of products.
    fn dot(a: &[f64], b: &[f64]) -> f64 {
        let mut sums = [0.0; EIGHT];
        for (a, b) in a.chunks(EIGHT).zip(b.chunks(EIGHT)) {
            for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
                *sum += a * b;
            }
        }
        sums.iter().sum()
    }
}

/// The mean squared difference, with a minus, as fractions of the range.
fn squares(joint: &[f64], bins: usize) -> Table {
    let difference = |i: usize| (i % bins) as f64 - (i / bins) as f64;
    let mean: f64 = joint.iter().enumerate().map(|(i, p)| p * difference(i) * difference(i)).sum();
    // Differences within a bin are not seen: those of a uniform distribution.
    let variance = mean + 1.0 / 6.0;
    let scores = (0..joint.len()).map(|i| (difference(i) / variance) as f32).collect();
    let range = (bins - 1) as f64;
    let nats = -0.5 * log::of(variance / (range * range));
    Table { value: -mean / (range * range), nats, scores, information: vec![(1.0 / variance) as f32; bins] }
}

widest! {
    /// A square table smoothed by a Gaussian of `sigma` along both sides; beyond its border it is mirrored, so that the sum stays. Sums of positive terms,
    /// so that no tail becomes negative, whose logarithms are wanted.
    fn smoothed(table: &[f64], bins: usize, sigma: f64) -> Vec<f64> {
        let weights = window(sigma);
        let reach = weights.len() - 1;
        let weights: Vec<f64> = (0..=2 * reach).map(|offset| weights[offset.abs_diff(reach)]).collect();
        let at = |i: usize| mirrored(i as isize - reach as isize, bins as isize);
        let places: Vec<usize> = (0..bins + 2 * reach).map(at).collect();
        let mut along_m = vec![0.0; table.len()];
        for (m, out) in along_m.chunks_exact_mut(bins).enumerate() {
            weighted(out, &weights, |offset| &table[places[m + offset] * bins..][..bins]);
        }
        let mut both = vec![0.0; table.len()];
        let mut wide = vec![0.0; bins + 2 * reach];
        for (out, row) in both.chunks_exact_mut(bins).zip(along_m.chunks_exact(bins)) {
            wide.iter_mut().zip(&places).for_each(|(value, &place)| *value = row[place]);
            weighted(out, &weights, |offset| &wide[offset..][..bins]);
        }
        both
    }
}

/// An index that may lie beyond either end, mirrored there as often as it takes.
#[inline(always)]
fn mirrored(i: isize, len: isize) -> usize {
    let i = i.rem_euclid(2 * len);
    (if i < len { i } else { 2 * len - 1 - i }) as usize
}

/// The weighted sums of rows, one per weight, in their order: of so many neighbours at a time as stay in registers.
#[inline(always)]
fn weighted<'r>(out: &mut [f64], weights: &[f64], row: impl Fn(usize) -> &'r [f64]) {
    let len = out.len();
    if len < BLOCK {
        for at in 0..len {
            sums::<1>(out, at, weights, &row);
        }
        return;
    }
    for n in 0..len.div_ceil(BLOCK) {
        // The last ones overlap.
        sums::<BLOCK>(out, (n * BLOCK).min(len - BLOCK), weights, &row);
    }
}

#[inline(always)]
fn sums<'r, const N: usize>(out: &mut [f64], at: usize, weights: &[f64], row: impl Fn(usize) -> &'r [f64]) {
    let mut sums = [0.0; N];
    for (offset, &weight) in weights.iter().enumerate() {
        let values = &row(offset)[at..][..N];
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum = weight.mul_add(*value, *sum));
    }
    out[at..][..N].copy_from_slice(&sums);
}

/// A Gaussian cut at four sigma, from its middle on; with its other half it sums to 1.
fn window(sigma: f64) -> Vec<f64> {
    let weights: Vec<f64> =
        (0..=(4.0 * sigma).ceil() as i32).map(|i| libm::exp(-0.5 * (f64::from(i) / sigma).powi(2))).collect();
    let sum = 2.0 * weights.iter().sum::<f64>() - weights[0];
    weights.iter().map(|weight| weight / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BINS: usize = 40;

    /// Counts of pairs that spread around m = (some of f), more or less widely.
    fn counts(spread: f64) -> Vec<u32> {
        let count = |i: usize| {
            let (f, m) = ((i % BINS) as f64, (i / BINS) as f64);
            let away = (m - (35.0 - 0.7 * f)) / spread;
            (3e4 * (-0.5 * away * away).exp()) as u32
        };
        (0..BINS * BINS).map(count).collect()
    }

    #[test]
    fn scores_of_information_point_to_where_the_pairs_are() {
        for force in [Force::Mi, Force::Nmi] {
            let table = Table::new(force, &counts(2.0), BINS);
            for f in 4..36 {
                let ridge = (35.0 - 0.7 * f as f64).round() as usize;
                let score = |m: usize| table.scores[f + BINS * m];
                let [before, after] = [score(ridge - 2), score(ridge + 2)];
                assert!(before > 0.05 && after < -0.05, "{force:?}, {f}: {before} {after}");
                assert!(table.information[f] > 0.05);
            }
        }
    }

    #[test]
    fn a_tighter_relation_has_more_information() {
        for force in [Force::Mi, Force::Nmi] {
            let value = |spread| Table::new(force, &counts(spread), BINS).value;
            assert!(value(1.5) > value(3.0) && value(3.0) > value(8.0));
        }
        let independent = vec![7; BINS * BINS];
        assert!(Table::new(Force::Mi, &independent, BINS).value.abs() < 1e-5);
        assert!((Table::new(Force::Nmi, &independent, BINS).value - 1.0).abs() < 1e-5);
    }

    /// A bit of a table's histogram moved along m changes the mutual information by its score.
    #[test]
    fn a_score_is_the_derivative_of_the_value() {
        let counts = counts(3.0);
        let density: Vec<f64> = counts.iter().map(|&n| f64::from(n)).collect();
        let total: f64 = density.iter().sum();
        let density: Vec<f64> = density.iter().map(|n| n / total).collect();
        let table = information(&density, BINS, false);
        for (f, m) in [(10, 27), (20, 20), (30, 13), (15, 22)] {
            let (from, to) = (f + BINS * (m - 1), f + BINS * (m + 1));
            let part = 1e-7;
            let value = |sign: f64| {
                let mut moved = density.clone();
                moved[from] -= sign * part;
                moved[to] += sign * part;
                information(&moved, BINS, false).value
            };
            let (found, score) =
                ((value(1.0) - value(-1.0)) / (2.0 * part) / 2.0, f64::from(table.scores[f + BINS * m]));
            assert!((found - score).abs() < 1e-3 * (1.0 + score.abs()), "{found} and {score} at {f}, {m}");
        }
    }

    #[test]
    fn smoothing_keeps_the_sum_and_a_constant() {
        for place in [20 + BINS * 17, 0, BINS * BINS - 2] {
            let mut table = vec![0.0; BINS * BINS];
            table[place] = 1.0;
            let out = smoothed(&table, BINS, 1.5);
            assert!((out.iter().sum::<f64>() - 1.0).abs() < 1e-12 && out.iter().all(|&v| v >= 0.0));
        }
        assert!(smoothed(&vec![2.0; BINS * BINS], BINS, 3.0).iter().all(|v| (v - 2.0).abs() < 1e-12));
    }

    #[test]
    fn squares_are_least_on_the_diagonal_and_nothing_counted_pulls_nowhere() {
        let diagonal = (0..BINS * BINS).map(|i| u32::from(i % BINS == i / BINS)).collect::<Vec<_>>();
        let table = Table::new(Force::Ssd, &diagonal, BINS);
        assert_eq!(table.value, 0.0);
        assert!(table.scores[5 + BINS * 3] > 0.0 && table.scores[3 + BINS * 5] < 0.0);
        for force in [Force::Mi, Force::Nmi, Force::Ssd] {
            assert!(Table::new(force, &vec![0; BINS * BINS], BINS).scores.iter().all(|&score| score == 0.0));
        }
    }
}
