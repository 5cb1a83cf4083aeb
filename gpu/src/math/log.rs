//! The natural logarithm, without a libm, so that it has the same bits on CPU and GPU.

#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;

/// ln 2 as a sum of its first 32 bits, whose product with an exponent is exact, and the rest.
const LN_2: [f64; 2] = [f64::from_bits(0x3FE6_2E42_FEE0_0000), 1.908_214_929_270_587_7e-10];

/// ln(n) for n of at least 1, to within 2 units in the last place.
#[inline(always)]
pub fn ln(n: u32) -> f64 {
    of(f64::from(n))
}

/// ln(x) for x that is positive, finite and not subnormal.
///
/// x = 2^e m with m in [sqrt(1/2), sqrt(2)). Then ln m = 2 artanh(s) with s = (m - 1) / (m + 1), computed by its series
/// in s^2. With |s| < 0.1716, the terms after s^21 are below half a unit in the last place.
#[inline(always)]
pub fn of(x: f64) -> f64 {
    let bits = x.to_bits();
    // Moves the start of a binade from 1 to sqrt(1/2).
    let shifted = bits.wrapping_add(0x3FF0_0000_0000_0000 - 0x3FE6_A09E_667F_3BCD);
    let exponent = (shifted >> 52) as i32 - 1023;
    let mantissa = f64::from_bits((shifted & 0x000F_FFFF_FFFF_FFFF) + 0x3FE6_A09E_667F_3BCD);
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    // The series is written out, since a loop over the odd numbers would put an array into a GPU's local memory.
    let series = square.mul_add(1.0 / 21.0, 1.0 / 19.0);
    let series = square.mul_add(series, 1.0 / 17.0);
    let series = square.mul_add(series, 1.0 / 15.0);
    let series = square.mul_add(series, 1.0 / 13.0);
    let series = square.mul_add(series, 1.0 / 11.0);
    let series = square.mul_add(series, 1.0 / 9.0);
    let series = square.mul_add(series, 1.0 / 7.0);
    let series = square.mul_add(series, 1.0 / 5.0);
    let series = square.mul_add(series, 1.0 / 3.0);
    let twice = s + s;
    let artanh = twice.mul_add(square * series, twice);
    let exponent = f64::from(exponent);
    exponent.mul_add(LN_2[0], exponent.mul_add(LN_2[1], artanh))
}

#[cfg(test)]
mod tests {
    use super::ln;

    #[test]
    fn agrees_with_the_standard_library() {
        let powers = (0..32).flat_map(|e| [1_u32 << e, (1 << e) + 1, u32::MAX >> e]);
        for n in powers.chain(1..200_000) {
            let (ours, std) = (ln(n), f64::from(n).ln());
            assert!((ours - std).abs() <= 2.0 * f64::EPSILON * std, "ln({n}) = {ours:e}, not {std:e}");
        }
    }

    #[test]
    fn fractions_have_logarithms_too() {
        for x in (0..2000).map(|n| (1.0 + 0.7 * f64::from(n)) * 2_f64.powi(n % 300 - 200)) {
            let (ours, std) = (super::of(x), x.ln());
            assert!((ours - std).abs() <= 4.0 * f64::EPSILON * std.abs().max(1.0), "ln({x:e}) = {ours:e}, not {std:e}");
        }
    }
}
