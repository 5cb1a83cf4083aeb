//! Refuses options and images that cannot be registered.

use super::Options;
use crate::error::{Setting, message};
use crate::image::Prepared;
use crate::metric;
use crate::{Error, Geometry, Result, Volume};
use glam::{DAffine3, DVec3};

/// Prepares the fixed and the moving image, without their frames, unless they cannot be registered.
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
    options.init.given().iter().try_for_each(|given| start(Setting::Init, &fixed.geometry, given))?;
    let masks = [options.fixed_mask.as_ref(), options.moving_mask.as_ref()];
    let images = metric::check::images([fixed, moving], masks, [options.fixed_range, options.moving_range])?;
    Ok(images.map(Prepared::without_frame))
}

/// Refuses a start that has no inverse, or that takes 2-D images out of their plane. `setting` is the option that gives
/// it.
pub fn start(setting: Setting, fixed: &Geometry, start: &DAffine3) -> Result<()> {
    if !start.inverse().is_finite() {
        return Err(Error::option(
            setting,
            message!("the transform to start from has no inverse"; "start from one that has"),
        ));
    }
    let onto = |p: DVec3| start.transform_point3(p).z.abs() < 1e-6;
    match !fixed.is_flat() || [DVec3::ZERO, DVec3::X, DVec3::Y].into_iter().all(onto) {
        true => Ok(()),
        false => Err(Error::option(
            setting,
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
    use crate::PixelType;
    use crate::metric::{Mattes, Metric};
    use crate::registration::Init;

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

    #[test]
    fn a_start_is_refused_that_has_no_inverse_or_leaves_the_plane() {
        let refused = |size, init| {
            let image = volume(size, (0..size.iter().product::<usize>()).map(|n| n as f32).collect());
            match check(&image, &image, &Options { init, ..Options::default() }) {
                Err(Error::Option { setting: Setting::Init, message }) => message.to_string(),
                _ => String::new(),
            }
        };
        let squeezed = DAffine3::from_scale(DVec3::new(1.0, 1.0, 0.0));
        assert!(refused([2, 2, 2], Init::Transform(squeezed)).contains("no inverse"));
        assert!(refused([2, 2, 2], Init::Among(vec![DAffine3::IDENTITY, DAffine3::NAN])).contains("no inverse"));
        let tilted = || Init::Transform(DAffine3::from_rotation_x(0.2));
        assert_eq!(refused([2, 2, 2], tilted()), "");
        assert!(refused([4, 2, 1], tilted()).contains("out of the plane"));
    }
}
