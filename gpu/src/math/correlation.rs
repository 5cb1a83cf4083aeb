//! The correlation ratio (Roche and others, MICCAI 1998): the fraction of one image's variance that the other image
//! explains. Bin numbers stand for intensities. The ratio of Y given X is
//!
//! eta^2(Y | X) = 1 - (sum over x of n_x var(Y | x)) / (N var(Y)) = (sum over x of n_x (mean(Y | x) - mean(Y))^2) / (N var(Y)).
//!
//! Let n be the counts in bin x, s the sum of Y's bin numbers there, N and S the same over all bins, and Q the sum of
//! the squares of Y's bin numbers. Then the second form is (sum over x of (N s - n S)^2 / n) / (N (N Q - S^2)). Both
//! differences are computed exactly, in integers, so that no digits are lost by cancellation; with 2^32 counts and 1024
//! bins they have 84 bits. The sum over x has the order of [`super::entropy`].

/// Counts, sum and sum of squares of an image's bin numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moments {
    /// N: all counts.
    pub counts: u64,
    /// S: the sum of the bin numbers of all counts.
    pub sum: u64,
    /// Q: the sum of their squares.
    pub squares: u64,
}

impl Moments {
    /// Adds `counts` of the bin number `bin`.
    #[inline(always)]
    pub fn add(&mut self, bin: u32, counts: u32) {
        let (bin, counts) = (u64::from(bin), u64::from(counts));
        self.counts += counts;
        self.sum += bin * counts;
        self.squares += bin * bin * counts;
    }
}

/// Returns the term (N s - n S)^2 / n of a bin of X, with n = `counts` and s = `sum`; 0 if there are no counts. `all`
/// are Y's moments.
#[inline(always)]
pub fn term(counts: u32, sum: u64, all: &Moments) -> f64 {
    let (ours, theirs) = (product(all.counts, sum), product(u64::from(counts), all.sum));
    let distance = float(ours.abs_diff(theirs));
    distance * distance / f64::from(counts.max(1))
}

/// Returns the ratio, 0 to 1, from the sum of [`term`]s and Y's moments. It is 0 if Y is constant, as there is no
/// variance to explain.
#[inline(always)]
pub fn ratio(terms: f64, all: &Moments) -> f64 {
    let variance = product(all.counts, all.squares) - product(all.sum, all.sum);
    if variance == 0 {
        return 0.0;
    }
    (terms / (all.counts as f64 * float(variance))).min(1.0)
}

#[inline(always)]
fn product(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

/// Converts `n`, below 2^116, to within a unit in the last place. A cast would call a function of the compiler's
/// runtime.
#[inline(always)]
fn float(n: u128) -> f64 {
    const LOW: f64 = 18_446_744_073_709_551_616.0;
    (n >> 64) as u64 as f64 * LOW + n as u64 as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns eta^2(Y | X) of a joint histogram with a row for each bin of X.
    fn of<const N: usize>(table: &[[u32; N]]) -> f64 {
        let mut all = Moments::default();
        let bins = table.iter().flat_map(|row| row.iter().zip(0..));
        bins.for_each(|(&count, bin)| all.add(bin, count));
        let sum = |row: &[u32; N]| row.iter().zip(0..).map(|(&count, bin)| u64::from(count) * bin).sum();
        let terms = table.iter().map(|row| term(row.iter().sum(), sum(row), &all)).sum();
        ratio(terms, &all)
    }

    #[test]
    fn known_tables() {
        // Variances 0 and 1/4 within the bins, 3/16 in all: 1 - (4 * 1/4) / (8 * 3/16).
        assert!((of(&[[4, 0], [2, 2]]) - 1.0 / 3.0).abs() < 1e-15);
        assert_eq!(of(&[[3, 3], [5, 5]]), 0.0);
        assert_eq!(of(&[[7, 0], [0, 7]]), 1.0);
        assert_eq!(of(&[[0, 7], [0, 7]]), 0.0);
        assert_eq!(of(&[[0, 0], [0, 0]]), 0.0);
    }

    #[test]
    fn one_of_very_many_is_not_lost() {
        const MOST: u32 = u32::MAX - 1;
        let mut table = [[0; 1024]; 2];
        (table[0][1022], table[1][1023]) = (MOST, 1);
        assert!((of(&table) - 1.0).abs() < 1e-15);
        (table[0][1023], table[1][1023]) = (1, 0);
        assert_eq!(of(&table), 0.0);
        // One of the two voxels in a bin of X differs from all others: half of the little variance is explained.
        (table[0][1022], table[0][1023], table[1][1022], table[1][1023]) = (MOST - 1, 0, 1, 1);
        assert!((of(&table) - 0.5).abs() < 1e-9);
    }
}
