//! Colours as intensities, the same for every format.

/// Weights of red, green and blue in Rec. 709, parts of 10000.
const REC_709: [u32; 3] = [2126, 7152, 722];

/// The luma of a colour of 8 or 16 bits per channel: 0.2126 R + 0.7152 G + 0.0722 B, rounded down. What follows the blue is
/// alpha, and ignored.
pub fn luma<T: Copy + Into<u32>>(colour: &[T]) -> f32 {
    let sum: u32 = REC_709.iter().zip(colour).map(|(weight, &channel)| weight * channel.into()).sum();
    (sum / REC_709.iter().sum::<u32>()) as f32
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
    fn pictures_of_other_programs_are_the_same() {
        let pixel = image::Rgb([200u8, 100, 50]);
        let other = image::DynamicImage::ImageRgb8(image::ImageBuffer::from_pixel(1, 1, pixel)).into_luma8();
        assert_eq!(luma(&pixel.0), f32::from(other.into_raw()[0]));
    }
}
