//! From counts to entropies, MI and NMI.

use ndarray::{Array2, Axis};

/// How much two images say about each other, in nats.
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
    /// (H(F) + H(M)) / H(F, M) (Shams 2009, eq. 5); 1 where H(F, M) is 0, as for images that say nothing about each
    /// other.
    pub nmi: f64,
    /// Pairs that were counted; without any, everything else is 0.
    pub overlap: u64,
}

impl Similarity {
    /// From how often each pair occurs, indexed `[fixed bin, moving bin]`. The marginals are its projections.
    pub fn of(counts: &Array2<u64>) -> Self {
        Self::of_weights(&counts.mapv(|count| count as f64))
    }

    /// The same from how much each pair weighs, a sample weighing 1.
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
        Self { fixed_entropy, moving_entropy, joint_entropy, mi: sum - joint_entropy, nmi, overlap }
    }
}

/// The sum of p ln(1 / p) over the counts' shares p, in nats (Shams 2009, eq. 2); 0 without counts.
pub fn entropy(counts: &[u64]) -> f64 {
    of_weights(&counts.iter().map(|&count| count as f64).collect::<Vec<_>>())
}

fn of_weights(weights: &[f64]) -> f64 {
    let total = sum(weights);
    let occurring = weights.iter().filter(|&&weight| weight > 0.0);
    let terms: Vec<f64> = occurring.map(|&weight| weight / total).map(|p| p * (1.0 / p).ln()).collect();
    sum(&terms)
}

/// The sum by halves: one term after the other, the round-off of tens of thousands of them would reach 1e-11.
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
        assert_eq!(nothing.overlap, 0);
    }
}
