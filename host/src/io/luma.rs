//! Converts colours to intensities, in the same way for all formats.

/// The weights of red, green and blue in Rec. 709, times 10000.
const REC_709: [f64; 3] = [2126.0, 7152.0, 722.0];

/// The luma of a colour: 0.2126 R + 0.7152 G + 0.0722 B, rounded to the nearest. A channel after blue is alpha and
/// ignored.
pub fn luma<T: Copy + Into<f64>>(colour: &[T]) -> f32 {
    // Integers in f64, so that all but the division is exact.
    let sum: f64 = REC_709.iter().zip(colour).map(|(weight, &channel)| weight * channel.into()).sum();
    (sum / 10_000.0).round() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_stays_white_and_alpha_is_ignored() {
        assert_eq!((luma(&[255u8; 3]), luma(&[u16::MAX; 3]), luma(&[0u8, 0, 0, 255])), (255.0, 65535.0, 0.0));
        assert_eq!([luma(&[255u8, 0, 0]), luma(&[0u8, 255, 0]), luma(&[0u8, 0, 255])], [54.0, 182.0, 18.0]);
    }

    #[test]
    fn pictures_have_the_same_luma_but_for_rounding() {
        let colours: Vec<u8> = (0..3 * 1000).map(|n: u32| (n * n * 37 + 11 * n) as u8).collect();
        let picture = image::RgbImage::from_raw(1000, 1, colours.clone()).unwrap();
        let other = image::DynamicImage::ImageRgb8(picture).into_luma8().into_raw();
        let apart = |(colour, &other): (&[u8], &u8)| (luma(colour) - f32::from(other)).abs();
        assert!(colours.chunks(3).zip(&other).map(apart).all(|apart| apart <= 1.0));
        let alike = colours.chunks(3).zip(&other).map(apart).filter(|apart| *apart == 0.0).count();
        assert!(alike > 950, "{alike} of 1000");
    }
}
