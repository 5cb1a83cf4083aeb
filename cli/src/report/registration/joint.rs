//! Joint histograms as pictures.

use image::{GrayImage, Luma};

/// The most picture elements per side.
const SIDE: usize = 128;

/// Draws the logarithm of each count: fixed intensities to the right, moving intensities upwards. The count of the bins
/// f and m is at `f + bins * m`.
pub fn draw(counts: &[u32], bins: usize) -> GrayImage {
    let together = bins.div_ceil(SIDE);
    let side = bins.div_ceil(together);
    let mut sums = vec![0_u64; side * side];
    for (n, &count) in counts.iter().enumerate() {
        sums[n % bins / together + side * (n / bins / together)] += u64::from(count);
    }
    let logarithm = |sum: u64| (sum as f64).ln_1p();
    let most = logarithm(sums.iter().copied().max().unwrap_or(0)).max(f64::MIN_POSITIVE);
    GrayImage::from_fn(side as u32, side as u32, |x, y| {
        let sum = sums[x as usize + side * (side - 1 - y as usize)];
        Luma([(255.0 * logarithm(sum) / most).round() as u8])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moving_intensities_rise_upwards() {
        let mut counts = vec![0; 9];
        (counts[2], counts[3]) = (99, 9);
        let picture = draw(&counts, 3);
        assert_eq!(
            (picture.get_pixel(2, 2), picture.get_pixel(0, 1), picture.get_pixel(1, 1)),
            (&Luma([255]), &Luma([128]), &Luma([0]))
        );
    }

    #[test]
    fn many_bins_are_put_together() {
        let picture = draw(&vec![1; 300 * 300], 300);
        assert_eq!(picture.dimensions(), (100, 100));
        assert!(picture.pixels().all(|grey| grey.0 == [255]));
        assert!(draw(&[0; 4], 2).pixels().all(|grey| grey.0 == [0]));
    }
}
