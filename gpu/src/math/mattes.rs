//! Mutual information with cubic B-spline windows (Mattes and others 2003), with the conventions of ITK's metric of
//! that name: [`PADDING`] bins at either end are kept free, and the range of intensities is divided evenly among the
//! other bins.
//!
//! The four weights of a window are integers that sum to [`UNIT`], so that the counts c, which are sums of weights, do
//! not depend on the order of the samples.
//!
//! With the count c of a pair of bins, c_f of a fixed bin, c_m of a moving bin, and N of all, the mutual information in
//! nats is
//!
//! (sum over f of ((sum over m of c (ln c - ln c_m)) - c_f (ln c_f - ln N))) / N.
//!
//! Both sums have the order of [`super::entropy`]: [`LANES`](super::entropy::LANES) interleaved partial sums, folded in halves.
//!
//! The derivative by a sample's moving value is the sum of ln(c / c_m) over the bins of its window, each times the
//! derivative of its weight (Mattes and others 2003, eq. 26; c_f is not needed, as the derivatives of the weights sum
//! to 0). Within a bin, this is a [`quadratic`] function of the value. The derivative by row r of the map is the sum
//! over samples of that, times the moving image's derivative along axis r ([`inner`](super::interpolate::inner)), times
//! (x, y, z, 1), divided by the number of samples.
//!
//! The order of that sum: along a row of the fixed image, [`RowSums`] for each of 32 lanes, which are folded in f32;
//! then, in f64, [`BLOCK`] consecutive rows (y fastest, then z) are folded; then the blocks are summed as 32
//! interleaved partial sums, which are folded.

use super::bin::FULL;
use super::log;
#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;

/// The number of bins at either end that contain no intensity, but which windows reach.
pub const PADDING: u32 = 2;

/// The sum of a sample's weights.
pub const UNIT: u32 = 1 << 15;

/// The largest number of samples that a 32-bit counter can hold.
pub const FILL: u32 = u32::MAX / UNIT;

/// The smallest number of bins of an image: the padding and one more.
pub const LEAST_BINS: u32 = 2 * PADDING + 1;

/// Returns the factor that [`window`] takes for stored values from 0 to [`FULL`] and this many bins.
#[inline(always)]
pub fn scale(bins: u32) -> f32 {
    (bins - 2 * PADDING) as f32 / FULL
}

/// Returns the bin of an intensity that is not interpolated. The arithmetic is that of ITK, so that every voxel has the
/// same bin as there.
#[inline(always)]
pub fn bin(intensity: f32, low: f32, high: f32, bins: u32) -> u16 {
    let (low, high) = (f64::from(low), f64::from(high));
    let width = (high - low) / f64::from(bins - 2 * PADDING);
    let normalised_low = low / width - f64::from(PADDING);
    let bin = (f64::from(intensity) / width - normalised_low) as u32;
    let (first, last) = (PADDING, bins - 1 - PADDING);
    let bin = if bin < first { first } else { bin };
    (if bin > last { last } else { bin }) as u16
}

/// Returns the first of the four bins that a window reaches, and the position of the value within the second bin as a
/// fraction, 0 to 1.
///
/// # Safety
/// `value` is between 0 and [`FULL`].
#[inline(always)]
pub unsafe fn window(value: f32, bins: u32, scale: f32) -> (u32, f32) {
    let place = value * scale;
    // The top of the range belongs to the last bin before the padding.
    // SAFETY: by this function's contract.
    let whole = unsafe { super::whole::bits(super::whole::of(place)) };
    let last = bins - LEAST_BINS;
    let whole = if whole < last { whole } else { last };
    (whole + PADDING - 1, place - whole as f32)
}

/// Returns the weights of the four bins for a value at the fraction `into` of the second bin, and their derivatives by
/// the fraction.
#[inline(always)]
pub fn cubic(into: f32) -> ([f32; 4], [f32; 4]) {
    let (x, y) = (into, 1.0 - into);
    let (xx, yy) = (x * x, y * y);
    const SIXTH: f32 = 1.0 / 6.0;
    let first = yy * y * SIXTH;
    let last = xx * x * SIXTH;
    let second = xx.mul_add(0.5_f32.mul_add(x, -1.0), 2.0 / 3.0);
    let third = yy.mul_add(0.5_f32.mul_add(y, -1.0), 2.0 / 3.0);
    let derivatives = [-0.5 * yy, x * 1.5_f32.mul_add(x, -2.0), -y * 1.5_f32.mul_add(y, -2.0), 0.5 * xx];
    ([first, second, third, last], derivatives)
}

/// Returns the weights of [`cubic`] as integers that sum to [`UNIT`]. They are differences of running sums, each of
/// which is rounded once.
///
/// # Safety
/// `into` is between 0 and 1.
#[inline(always)]
pub unsafe fn weights(into: f32) -> [u32; 4] {
    let (w, _) = cubic(into);
    const ONE: f32 = UNIT as f32;
    // SAFETY: weights are between 0 and 1.
    let round = |sum: f32| unsafe { super::whole::bits(super::whole::of(sum.mul_add(ONE, 0.5))) };
    let (first, last) = (round(w[0]), round(w[3]));
    let half = round(w[0] + w[1]);
    [first, half - first, UNIT - last - half, last]
}

/// Divides a moving weight among the four bins of a fixed window. The shares are differences of running sums, each of
/// which is rounded once, so that they sum to the weight.
#[inline(always)]
pub fn shares(weight: u32, fixed: [u32; 4]) -> [u32; 4] {
    let to = |sum: u32| (weight * sum + UNIT / 2) / UNIT;
    let [a, b, c] = [to(fixed[0]), to(fixed[0] + fixed[1]), to(fixed[0] + fixed[1] + fixed[2])];
    [a, b - a, c - b, weight - c]
}

/// Returns ln of a count below 2^53; 0 for a count of 0.
#[inline(always)]
pub fn ln(count: u64) -> f64 {
    log::of(count.max(1) as f64)
}

/// Replaces a count of 0 in a logarithm. Where a window barely reaches a bin, its weight is rounded to 0, but the
/// derivative of the weight is not 0. If the logarithm were taken as 0 there, as in ITK (which does not round weights),
/// the derivative by the map would be wrong by up to 4e-4.
const COUNT_FOR_ZERO: f64 = 0.25;

/// Returns ln(c / c_m), from the count c of a pair of bins and ln(c_m).
#[inline(always)]
pub fn log_ratio(count: u64, ln_moving: f64) -> f64 {
    let count = if count == 0 { COUNT_FOR_ZERO } else { count as f64 };
    log::of(count) - ln_moving
}

/// Returns the term of a pair of bins in the sum of its fixed bin: its count times its [`log_ratio`].
#[inline(always)]
pub fn term(count: u64, log_ratio: f64) -> f64 {
    count as f64 * log_ratio
}

/// Returns the term of a fixed bin in the sum over fixed bins, from the sum of its [`term`]s, its counts and the
/// logarithm of all counts.
#[inline(always)]
pub fn row_term(terms: f64, fixed: u64, ln_all: f64) -> f64 {
    terms - fixed as f64 * (ln(fixed) - ln_all)
}

/// Returns the mutual information, in nats, from the sum over fixed bins; 0 without counts.
#[inline(always)]
pub fn finish(sum: f64, all: u64) -> f64 {
    // It is below 0 only by round-off.
    if all == 0 { 0.0 } else { (sum / all as f64).max(0.0) }
}

/// Returns the sum of [`log_ratio`] over the four bins of a window, each times the derivative of its weight by the
/// moving value, as the coefficients of 1, t and t^2. Here t is the fraction of the value within the second bin.
/// `scale` is that of [`scale`].
#[inline(always)]
pub fn quadratic(log_ratios: [f64; 4], scale: f32) -> [f32; 3] {
    let [a, b, c, d] = log_ratios;
    let scale = f64::from(scale);
    let constant = 0.5 * (c - a);
    let linear = (a - b) + (c - b);
    let square = 0.5 * ((d - a) + 3.0 * (b - c));
    [(constant * scale) as f32, (linear * scale) as f32, (square * scale) as f32]
}

/// Evaluates a [`quadratic`] at the fraction `into`.
#[inline(always)]
pub fn slope(quadratic: [f32; 3], into: f32) -> f32 {
    let [constant, linear, square] = quadratic;
    into.mul_add(into.mul_add(square, linear), constant)
}

/// Returns the mean of the quadratics of four fixed bins, weighted by a fixed window (the weights of [`cubic`]).
#[inline(always)]
pub fn mix(quadratics: [[f32; 3]; 4], weights: [f32; 4]) -> [f32; 3] {
    let [a, b, c, d] = quadratics;
    let mix = |i: usize| {
        let sum = weights[1].mul_add(b[i], weights[0] * a[i]);
        weights[3].mul_add(d[i], weights[2].mul_add(c[i], sum))
    };
    [mix(0), mix(1), mix(2)]
}

/// The sums of one of 32 lanes along a row of the fixed image: lane l takes the voxels x = l, l + 32, ... in that order.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RowSums {
    /// The sums of a sample's [`slope`] times the moving image's derivative along x, y and z.
    pub ones: [f32; 3],
    /// The same times the voxel's x.
    pub xs: [f32; 3],
}

impl RowSums {
    /// Adds the voxel at x; its `slope` is 0 where it does not count.
    #[inline(always)]
    pub fn add(&mut self, x: u32, slope: f32, derivatives: [f32; 3]) {
        let times_x = slope * x as f32;
        let (ones, xs) = (&mut self.ones, &mut self.xs);
        // This is written out, since the result of an array's `map` is not always kept in registers.
        (ones[0], xs[0]) = (slope.mul_add(derivatives[0], ones[0]), times_x.mul_add(derivatives[0], xs[0]));
        (ones[1], xs[1]) = (slope.mul_add(derivatives[1], ones[1]), times_x.mul_add(derivatives[1], xs[1]));
        (ones[2], xs[2]) = (slope.mul_add(derivatives[2], ones[2]), times_x.mul_add(derivatives[2], xs[2]));
    }

    /// Returns, from the folded sums of the row at (y, z), what the row adds to the derivative by the map's twelve
    /// coefficients. The products are exact.
    #[inline(always)]
    pub fn by_map(&self, y: u32, z: u32) -> [[f64; 4]; 3] {
        let (y, z) = (f64::from(y), f64::from(z));
        let row = |r: usize| {
            let one = f64::from(self.ones[r]);
            [f64::from(self.xs[r]), y * one, z * one, one]
        };
        [row(0), row(1), row(2)]
    }
}

/// Rows of the fixed image that are folded together; in the last block the sums of missing rows are 0.
pub const BLOCK: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_those_of_the_cubic_spline_and_sum_to_a_unit() {
        let spline = |t: f64| match t.abs() {
            t if t < 1.0 => (4.0 - 6.0 * t * t + 3.0 * t * t * t) / 6.0,
            t if t < 2.0 => (2.0 - t).powi(3) / 6.0,
            _ => 0.0,
        };
        for n in 0..=10_000 {
            let into = n as f32 / 10_000.0;
            let (_, slopes) = cubic(into);
            // SAFETY: 0 to 1.
            let weights = unsafe { weights(into) };
            assert_eq!(weights.iter().sum::<u32>(), UNIT, "{into}");
            for k in 0..4 {
                let t = f64::from(into) + 1.0 - k as f64;
                assert!(
                    (f64::from(weights[k]) / f64::from(UNIT) - spline(t)).abs() < 1.6 / f64::from(UNIT),
                    "{into} {k}"
                );
                let slope = (spline(t + 1e-5) - spline(t - 1e-5)) / 2e-5;
                assert!((f64::from(slopes[k]) - slope).abs() < 2e-5, "{into} {k}");
            }
        }
    }

    #[test]
    fn shares_sum_to_the_weight() {
        for (n, m) in (0..=100).flat_map(|n| (0..=100).map(move |m| (n, m))) {
            // SAFETY: 0 to 1.
            let [fixed, moving] = [n, m].map(|n| unsafe { weights(n as f32 / 100.0) });
            for w in moving {
                let shares = shares(w, fixed);
                assert_eq!(shares.iter().sum::<u32>(), w);
                for k in 0..4 {
                    let exact = f64::from(w) * f64::from(fixed[k]) / f64::from(UNIT);
                    assert!((f64::from(shares[k]) - exact).abs() < 1.0);
                }
            }
        }
    }

    #[test]
    fn a_quadratic_is_the_sum_over_the_window() {
        let ratios = [-3.5, 0.25, -1.0, 2.0];
        let quadratic = quadratic(ratios, 0.5);
        for n in 0..=100 {
            let into = n as f32 / 100.0;
            let sum: f64 = (0..4).map(|k| 0.5 * ratios[k] * f64::from(cubic(into).1[k])).sum();
            assert!((f64::from(slope(quadratic, into)) - sum).abs() < 1e-6, "{into}");
            let mixed = mix([[1.0; 3], [2.0; 3], quadratic, [0.0; 3]], [0.0, 0.0, 1.0, 0.0]);
            assert_eq!(slope(mixed, into), slope(quadratic, into));
        }
    }

    #[test]
    fn windows_stay_within_the_bins() {
        for bins in [LEAST_BINS, 6, 32, 50, 256] {
            // SAFETY: called with 0 and `FULL`.
            let window = |value: f32| unsafe { window(value, bins, scale(bins)) };
            assert_eq!(window(0.0), (1, 0.0));
            let (first, into) = window(FULL);
            assert_eq!(first, bins - 4);
            assert!((into - 1.0).abs() < 1e-4);
        }
    }
}
