//! Estimates how blurred two pictures are, and smooths the sharper one halfway to the other.

use crate::Volume;
use crate::image::{Prepared, pyramid};
use std::borrow::Cow;

/// The sigma of the Gaussian that probes how blurred a picture is, and the blur beyond which blurs are not told apart,
/// pixels.
const PROBE: f64 = 2.0;
const MOST: f64 = 2.0 * PROBE;
/// The sharper picture is smoothed if the other one is blurred by more than this factor as much, by this fraction of
/// the difference in variance. Both also hold for thick slices (`registration/levels.rs`).
pub const BLURRED: f64 = 1.5;
pub const AS_BLURRED: f64 = 0.5;
/// The most pixels of a picture that is smoothed. Where larger ones lie is decided on coarser levels, and no scanner's
/// slice is as large.
const LARGE: usize = 1 << 22;

/// Smooths the sharper of two pictures towards the other one if that is much more blurred. What only the sharper one
/// shows, such as noise, or gyri beside SPECT, matches nothing and can draw a registration to a wrong place.
pub fn match_blur<'a>([fixed, moving]: &'a [Prepared<'a>; 2]) -> [Prepared<'a>; 2] {
    let large = [fixed, moving].into_iter().any(|picture| picture.image.voxels.len() > LARGE);
    let [of_fixed, of_moving] = [fixed, moving].map(|picture| if large { 0.0 } else { blur(&picture.image) });
    [smoothed_towards(fixed, of_fixed, of_moving), smoothed_towards(moving, of_moving, of_fixed)]
}

/// Smooths a picture that is blurred by a Gaussian of sigma `from` towards a blur of sigma `to`, mm.
fn smoothed_towards<'a>(picture: &'a Prepared<'a>, from: f64, to: f64) -> Prepared<'a> {
    let mm = if to > BLURRED * from { (AS_BLURRED * (to * to - from * from)).sqrt() } else { 0.0 };
    let spacing = picture.image.geometry.spacing;
    let image = pyramid::smoothed(&picture.image, [mm / spacing.x, mm / spacing.y, 0.0]);
    Prepared { image, mask: picture.mask().map(Cow::Borrowed), intensities: picture.intensities }
}

/// Estimates the sigma of the Gaussian by which a picture is blurred, mm.
///
/// The power spectrum of most pictures falls with the square of the frequency. The sum of squared slopes of such a
/// picture, blurred by s, is proportional to 1 / s^2. A further blur by p leaves s^2 / (s^2 + p^2) of it.
fn blur(picture: &Volume) -> f64 {
    let left = slopes(&pyramid::smoothed(picture, [PROBE, PROBE, 0.0])) / slopes(picture);
    let pixels = if left < 1.0 { PROBE * (left / (1.0 - left)).sqrt() } else { 0.0 };
    pixels.min(MOST) * picture.geometry.spacing_range()[0]
}

/// Returns the sum of the squared differences of neighbouring pixels.
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

    /// Squares of 8 by 8 pixels of `mm` with pseudorandom intensities, blurred by a Gaussian of `sigma` pixels.
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
            match_blur(&prepared).map(|picture| matches!(picture.image, Cow::Owned(_)))
        };
        assert_eq!(changed(&pair(0.0, 2.0)), [true, false]);
        assert_eq!(changed(&pair(2.0, 0.0)), [false, true]);
        assert_eq!(changed(&pair(1.5, 1.8)), [false, false]);
    }
}
