//! What can be registered at all.

use super::{Init, Options, ViolaOptions};
use crate::backend::HistogramMethod;
use crate::error::{Setting, message};
use crate::image::Range;
use crate::metric::MetricKind;
use crate::{Error, Result, Volume};
use glam::{DAffine3, DVec3};
use gpu::math::interpolate::Interpolator;
use gpu::math::mattes::{LEAST_BINS, PADDING};

/// The intensity ranges of the fixed and the moving image, unless they cannot be registered.
///
/// # Errors
/// [`Error::Option`] says why.
pub fn check(fixed: &Volume, moving: &Volume, options: &Options) -> Result<[Range; 2]> {
    let bins = options.bins;
    if !(2..=1024).contains(&bins) {
        return Err(Error::option(
            Setting::Bins,
            format!("{bins} bins: the joint histogram takes 2 to 1024 bins a side"),
        ));
    }
    metric(options)?;
    let range = |which: Setting, volume: &Volume| {
        let name = which.name();
        let [i, j, k] = volume.geometry.size;
        if i.checked_mul(j).and_then(|plane| plane.checked_mul(k)) != Some(volume.voxels.len()) {
            let voxels = volume.voxels.len();
            return Err(Error::option(
                which,
                format!("the {name} image has {voxels} voxels, which do not fill {i} x {j} x {k}"),
            ));
        }
        if !volume.geometry.is_addressable() {
            return Err(Error::option(
                which,
                message!(
                    "the {name} image of {i} x {j} x {k} voxels is too large";
                    "crop it or make it coarser, to 2^31 voxels and 32768 along an axis at most"
                ),
            ));
        }
        if volume.geometry.size[..2].iter().any(|&n| n < 2) {
            return Err(Error::option(
                which,
                format!("the {name} image has an axis with a single voxel: two or more are needed"),
            ));
        }
        let (low, high) = volume.range();
        if low == high {
            return Err(Error::option(
                which,
                format!("the {name} image is constant (every voxel is {low}): nothing to register"),
            ));
        }
        Ok((low, high))
    };
    let ranges = [range(Setting::Fixed, fixed)?, range(Setting::Moving, moving)?];
    if fixed.geometry.is_flat() != moving.geometry.is_flat() {
        return Err(Error::option(
            Setting::Moving,
            "one of the images is two-dimensional and the other is not: mireg registers images of the same number of axes",
        ));
    }
    mask(Setting::FixedMask, options.fixed_mask.as_ref(), fixed)?;
    mask(Setting::MovingMask, options.moving_mask.as_ref(), moving)?;
    levels(options.levels.as_deref().unwrap_or(&[1.0]))?;
    if let (Init::Transform(start), true) = (&options.init, fixed.geometry.is_flat()) {
        stays_in_plane(start)?;
    }
    Ok(ranges)
}

/// What goes with the metric.
fn metric(options: &Options) -> Result<()> {
    let name = options.metric().name();
    if !options.metric().smooth() {
        return match options.optimizer().needs_gradient() {
            true => Err(Error::option(
                Setting::Optimizer,
                message!(
                    "{name} has no gradient to climb by";
                    "use ", Metric, " mattes, mattes-symmetric or viola, or another ", Optimizer
                ),
            )),
            false => Ok(()),
        };
    }
    if options.interpolator != Interpolator::Linear {
        return Err(Error::option(
            Setting::Interpolator,
            message!("{name} takes ", Interpolator, " linear alone, of which it has the gradient"),
        ));
    }
    if options.histogram != HistogramMethod::Auto {
        return Err(Error::option(
            Setting::Histogram,
            message!("{name} counts no joint histogram"; "leave ", Histogram, " out"),
        ));
    }
    if options.metric() == MetricKind::Viola { viola(&options.viola) } else { mattes(options.bins) }
}

fn mattes(bins: u32) -> Result<()> {
    match bins < LEAST_BINS {
        true => Err(Error::option(
            Setting::Bins,
            format!(
                "{bins} bins: Mattes windows take {LEAST_BINS} to 1024, of which {PADDING} stay empty at either end"
            ),
        )),
        false => Ok(()),
    }
}

fn viola(viola: &ViolaOptions) -> Result<()> {
    if viola.samples < ViolaOptions::LEAST {
        let (samples, least) = (viola.samples, ViolaOptions::LEAST);
        return Err(Error::option(
            Setting::Samples,
            format!("{samples} samples: Viola's metric takes {least} or more"),
        ));
    }
    viola.sigmas.map_or(Ok(()), |sigmas| sigmas.check())
}

fn mask(which: Setting, mask: Option<&Volume>, image: &Volume) -> Result<()> {
    let Some(mask) = mask else { return Ok(()) };
    let name = if which == Setting::FixedMask { "fixed" } else { "moving" };
    if !mask.geometry.is_close(&image.geometry) {
        return Err(Error::option(
            which,
            message!(
                "the {name} mask is not on the {name} image's grid";
                "resample it, nearest, onto the {name} image"
            ),
        ));
    }
    if mask.voxels.len() != image.voxels.len() || mask.voxels.iter().all(|&voxel| voxel < 0.5) {
        return Err(Error::option(which, format!("the {name} mask has no voxel of 0.5 or more: nothing to register")));
    }
    Ok(())
}

/// Whether a start keeps two-dimensional images in the plane that they lie in.
fn stays_in_plane(start: &DAffine3) -> Result<()> {
    let onto = |p: DVec3| start.transform_point3(p).z.abs() < 1e-6;
    match [DVec3::ZERO, DVec3::X, DVec3::Y].into_iter().all(onto) {
        true => Ok(()),
        false => Err(Error::option(
            Setting::Init,
            message!(
                "the transform to start from leads out of the plane of the images";
                "start from a two-dimensional one"
            ),
        )),
    }
}

fn levels(levels: &[f64]) -> Result<()> {
    let falling = levels.windows(2).all(|pair| pair[0] > pair[1]);
    let lengths = levels.iter().all(|mm| mm.is_finite() && *mm > 0.0);
    match falling && lengths && !levels.is_empty() {
        true => Ok(()),
        false => Err(Error::option(
            Setting::Levels,
            "the levels must be lengths above 0 in mm, each less than the one before",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Geometry, PixelType};

    fn volume(size: [usize; 3], voxels: Vec<f32>) -> Volume {
        Volume { geometry: Geometry::axis_aligned(size, DVec3::ONE, DVec3::ZERO), voxels, pixel: PixelType::F32 }
    }

    #[test]
    fn what_cannot_be_registered_is_refused_in_a_line() {
        let good = volume([2, 2, 2], (0..8_u8).map(f32::from).collect());
        let with = |bins, fixed_mask| Options { bins, fixed_mask, ..Options::default() };
        assert_eq!(check(&good, &good, &with(64, Some(good.clone()))).unwrap(), [(0.0, 7.0); 2]);
        let bad = [
            (volume([2, 2, 3], vec![1.0; 8]), 64, "do not fill"),
            (volume([usize::MAX, 2, 2], vec![1.0; 8]), 64, "do not fill"),
            (volume([8, 1, 1], good.voxels.clone()), 64, "single voxel"),
            (volume([2, 2, 2], vec![1.0; 8]), 64, "constant"),
            (good.clone(), 1025, "2 to 1024"),
        ];
        let refused = |moving: &Volume, options: &Options, says: &str| {
            let error = check(&good, moving, options).unwrap_err().to_string();
            assert!(error.contains(says) && error.lines().count() == 1, "{error}");
        };
        for (moving, bins, says) in bad {
            refused(&moving, &with(bins, None), says);
        }
        refused(&good, &with(64, Some(volume([2, 2, 2], vec![0.4; 8]))), "no voxel of 0.5");
        refused(&good, &with(64, Some(volume([2, 2, 3], vec![1.0; 12]))), "not on the fixed image's grid");
    }
}
