//! The Gaussian of a Parzen window, computed from multiply-adds alone, so that it has the same bits on CPU and GPU. A
//! scaled distance d is [`SCALE`] times the distance in standard deviations. The window is 2^-(d^2), not normalised.

#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;

/// The largest scaled distance. Larger ones count as this one, so that a window is never below [`LEAST`].
pub const REACH: f32 = 6.0;

/// 2^-36: the window at [`REACH`].
pub const LEAST: f32 = 1.0 / (1_u64 << 36) as f32;

/// 1.5 * 2^23. When it is added to a number, the low bits of the sum are the nearest integer.
const ROUNDING_SHIFT: f32 = 12_582_912.0;

/// The scaled distance that corresponds to one standard deviation: sqrt(log2(e) / 2).
pub const SCALE: f64 = 0.849_321_800_288_019;

/// The window 2^-(d^2) of a scaled distance, with a relative error below 3e-6.
#[inline(always)]
pub fn window(d: f32) -> f32 {
    let d = d.abs();
    // Unlike `min`, this comparison compiles to one instruction on CPU and GPU.
    window_within(if d < REACH { d } else { REACH })
}

/// Returns [`window`] for a distance up to [`REACH`], in fewer instructions.
#[inline(always)]
pub fn window_within(d: f32) -> f32 {
    let shifted = (-d).mul_add(d, ROUNDING_SHIFT);
    power((-d).mul_add(d, ROUNDING_SHIFT - shifted), shifted)
}

/// Returns 2^-(d^2) with a relative error of about 2^-22. Its bits depend on the GPU, and it may be 0.
#[inline(always)]
pub fn about(d: f32) -> f32 {
    cuda_std::float::exp2_approximate(-d * d)
}

/// Returns 2^-square with a relative error below 3e-6. Squares above `2 * REACH * REACH` count as that.
#[inline(always)]
pub fn window_of_square(square: f32) -> f32 {
    const MOST: f32 = 2.0 * REACH * REACH;
    let square = if square < MOST { square } else { MOST };
    let shifted = ROUNDING_SHIFT - square;
    power(ROUNDING_SHIFT - shifted - square, shifted)
}

/// Returns 2^(part + whole), where part is between -1/2 and 1/2 and whole is in the low bits of `shifted`. 2^part is a
/// polynomial of degree 4, the one with the least relative error, 2.8e-6, of those that are 1 at 0. Then `whole` is
/// added to the exponent.
#[inline(always)]
fn power(part: f32, shifted: f32) -> f32 {
    let p = part.mul_add(0.009_582_855, 0.055_906_43);
    let p = part.mul_add(p, 0.240_240_99);
    let p = part.mul_add(p, 0.693_124_2);
    let p = part.mul_add(p, 1.0);
    f32::from_bits(p.to_bits().wrapping_add(shifted.to_bits() << 23))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_a_gaussian() {
        for n in 0..10_000 {
            let sigmas = 9.0 * f64::from(n) / 10_000.0;
            let d = (sigmas * SCALE) as f32;
            let expected = (-f64::from(d).powi(2).min(36.0)).exp2();
            for d in [d, -d] {
                let error = f64::from(window(d)) / expected - 1.0;
                assert!(error.abs() < 3e-6 + 4e-6 * expected.log2().abs() / 36.0, "{sigmas} sigmas: {error:e}");
            }
        }
        assert_eq!([window(1e30), window_of_square(1e30)], [LEAST, LEAST * LEAST]);
        assert!((SCALE - (std::f64::consts::LOG2_E / 2.0).sqrt()).abs() < 1e-15);
    }
}
