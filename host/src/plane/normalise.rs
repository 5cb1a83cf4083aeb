//! Local contrast: intensities less their local mean, over their local standard deviation. What is left is structure.
//!
//! A lamp's shading, a vignette and a pigment's slow changes say nothing about where a vessel lies. But Gaussian
//! windows of intensity that are wide enough to hold them no longer resolve the vessel.

use crate::backend::cpu;
use crate::error::Setting;
use crate::threads::check_stopped;
use crate::{Error, Result, Volume};
use rayon::prelude::*;

/// The sigma of the Gaussian that finds the rim, as a fraction of the neighbourhood's. In the rim a picture fades into
/// its background.
const RIM: f64 = 0.25;
/// The fraction of that Gaussian that must be foreground for a pixel not to be in the rim.
const MOSTLY: f32 = 0.95;
/// Added in squares to the local standard deviation, as a fraction of that of the whole picture, so that regions
/// without contrast get none, and their noise is not amplified.
const FLAT: f32 = 0.1;
/// A picture is constant if its contrast is less than this fraction of its brightest pixel: as much comes from the
/// rounding of f32.
const ROUND_OFF: f32 = 1e-5;
/// Pixels per task.
const PIECE: usize = 1 << 16;
/// Local contrast is clamped to this many local standard deviations on either side of 0.
pub const REACH: f32 = 4.0;

/// Returns which pixels of `picture` are in the foreground `area` and not in its rim. `mm` is the sigma of
/// neighbourhoods.
///
/// # Errors
/// [`Error::Stopped`]
pub fn without_rim(picture: &Volume, area: &[bool], mm: f64) -> Result<Vec<bool>> {
    let share = smoothed(picture.with(|n| f32::from(u8::from(area[n]))), RIM * mm)?;
    Ok(area.iter().zip(&share).map(|(&is, &share)| is && share >= MOSTLY).collect())
}

/// Returns the local contrast of a picture: each pixel less the mean of its neighbourhood, over the standard deviation
/// of its neighbourhood, clamped to [`REACH`] on either side; 0 outside `foreground`. Neighbours are weighted by a
/// Gaussian of sigma `mm`, and those outside `foreground` are left out.
///
/// # Errors
/// [`Error::Option`] for a picture without contrast, which is called by the name of `which`; [`Error::Stopped`].
pub fn locally(picture: &Volume, foreground: &[bool], mm: f64, which: Setting) -> Result<Volume> {
    let weight = |n: usize| f32::from(u8::from(foreground[n]));
    // Smoothing does not change constant weights.
    let whole = foreground.par_iter().all(|&inside| inside);
    let weights = if whole { vec![1.0; foreground.len()] } else { smoothed(picture.with(weight), mm)? };
    // The same buffer holds the local sums, then the deviations from the local mean, then the local contrast.
    let mut off = smoothed(picture.with(|n| weight(n) * picture.voxels[n]), mm)?;
    each(&mut off, |n, sum| if foreground[n] { picture.voxels[n] - sum / weights[n] } else { 0.0 });
    let squares = smoothed(picture.with(|n| off[n] * off[n]), mm)?;
    let variance = |n: usize| if foreground[n] { (squares[n] / weights[n]).max(0.0) } else { 0.0 };
    let variances =
        |first: usize| (first..foreground.len().min(first + PIECE)).map(|n| f64::from(variance(n))).sum::<f64>();
    // Sums are added in the same order for any number of threads.
    let total: Vec<f64> = (0..foreground.len()).into_par_iter().step_by(PIECE).map(variances).collect();
    let count = foreground.par_iter().filter(|inside| **inside).count().max(1);
    let typical = (total.into_iter().sum::<f64>() / count as f64) as f32;
    let brightest = picture.voxels.par_iter().map(|v| v.abs()).reduce(|| 0.0, f32::max);
    if !typical.is_normal() || typical.sqrt() < ROUND_OFF * brightest {
        let name = which.name();
        return Err(Error::option(
            which,
            format!("the {name} picture is the same everywhere: there is nothing to register"),
        ));
    }
    each(&mut off, |n, off| (off / (variance(n) + FLAT * FLAT * typical).sqrt()).clamp(-REACH, REACH));
    Ok(Volume { voxels: off, ..*picture })
}

/// Replaces each number by what `of` makes of its index and its value.
fn each(numbers: &mut [f32], of: impl Fn(usize, f32) -> f32 + Sync) {
    let pieces = numbers.par_chunks_mut(PIECE).enumerate();
    pieces.for_each(|(piece, numbers)| {
        numbers.iter_mut().enumerate().for_each(|(n, number)| *number = of(piece * PIECE + n, *number));
    });
}

fn smoothed(picture: Volume, mm: f64) -> Result<Vec<f32>> {
    let Volume { geometry, mut voxels, .. } = picture;
    cpu::smooth(&mut voxels, geometry.size, (mm / geometry.spacing).to_array());
    check_stopped().map(|()| voxels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Geometry, PixelType};
    use glam::DVec3;

    fn picture(pixel: impl Fn(f32, f32) -> f32) -> Volume {
        let geometry = Geometry::axis_aligned([80, 60, 1], DVec3::new(0.5, 0.5, 1.0), DVec3::ZERO);
        let voxels = (0..80 * 60).map(|n| pixel((n % 80) as f32, (n / 80) as f32)).collect();
        Volume { geometry, voxels, pixel: PixelType::F32 }
    }

    #[test]
    fn shading_and_gain_fall_out() {
        let texture = |x: f32, y: f32| (0.9 * x).sin() + (1.1 * y).cos();
        let all = vec![true; 80 * 60];
        let plain = locally(&picture(texture), &all, 5.0, Setting::Fixed).unwrap();
        let shaded = picture(|x, y| 100.0 + 2.0 * x + (1.0 + 0.01 * y) * 30.0 * texture(x, y));
        let shaded = locally(&shaded, &all, 5.0, Setting::Fixed).unwrap();
        let inside = |n: &usize| (20..60).contains(&(n % 80)) && (20..40).contains(&(n / 80));
        let off = |n: usize| (plain.voxels[n] - shaded.voxels[n]).abs();
        assert!((0..80 * 60).filter(inside).all(|n| off(n) < 0.15), "differ");
        assert!(plain.voxels.iter().all(|v| v.abs() < REACH));
    }

    #[test]
    fn what_surrounds_the_image_has_no_part() {
        let texture = |x: f32, y: f32| 100.0 + 10.0 * ((0.9 * x).sin() + (1.1 * y).cos());
        let area: Vec<bool> = (0..80 * 60).map(|n| n % 80 < 50).collect();
        let cut = |outside: f32| {
            let picture = picture(|x, y| if x < 50.0 { texture(x, y) } else { outside });
            let foreground = without_rim(&picture, &area, 4.0).unwrap();
            assert!(foreground.iter().enumerate().all(|(n, &is)| is == (n % 80 < 47)), "the rim is three pixels wide");
            locally(&picture, &foreground, 4.0, Setting::Fixed).unwrap()
        };
        assert_eq!(cut(0.0), cut(1e4));
    }

    #[test]
    fn a_picture_without_contrast_is_refused() {
        let all = vec![true; 80 * 60];
        let error = locally(&picture(|_, _| 7.0), &all, 5.0, Setting::Moving).unwrap_err().to_string();
        assert!(error.starts_with("the moving picture is the same everywhere"), "{error}");
    }
}
