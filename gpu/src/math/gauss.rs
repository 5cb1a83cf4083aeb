//! The Gaussian of a Parzen window, from multiply-adds alone, so that it has the same bits everywhere. A scaled distance d is
//! [`SCALE`] times the distance in standard deviations; the window is 2^-(d^2), without a norm.

#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;

/// The largest scaled distance: those beyond count as this one, so that a window never falls below [`LEAST`].
pub const REACH: f32 = 6.0;

/// 2^-36: the window at [`REACH`].
pub const LEAST: f32 = 1.0 / (1_u64 << 36) as f32;

/// 1.5 * 2^23: added to a number, it leaves the nearest integer in the low bits.
const SHIFT: f32 = 12_582_912.0;

/// The scaled distance of one standard deviation: sqrt(log2(e) / 2).
pub const SCALE: f64 = 0.849_321_800_288_019;

/// The window 2^-(d^2) of a scaled distance, with a relative error below 3e-6.
#[inline(always)]
pub fn window(d: f32) -> f32 {
    let d = d.abs();
    // A comparison rather than `min`: one instruction on both sides.
    window_within(if d < REACH { d } else { REACH })
}

/// [`window`] of a distance up to [`REACH`], in fewer instructions.
#[inline(always)]
pub fn window_within(d: f32) -> f32 {
    let shifted = (-d).mul_add(d, SHIFT);
    power((-d).mul_add(d, SHIFT - shifted), shifted)
}

/// 2^-(d^2) with a relative error of about 2^-22, and with bits that depend on the GPU; it may be 0.
#[inline(always)]
pub fn about(d: f32) -> f32 {
    cuda_std::float::exp2_approximate(-d * d)
}

/// 2^-square, with a relative error below 3e-6; squares beyond twice that of [`REACH`] count as that.
#[inline(always)]
pub fn window_of_square(square: f32) -> f32 {
    const MOST: f32 = 2.0 * REACH * REACH;
    let square = if square < MOST { square } else { MOST };
    let shifted = SHIFT - square;
    power(SHIFT - shifted - square, shifted)
}

/// 2^(part + whole), with part between -1/2 and 1/2 and whole in the low bits of `shifted`: the polynomial of degree 4 that is 1 at 0 and
/// has the least relative error, 2.8e-6, then an addition to the exponent.
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
