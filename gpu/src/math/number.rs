//! Conversion of numbers to intensities.

/// Converts a number to f32, rounded to the nearest. A NaN keeps its sign and the upper bits of its payload, as on x86;
/// the conversion instruction of PTX would return a canonical NaN.
#[inline(always)]
pub fn narrowed(number: f64) -> f32 {
    let bits = number.to_bits();
    let nan = (bits >> 32) as u32 & 0x8000_0000 | 0x7FC0_0000 | (bits >> 29) as u32 & 0x003F_FFFF;
    if number.is_nan() { f32::from_bits(nan) } else { number as f32 }
}

#[cfg(test)]
mod tests {
    use super::narrowed;

    #[test]
    fn numbers_are_rounded_and_keep_their_nan() {
        for number in [0.0, -0.0, 1.1, -1e300, 1e-300, 16_777_217.0, f64::INFINITY] {
            assert_eq!(narrowed(number).to_bits(), (number as f32).to_bits());
        }
        assert_eq!(narrowed(f64::NAN).to_bits(), 0x7FC0_0000);
        assert_eq!(narrowed(f64::from_bits(0xFFF8_0000_2000_0000)).to_bits(), 0xFFC0_0001);
    }
}
