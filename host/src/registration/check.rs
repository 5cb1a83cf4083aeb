//! Refuses options and images that cannot be registered.

use super::Options;
use crate::error::{Setting, message};
use crate::image::Prepared;
use crate::metric;
use crate::{Error, Result, Volume};
use glam::{DAffine3, DVec3};

/// Prepares the fixed and the moving image, unless they cannot be registered.
///
/// # Errors
/// [`Error::Option`] says why.
pub fn check<'a>(fixed: &'a Volume, moving: &'a Volume, options: &'a Options) -> Result<[Prepared<'a>; 2]> {
    options.metric.check()?;
    if options.optimizer().needs_gradient() && !options.metric.has_gradient() {
        let (name, optimizer) = (options.metric.name(), options.optimizer());
        return Err(Error::option(
            Setting::Optimizer,
            message!(
                "{name} has no gradient, which {optimizer} needs";
                "use ", Metric, " mattes, mattes-symmetric or viola, or another ", Optimizer
            ),
        ));
    }
    levels(options.levels.as_deref().unwrap_or(&[1.0]))?;
    if fixed.geometry.is_flat() {
        options.init.given().iter().try_for_each(stays_in_plane)?;
    }
    let masks = [options.fixed_mask.as_ref(), options.moving_mask.as_ref()];
    metric::check::images([fixed, moving], masks, [options.fixed_range, options.moving_range])
}

/// Refuses a start that takes 2-D images out of their plane.
pub fn stays_in_plane(start: &DAffine3) -> Result<()> {
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

/// Refuses levels that are not lengths, and levels that do not get finer.
pub fn levels(levels: &[f64]) -> Result<()> {
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
    use crate::metric::{Mattes, Metric};
    use crate::{Geometry, PixelType};

    fn volume(size: [usize; 3], voxels: Vec<f32>) -> Volume {
        Volume { geometry: Geometry::axis_aligned(size, DVec3::ONE, DVec3::ZERO), voxels, pixel: PixelType::F32 }
    }

    #[test]
    fn what_cannot_be_registered_is_refused_in_a_line() {
        let good = volume([2, 2, 2], (0..8_u8).map(f32::from).collect());
        let with = |bins, fixed_mask| {
            let metric = Metric::Mattes(Mattes { bins, ..Mattes::default() });
            Options { metric, fixed_mask, ..Options::default() }
        };
        let options = with(64, Some(good.clone()));
        let ranges = check(&good, &good, &options).unwrap().map(|image| image.intensities.range);
        assert_eq!(ranges, [(0.0, 7.0); 2]);
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
