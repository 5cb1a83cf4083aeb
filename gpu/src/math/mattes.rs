//! Cubic B-spline windows in the joint histogram, after Mattes and others 2003, with the conventions of ITK's metric of that name:
//! [`PADDING`] bins are kept free at either end, and a bin is as wide as the range over the bins that are left.
//!
//! A window's four weights are whole numbers that sum to [`UNIT`], so that counts do not depend on the order of the samples.

use super::bin::FULL;
#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;

/// Bins at either end that no intensity falls into, but windows reach.
pub const PADDING: u32 = 2;

/// What the weights of a sample sum to.
pub const UNIT: u32 = 1 << 15;

/// Samples that a 32-bit counter can take.
pub const FILL: u32 = u32::MAX / UNIT;

/// The fewest bins a side: one besides the padding.
pub const LEAST_BINS: u32 = 2 * PADDING + 1;

/// What [`window`] multiplies stored values from 0 to [`FULL`] by for this many bins.
#[inline(always)]
pub fn scale(bins: u32) -> f32 {
    (bins - 2 * PADDING) as f32 / FULL
}

/// The first of the four bins that a window reaches, and how far the value is into the second, 0 to 1.
///
/// # Safety
/// `value` is between 0 and [`FULL`].
#[inline(always)]
pub unsafe fn window(value: f32, bins: u32, scale: f32) -> (u32, f32) {
    let place = value * scale;
    // The top of the range belongs to the last bin before the padding.
    // SAFETY: as this function's.
    let whole = unsafe { super::whole::bits(super::whole::of(place)) };
    let last = bins - LEAST_BINS;
    let whole = if whole < last { whole } else { last };
    (whole + PADDING - 1, place - whole as f32)
}

/// The weights of the four bins for a value so far into the second, and their derivatives by that.
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

/// [`cubic`]'s weights as whole numbers that sum to [`UNIT`]: running sums, each rounded once.
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
    fn windows_stay_within_the_bins() {
        for bins in [LEAST_BINS, 6, 32, 50, 256] {
            let window = |value: f32| unsafe { window(value, bins, scale(bins)) };
            assert_eq!(window(0.0), (1, 0.0));
            let (first, into) = window(FULL);
            assert_eq!(first, bins - 4);
            assert!((into - 1.0).abs() < 1e-4);
        }
    }
}
