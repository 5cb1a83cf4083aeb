//! The Gaussian of a Parzen window, from multiply-adds alone, so that it has the same bits everywhere.

#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;

/// Distances beyond this count as this: the window never falls below 2^-60, and the product of two never below 2^-120.
pub const REACH: f32 = 7.745_966_7;

/// 1.5 * 2^23: added to a number, it leaves the nearest integer in the low bits.
const SHIFT: f32 = 12_582_912.0;

/// What a distance over its standard deviation is multiplied by for [`window`]: sqrt(log2(e) / 2).
pub const SCALE: f64 = 0.849_321_800_288_019;

/// 2^-(d^2), to within 3e-6 of itself.
#[inline(always)]
pub fn window(d: f32) -> f32 {
    let d = d.abs();
    // A comparison rather than `min`: one instruction on both sides.
    let d = if d < REACH { d } else { REACH };
    let shifted = (-d).mul_add(d, SHIFT);
    let part = (-d).mul_add(d, SHIFT - shifted);
    power(part, shifted)
}

/// 2^-square, to within 3e-6 of itself; squares beyond twice that of [`REACH`] count as that.
#[inline(always)]
pub fn window_of_square(square: f32) -> f32 {
    let square = if square < 120.0 { square } else { 120.0 };
    let shifted = SHIFT - square;
    power(SHIFT - shifted - square, shifted)
}

/// 2^(part + whole), part between -1/2 and 1/2, whole in the low bits of `shifted`: the polynomial of degree 4 with the least relative
/// error, then an addition to the exponent.
#[inline(always)]
fn power(part: f32, shifted: f32) -> f32 {
    let p = part.mul_add(0.009_570_102, 0.055_917_86);
    let p = part.mul_add(p, 0.240_247_45);
    let p = part.mul_add(p, 0.693_121_8);
    let p = part.mul_add(p, 0.999_999_26);
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
            let expected = (-f64::from(d).powi(2).min(60.0)).exp2();
            for d in [d, -d] {
                let error = f64::from(window(d)) / expected - 1.0;
                assert!(error.abs() < 3e-6 + 4e-6 * expected.log2().abs() / 60.0, "{sigmas} sigmas: {error:e}");
            }
        }
        assert_eq!(window(1e30), window(REACH));
        assert!((SCALE - (std::f64::consts::LOG2_E / 2.0).sqrt()).abs() < 1e-15);
    }
}
