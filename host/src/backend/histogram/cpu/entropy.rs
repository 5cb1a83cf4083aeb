//! Entropies and correlation ratios of a joint histogram, on the CPU. The order of additions is that of
//! [`gpu::math::entropy`].

use crate::backend::histogram::Wanted;
use crate::backend::lanes::order::ordered;
use crate::backend::lanes::simd::widest;
use gpu::math::correlation::{self, Moments};
use gpu::math::entropy::{Entropies, Sums, finish, term};

/// The sum of the entropy terms of counts, in the fixed order.
#[inline(always)]
fn sum(counts: &[u32], terms: &mut Vec<f64>) -> f64 {
    terms.clear();
    terms.extend(counts.iter().map(|&count| term(count)));
    ordered(terms)
}

/// The correlation ratios of a joint histogram with these marginals: of the moving image given the fixed one, and of the fixed image
/// given the moving one.
#[inline(always)]
fn ratios(joint: &[u32], fixed: &[u32], moving: &[u32], terms: &mut Vec<f64>) -> [f64; 2] {
    // For each bin of one image, the sum of the other image's bin numbers.
    let mut fixed_sums = vec![0; fixed.len()];
    let mut moving_sums = Vec::with_capacity(moving.len());
    for (column, number) in joint.chunks_exact(fixed.len()).zip(0_u64..) {
        fixed_sums.iter_mut().zip(column).for_each(|(sum, &count)| *sum += number * u64::from(count));
        moving_sums.push(column.iter().zip(0_u64..).map(|(&count, row)| row * u64::from(count)).sum());
    }
    [ratio(fixed, &fixed_sums, moving, terms), ratio(moving, &moving_sums, fixed, terms)]
}

/// The correlation ratio of an image whose marginal histogram is `values`, given the other image. `counts` and `sums`
/// are, for each bin of the other image, the number of samples and the sum of their bin numbers in the first image.
#[inline(always)]
fn ratio(counts: &[u32], sums: &[u64], values: &[u32], terms: &mut Vec<f64>) -> f64 {
    let mut all = Moments::default();
    values.iter().zip(0..).for_each(|(&count, bin)| all.add(bin, count));
    terms.clear();
    terms.extend(counts.iter().zip(sums).map(|(&count, &sum)| correlation::term(count, sum, &all)));
    correlation::ratio(ordered(terms), &all)
}

widest! {
    /// The entropies, and if wanted the correlation ratios, of a joint histogram with `bins` fixed and moving bins. The
    /// pair (f, m) is at `f + bins[0] * m`.
    pub fn entropies(joint: &[u32], bins: [u32; 2], wanted: Wanted) -> Entropies {
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
        let entropies =
            finish(Sums { fixed: sum(&fixed, &mut terms), moving: sum(&moving, &mut terms), joint: ordered(&columns), counts });
        match wanted {
            Wanted::Entropies => entropies,
            Wanted::Ratios => Entropies { ratios: ratios(joint, &fixed, &moving, &mut terms), ..entropies },
        }
    }
}
