//! How sharp two pictures are, and the sharper one as it would look through the other's scanner, or half of it.

use crate::Volume;
use crate::image::{Prepared, pyramid};
use std::borrow::Cow;

/// The Gaussian by which a picture is probed, pixels. Blurs beyond some times that are not told apart.
const PROBE: f64 = 2.0;
const MOST: f64 = 2.0 * PROBE;
/// A picture that is blurred by so many times as much as the other shows less. It is the limit of thick slices, too, and so is the part of
/// the difference in variance that is made up for.
const BLURRED: f64 = 1.5;
const AS_BLURRED: f64 = 0.5;
/// Pictures of more pixels stay as they are: coarser levels decide where they lie, and no scanner's slice is as large.
const LARGE: usize = 1 << 22;

/// Of two pictures the sharper one smoothed towards the other, where that is much less sharp. What only one shows, such as noise and gyri beside
/// SPECT, has nothing to agree with, and draws a registration where it happens to.
pub fn alike<'a>([fixed, moving]: &'a [Prepared<'a>; 2]) -> [Prepared<'a>; 2] {
    let large = [fixed, moving].into_iter().any(|picture| picture.image.voxels.len() > LARGE);
    let [of_fixed, of_moving] = [fixed, moving].map(|picture| if large { 0.0 } else { blur(&picture.image) });
    [softened(fixed, of_fixed, of_moving), softened(moving, of_moving, of_fixed)]
}

/// A picture that is blurred by a Gaussian of sigma `from`, towards `to`, mm.
fn softened<'a>(picture: &'a Prepared<'a>, from: f64, to: f64) -> Prepared<'a> {
    let mm = if to > BLURRED * from { (AS_BLURRED * (to * to - from * from)).sqrt() } else { 0.0 };
    let spacing = picture.image.geometry.spacing;
    let image = pyramid::smoothed(&picture.image, [mm / spacing.x, mm / spacing.y, 0.0]);
    Prepared { image, mask: picture.mask().map(Cow::Borrowed), intensities: picture.intensities }
}

/// By a Gaussian of which sigma a picture looks blurred, mm.
///
/// The spectrum of most pictures falls with the square of the frequency. Blurred by s, their squared slopes sum up to a part of 1 / s^2, and to
/// s^2 / (s^2 + p^2) of that once they are blurred by p as well.
fn blur(picture: &Volume) -> f64 {
    let left = slopes(&pyramid::smoothed(picture, [PROBE, PROBE, 0.0])) / slopes(picture);
    let pixels = if left < 1.0 { PROBE * (left / (1.0 - left)).sqrt() } else { 0.0 };
    pixels.min(MOST) * picture.geometry.spacing_range()[0]
}

/// The sum of the squared differences of neighbours.
fn slopes(picture: &Volume) -> f64 {
    let [width, ..] = picture.geometry.size;
    let rows = picture.voxels.chunks_exact(width);
    let squared = |(a, b): (&f32, &f32)| f64::from(a - b).powi(2);
    let along = |row: &[f32]| row.iter().zip(&row[1..]).map(squared).sum::<f64>();
    let across = |(row, next): (&[f32], &[f32])| row.iter().zip(next).map(squared).sum::<f64>();
    rows.clone().map(along).sum::<f64>() + rows.clone().zip(rows.skip(1)).map(across).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::IntensityRange;
    use crate::{Geometry, PixelType};
    use glam::DVec3;

    /// Cells of 8 by 8 pixels with intensities of their own, seen through a Gaussian.
    fn cells(sigma: f64, mm: f64) -> Volume {
        let geometry = Geometry::axis_aligned([160, 144, 1], DVec3::new(mm, mm, 1.0), DVec3::ZERO);
        let cell = |n: usize| ((n % 160 / 8 + 20 * (n / 160 / 8)) as u32).wrapping_mul(2_654_435_761) >> 24;
        let voxels = (0..geometry.voxels()).map(|n| cell(n) as f32).collect();
        let sharp = Volume { geometry, voxels, pixel: PixelType::F32 };
        pyramid::smoothed(&sharp, [sigma, sigma, 0.0]).into_owned()
    }

    #[test]
    fn a_blur_is_seen() {
        for (sigma, mm) in [(1.5, 1.0), (2.5, 1.0), (2.0, 0.5)] {
            let seen = blur(&cells(sigma, mm));
            assert!((0.7..1.4).contains(&(seen / (sigma * mm))), "{sigma} pixels of {mm} mm: {seen} mm");
        }
        let flat = cells(0.0, 1.0).with(|_| 7.0);
        assert!(blur(&flat) == 0.0 && blur(&cells(0.0, 1.0)) < 1.0);
    }

    #[test]
    fn only_the_much_sharper_one_is_smoothed() {
        let pair = |a: f64, b: f64| [cells(a, 1.0), cells(b, 1.0)];
        let changed = |pair: &[Volume; 2]| {
            let prepared = pair.each_ref().map(|image| Prepared::new(image, None, IntensityRange::Full));
            alike(&prepared).map(|picture| matches!(picture.image, Cow::Owned(_)))
        };
        assert_eq!(changed(&pair(0.0, 2.0)), [true, false]);
        assert_eq!(changed(&pair(2.0, 0.0)), [false, true]);
        assert_eq!(changed(&pair(1.5, 1.8)), [false, false]);
    }
}
