//! Computes entropies, MI, NMI, ECC and correlation ratios from counts.

use ndarray::{Array2, ArrayView1, ArrayView2, Axis};

/// Measures of the similarity of two images. Entropies and MI are in nats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Similarity {
    /// H(F), of the fixed image.
    pub fixed_entropy: f64,
    /// H(M), of the moving image.
    pub moving_entropy: f64,
    /// H(F, M), of the pairs.
    pub joint_entropy: f64,
    /// H(F) + H(M) - H(F, M) (Shams 2009, eq. 3).
    pub mi: f64,
    /// (H(F) + H(M)) / H(F, M) (Shams 2009, eq. 5). If H(F, M) is 0 it is 1, which is also its value for independent
    /// images.
    pub nmi: f64,
    /// 2 MI / (H(F) + H(M)) (Maes et al. 1997); 0 if both entropies are 0.
    pub ecc: f64,
    /// Correlation ratios of the moving image given the fixed one and of the fixed image given the moving one.
    pub ratios: [f64; 2],
    /// The number of pairs counted. If it is 0, so is everything else.
    pub overlap: u64,
}

impl Similarity {
    /// Computes the measures from the counts of pairs, indexed `[fixed bin, moving bin]`. The marginals are projections
    /// of the counts.
    pub fn of(counts: &Array2<u64>) -> Self {
        Self::of_weights(&counts.mapv(|count| count as f64))
    }

    /// Computes the measures from the weights of pairs, where each sample has a total weight of 1.
    pub fn of_weights(weights: &Array2<f64>) -> Self {
        let overlap = weights.sum().round() as u64;
        let fixed_entropy = of_weights(&weights.sum_axis(Axis(1)).to_vec());
        let moving_entropy = of_weights(&weights.sum_axis(Axis(0)).to_vec());
        let joint_entropy = of_weights(&weights.iter().copied().collect::<Vec<_>>());
        let sum = fixed_entropy + moving_entropy;
        let nmi = match overlap {
            0 => 0.0,
            _ if joint_entropy == 0.0 => 1.0,
            _ => sum / joint_entropy,
        };
        let mi = sum - joint_entropy;
        let ecc = if sum == 0.0 { 0.0 } else { 2.0 * mi / sum };
        let ratios = [weights.view(), weights.t()].map(correlation_ratio);
        Self { fixed_entropy, moving_entropy, joint_entropy, mi, nmi, ecc, ratios, overlap }
    }
}

/// The sum of p ln(1 / p), in nats, where p is each count divided by the total (Shams 2009, eq. 2); 0 if there are no
/// counts.
pub fn entropy(counts: &[u64]) -> f64 {
    of_weights(&counts.iter().map(|&count| count as f64).collect::<Vec<_>>())
}

fn of_weights(weights: &[f64]) -> f64 {
    let total = sum(weights);
    let occurring = weights.iter().filter(|&&weight| weight > 0.0);
    let terms: Vec<f64> = occurring.map(|&weight| weight / total).map(|p| p * (1.0 / p).ln()).collect();
    sum(&terms)
}

/// 1 - (sum over x of n_x var(Y | x)) / (N var(Y)), with a row of weights for each x, and the column numbers as values
/// of Y (Roche et al. 1998); 0 if Y does not vary.
fn correlation_ratio(weights: ArrayView2<f64>) -> f64 {
    let whole = squared_deviations(weights.sum_axis(Axis(0)).view());
    let within: Vec<f64> = weights.rows().into_iter().map(squared_deviations).collect();
    if whole == 0.0 { 0.0 } else { 1.0 - sum(&within) / whole }
}

/// n var(Y), from the weight of each Y.
fn squared_deviations(weights: ArrayView1<f64>) -> f64 {
    let n = weights.sum();
    let share = |weight: f64| if n > 0.0 { weight / n } else { 0.0 };
    let mean = weights.indexed_iter().map(|(y, &weight)| y as f64 * share(weight)).sum::<f64>();
    weights.indexed_iter().map(|(y, &weight)| (y as f64 - mean).powi(2) * weight).sum()
}

/// Pairwise summation. If tens of thousands of terms were added one after the other, the round-off would reach 1e-11.
fn sum(terms: &[f64]) -> f64 {
    match terms {
        [] => 0.0,
        [term] => *term,
        _ => {
            let (left, right) = terms.split_at(terms.len() / 2);
            sum(left) + sum(right)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn the_mutual_information_is_that_of_the_definition() {
        let counts = Array2::from_shape_fn((7, 5), |(f, m)| (f * f + 3 * m + f * m % 4) as u64);
        let total = counts.sum() as f64;
        let share = |count: u64| count as f64 / total;
        let (rows, columns) = (counts.sum_axis(Axis(1)), counts.sum_axis(Axis(0)));
        let pairs = counts.indexed_iter().filter(|&(_, &count)| count > 0);
        // Shams 2009, eq. 4.
        let mi: f64 = pairs
            .map(|((f, m), &count)| share(count) * (share(count) / (share(rows[f]) * share(columns[m]))).ln())
            .sum();
        assert_relative_eq!(Similarity::of(&counts).mi, mi, max_relative = 1e-12);
    }

    #[test]
    fn without_counts_all_is_0() {
        let nothing = Similarity::of(&Array2::zeros((3, 4)));
        assert_eq!(
            [nothing.fixed_entropy, nothing.moving_entropy, nothing.joint_entropy, nothing.mi, nothing.nmi],
            [0.0; 5]
        );
        assert_eq!((nothing.ecc, nothing.ratios, nothing.overlap), (0.0, [0.0; 2], 0));
    }
}
