//! Computes the value of a metric and the tables of its force from a joint histogram, on the CPU: see
//! [`gpu::math::table`].

use super::{Score, WeightedScore};
use crate::backend::lanes::order::ordered;
use crate::backend::lanes::simd::widest;
use gpu::math::log;
use gpu::math::table::{self, Value};

/// The standard deviation of the Gaussian that smooths the histogram, as a fraction of the intensity range.
const WINDOW: f64 = 0.0235;

/// Neighbouring bins that are smoothed together, in registers.
const BLOCK: usize = 32;

/// A metric of a joint histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// Mutual information.
    Mi,
    /// Normalised mutual information.
    Nmi,
    /// Squared differences. Their score is (f - m) / s^2, where s^2 is the mean squared difference.
    Ssd,
}

/// The value of a metric, and what [`gpu::math::flow::score`] reads.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The value that the forces maximise.
    pub value: f64,
    /// The information per voxel that corresponds to the value, in nats: mutual information, or the log-likelihood of
    /// the differences.
    pub nats: f64,
    pub scores: Vec<f32>,
    pub information: Vec<f32>,
}

impl Table {
    /// Computes the table from joint counts, with the pair (f, m) at `f + bins * m`. All numbers are 0 if nothing was
    /// counted.
    pub fn new(relation: Relation, counts: &[u32], bins: usize) -> Self {
        let total: u64 = counts.iter().map(|&n| u64::from(n)).sum();
        if total == 0 {
            return Self { value: 0.0, nats: 0.0, scores: vec![0.0; bins * bins], information: vec![0.0; bins] };
        }
        match relation {
            Relation::Ssd => squares(counts, total, bins),
            Relation::Mi | Relation::Nmi => information(counts, total, &window(bins), relation == Relation::Nmi),
        }
    }

    /// Adds up several tables of the same images, each times its weight. The result then has weight 1; a single table
    /// is returned with its weight.
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

/// The weights that smooth a histogram of `bins` bins: a Gaussian cut off at four standard deviations. Their number is
/// odd and their sum is 1.
pub fn window(bins: usize) -> Vec<f64> {
    gaussian(WINDOW * (bins - 1) as f64)
}

fn gaussian(sigma: f64) -> Vec<f64> {
    let reach = (4.0 * sigma).ceil() as i32;
    let weights: Vec<f64> = (-reach..=reach).map(|i| libm::exp(-0.5 * (f64::from(i) / sigma).powi(2))).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

widest! {
    /// The table of MI, or of NMI.
    fn information(counts: &[u32], total: u64, weights: &[f64], normalised: bool) -> Table {
        let bins = counts.len().isqrt();
        let mut density = smoothed(counts, weights, bins);
        let scale = table::scale(total);
        density.iter_mut().for_each(|p| *p *= scale);
        let logarithms = logarithms(&density);
        let (mut fixed, mut moving, mut sums) = (vec![0.0; bins], Vec::with_capacity(bins), Vec::with_capacity(bins));
        let mut terms = Vec::with_capacity(bins);
        for (row, logarithms) in density.chunks_exact(bins).zip(logarithms.chunks_exact(bins)) {
            fixed.iter_mut().zip(row).for_each(|(sum, p)| *sum += p);
            moving.push(ordered(row));
            sums.push(dot(row, logarithms, &mut terms));
        }
        let of_moving = self::logarithms(&moving);
        let of_fixed = dot(&fixed, &self::logarithms(&fixed), &mut terms);
        let sums = [of_fixed, dot(&moving, &of_moving, &mut terms), ordered(&sums)];
        let Value { value, nats, share } = Value::new(sums, normalised, total);
        let (scores, squares) = scores(&density, &logarithms, &of_moving, share);
        let information = squares.iter().zip(&fixed).map(|(&sum, &p)| table::information(sum, p)).collect();
        Table { value, nats, scores, information }
    }
}

/// Scores, and for each fixed bin f the sum of their squares, weighted by the joint density.
#[inline(always)]
fn scores(density: &[f64], of_joint: &[f64], of_moving: &[f64], share: f64) -> (Vec<f32>, Vec<f64>) {
    let bins = of_moving.len();
    let (mut scores, mut squares) = (vec![0.0; density.len()], vec![0.0; bins]);
    for (m, (scores, density)) in scores.chunks_exact_mut(bins).zip(density.chunks_exact(bins)).enumerate() {
        let ends = table::around(m as u32, bins as u32);
        let [low, high] = ends.map(|m| &of_joint[m as usize * bins..][..bins]);
        let moving = ends.map(|m| of_moving[m as usize]);
        for f in 0..bins {
            let score = table::score(ends, [low[f], high[f]], moving, share);
            scores[f] = score as f32;
            squares[f] += density[f] * score * score;
        }
    }
    (scores, squares)
}

#[inline(always)]
fn logarithms(density: &[f64]) -> Vec<f64> {
    let mut logarithms = vec![0.0; density.len()];
    logarithms.iter_mut().zip(density).for_each(|(out, &p)| *out = table::logarithm(p));
    logarithms
}

/// The scalar product of `a` and `b`, summed in a fixed order.
#[inline(always)]
fn dot(a: &[f64], b: &[f64], terms: &mut Vec<f64>) -> f64 {
    terms.clear();
    terms.extend(a.iter().zip(b).map(|(a, b)| a * b));
    ordered(terms)
}

/// The table of squared differences. Its value is minus their mean, in units of the squared intensity range.
fn squares(counts: &[u32], total: u64, bins: usize) -> Table {
    let difference = |i: usize| (i % bins) as f64 - (i / bins) as f64;
    let mean: f64 =
        counts.iter().enumerate().map(|(i, &n)| f64::from(n) / total as f64 * difference(i) * difference(i)).sum();
    // Adds the variance of the difference of two uniform distributions over a bin, which the histogram does not
    // resolve.
    let variance = mean + 1.0 / 6.0;
    let scores = (0..counts.len()).map(|i| (difference(i) / variance) as f32).collect();
    let range = (bins - 1) as f64;
    let nats = -0.5 * log::of(variance / (range * range));
    Table { value: -mean / (range * range), nats, scores, information: vec![(1.0 / variance) as f32; bins] }
}

/// Smooths the counts along both axes. They are mirrored at the borders, so that their sum stays the same. All weights
/// are positive, so that no density becomes negative and all logarithms exist.
#[inline(always)]
fn smoothed(counts: &[u32], weights: &[f64], bins: usize) -> Vec<f64> {
    let counts: Vec<f64> = counts.iter().map(|&n| f64::from(n)).collect();
    let reach = weights.len() / 2;
    let at = |i: usize| table::neighbour(0, i as u32, reach as u32, bins as u32) as usize;
    let places: Vec<usize> = (0..bins + 2 * reach).map(at).collect();
    let mut along_m = vec![0.0; counts.len()];
    for (m, out) in along_m.chunks_exact_mut(bins).enumerate() {
        weighted(out, weights, |offset| &counts[places[m + offset] * bins..][..bins]);
    }
    let mut both = vec![0.0; counts.len()];
    let mut wide = vec![0.0; bins + 2 * reach];
    for (out, row) in both.chunks_exact_mut(bins).zip(along_m.chunks_exact(bins)) {
        wide.iter_mut().zip(&places).for_each(|(value, &place)| *value = row[place]);
        weighted(out, weights, |offset| &wide[offset..][..bins]);
    }
    both
}

/// Writes the weighted sums of rows, one row per weight, added in order. Takes as many neighbours at a time as fit into
/// registers.
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
        // The last block may overlap the one before.
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

#[cfg(test)]
mod tests {
    use super::*;

    const BINS: usize = 40;

    /// Counts of pairs that scatter around a line that falls with f. `spread` is their standard deviation along m, in
    /// bins.
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
        for relation in [Relation::Mi, Relation::Nmi] {
            let table = Table::new(relation, &counts(2.0), BINS);
            for f in 4..36 {
                let ridge = (35.0 - 0.7 * f as f64).round() as usize;
                let score = |m: usize| table.scores[f + BINS * m];
                let [before, after] = [score(ridge - 2), score(ridge + 2)];
                assert!(before > 0.05 && after < -0.05, "{relation:?}, {f}: {before} {after}");
                assert!(table.information[f] > 0.05);
            }
        }
    }

    #[test]
    fn a_tighter_relation_has_more_information() {
        for relation in [Relation::Mi, Relation::Nmi] {
            let value = |spread| Table::new(relation, &counts(spread), BINS).value;
            assert!(value(1.5) > value(3.0) && value(3.0) > value(8.0));
        }
        let independent = vec![7; BINS * BINS];
        assert!(Table::new(Relation::Mi, &independent, BINS).value.abs() < 1e-5);
        assert!((Table::new(Relation::Nmi, &independent, BINS).value - 1.0).abs() < 1e-5);
    }

    /// Moving a few counts along m changes the mutual information by their scores.
    #[test]
    fn a_score_is_the_derivative_of_the_value() {
        let counts: Vec<u32> = counts(3.0).iter().map(|n| 1000 * n).collect();
        let total: u64 = counts.iter().map(|&n| u64::from(n)).sum();
        // Without smoothing, which would mix in neighbours with other scores.
        let table = information(&counts, total, &[1.0], false);
        for (f, m) in [(10, 27), (20, 20), (30, 13), (15, 22)] {
            let (from, to) = (f + BINS * (m - 1), f + BINS * (m + 1));
            let part = 1e-6;
            let some = (part * total as f64) as i64;
            let value = |sign: i64| {
                let mut moved = counts.clone();
                moved[from] = (i64::from(moved[from]) - sign * some) as u32;
                moved[to] = (i64::from(moved[to]) + sign * some) as u32;
                information(&moved, total, &[1.0], false).value
            };
            let part = some as f64 / total as f64;
            let found = (value(1) - value(-1)) / (2.0 * part) / 2.0;
            let score = f64::from(table.scores[f + BINS * m]);
            assert!((found - score).abs() < 1e-3 * (1.0 + score.abs()), "{found} and {score} at {f}, {m}");
        }
    }

    #[test]
    fn smoothing_keeps_the_sum_and_a_constant() {
        for place in [20 + BINS * 17, 0, BINS * BINS - 2] {
            let mut counts = vec![0; BINS * BINS];
            counts[place] = 1;
            let out = smoothed(&counts, &gaussian(1.5), BINS);
            assert!((out.iter().sum::<f64>() - 1.0).abs() < 1e-12 && out.iter().all(|&v| v >= 0.0));
        }
        assert!(smoothed(&vec![2; BINS * BINS], &gaussian(3.0), BINS).iter().all(|v| (v - 2.0).abs() < 1e-12));
    }

    #[test]
    fn squares_are_least_on_the_diagonal_and_nothing_counted_pulls_nowhere() {
        let diagonal = (0..BINS * BINS).map(|i| u32::from(i % BINS == i / BINS)).collect::<Vec<_>>();
        let table = Table::new(Relation::Ssd, &diagonal, BINS);
        assert_eq!(table.value, 0.0);
        assert!(table.scores[5 + BINS * 3] > 0.0 && table.scores[3 + BINS * 5] < 0.0);
        for relation in [Relation::Mi, Relation::Nmi, Relation::Ssd] {
            assert!(Table::new(relation, &vec![0; BINS * BINS], BINS).scores.iter().all(|&score| score == 0.0));
        }
    }
}
