//! From the joint histogram to the value of the metric and the tables of its force.
//!
//! With the joint density P(f, m), smoothed by a Gaussian window, the score of a pair of intensities is the derivative by m of
//! ln P(f, m) - ln P(m) for mutual information (Chefd'hotel 2002, after Hermosillo), of NMI ln P(f, m) - ln P(m) for its normalised
//! form, and (f - m) / s^2 for squared differences of mean s^2. The information at f is the mean of the score's square over P(m | f).

use super::Force;
use gpu::math::log;

/// The window's standard deviation as a part of the range.
const WINDOW: f64 = 0.0235;

/// What is added to densities, so that their logarithms are finite.
const FLOOR: f64 = 1e-9;

/// The value of a metric, and what [`gpu::math::flow::score`] reads.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// What the force climbs.
    pub value: f64,
    pub scores: Vec<f32>,
    pub information: Vec<f32>,
}

impl Table {
    /// Of joint counts, of which the pair (f, m) is at `f + bins * m`; all 0 where nothing was counted.
    pub fn new(force: Force, counts: &[u32], bins: usize) -> Self {
        let total: u64 = counts.iter().map(|&n| u64::from(n)).sum();
        if total == 0 {
            return Self { value: 0.0, scores: vec![0.0; bins * bins], information: vec![0.0; bins] };
        }
        let density: Vec<f64> = counts.iter().map(|&n| f64::from(n) / total as f64).collect();
        match force {
            Force::Ssd => squares(&density, bins),
            _ => information(&smoothed(density, bins, WINDOW * (bins - 1) as f64), bins, force == Force::Nmi),
        }
    }
}

/// Mutual information, or NMI.
fn information(joint: &[f64], bins: usize, normalised: bool) -> Table {
    let moving: Vec<f64> = joint.chunks_exact(bins).map(|row| row.iter().sum()).collect();
    let fixed: Vec<f64> = (0..bins).map(|f| joint.iter().skip(f).step_by(bins).sum()).collect();
    let [of_fixed, of_moving, of_both] = [&fixed[..], &moving, joint].map(entropy);
    let nmi = (of_fixed + of_moving) / of_both;
    let (value, share) = if normalised { (nmi, nmi) } else { (of_fixed + of_moving - of_both, 1.0) };
    let mut ratios = Vec::with_capacity(joint.len());
    for (row, &marginal) in joint.chunks_exact(bins).zip(&moving) {
        let of_marginal = log::of(marginal + FLOOR);
        ratios.extend(row.iter().map(|&p| share * log::of(p + FLOOR) - of_marginal));
    }
    let scores = slopes(&ratios, bins);
    let mut squares = vec![0.0; bins];
    for (row, scores) in joint.chunks_exact(bins).zip(scores.chunks_exact(bins)) {
        squares.iter_mut().zip(row.iter().zip(scores)).for_each(|(sum, (p, score))| *sum += p * score * score);
    }
    let information = squares.iter().zip(&fixed).map(|(sum, p)| (sum / (p + FLOOR)) as f32).collect();
    Table { value, scores: scores.iter().map(|&score| score as f32).collect(), information }
}

/// Derivatives along m: central differences, one-sided at the ends.
fn slopes(values: &[f64], bins: usize) -> Vec<f64> {
    let row = |m: usize| &values[m * bins..][..bins];
    let slope = |m: usize| {
        let (low, high) = (m.saturating_sub(1), (m + 1).min(bins - 1));
        let step = (high - low) as f64;
        row(low).iter().zip(row(high)).map(move |(low, high)| (high - low) / step)
    };
    (0..bins).flat_map(slope).collect()
}

fn entropy(density: &[f64]) -> f64 {
    -density.iter().map(|&p| p * log::of(p + f64::MIN_POSITIVE)).sum::<f64>()
}

/// The mean squared difference, with a minus, as fractions of the range.
fn squares(joint: &[f64], bins: usize) -> Table {
    let difference = |i: usize| (i % bins) as f64 - (i / bins) as f64;
    let mean: f64 = joint.iter().enumerate().map(|(i, p)| p * difference(i) * difference(i)).sum();
    // Differences within a bin are not seen: those of a uniform distribution.
    let variance = mean + 1.0 / 6.0;
    let scores = (0..joint.len()).map(|i| (difference(i) / variance) as f32).collect();
    let range = (bins - 1) as f64;
    Table { value: -mean / (range * range), scores, information: vec![(1.0 / variance) as f32; bins] }
}

/// A square table smoothed by a Gaussian of `sigma` along both sides; beyond its border it goes on as its border. Sums of positive terms,
/// so that no tail becomes negative, whose logarithms are wanted.
fn smoothed(table: Vec<f64>, bins: usize, sigma: f64) -> Vec<f64> {
    let weights = window(sigma);
    let reach = weights.len() - 1;
    let at = |i: usize, offset: usize| (i + offset).clamp(reach, reach + bins - 1) - reach;
    let weight = |offset: usize| weights[offset.abs_diff(reach)];
    let mut along_m = vec![0.0; table.len()];
    for (m, out) in along_m.chunks_exact_mut(bins).enumerate() {
        for offset in 0..=2 * reach {
            let (weight, row) = (weight(offset), &table[at(m, offset) * bins..][..bins]);
            out.iter_mut().zip(row).for_each(|(out, value)| *out += weight * value);
        }
    }
    let mut both = vec![0.0; table.len()];
    let mut wide = vec![0.0; bins + 2 * reach];
    for (out, row) in both.chunks_exact_mut(bins).zip(along_m.chunks_exact(bins)) {
        wide.iter_mut().enumerate().for_each(|(i, value)| *value = row[at(0, i)]);
        for offset in 0..=2 * reach {
            let weight = weight(offset);
            out.iter_mut().zip(&wide[offset..]).for_each(|(out, value)| *out += weight * value);
        }
    }
    both
}

/// A Gaussian cut at four sigma, from its middle on; with its other half it sums to 1.
fn window(sigma: f64) -> Vec<f64> {
    let weights: Vec<f64> =
        (0..=(4.0 * sigma).ceil() as i32).map(|i| libm::exp(-0.5 * (f64::from(i) / sigma).powi(2))).collect();
    let sum = 2.0 * weights.iter().sum::<f64>() - weights[0];
    weights.iter().map(|weight| weight / sum).collect()
}
