//! The metric of two images in one position.

use crate::error::message;
use glam::DAffine3;

use super::{Evaluation, Images, Sampled, within};
use crate::backend::{Backend, Wanted};
use crate::image::{Range, pyramid};
use crate::registration::{Options, check};
use crate::{Error, Result, Volume};

/// Compares two images at full resolution through `transform`, from a point of `fixed` to the point of `moving`, LPS mm. Of the options
/// it heeds bins, interpolator, histogram and masks.
///
/// # Errors
/// [`Error::Option`] for images or bins that cannot be used, [`Error::Device`] where the device gives up,
/// [`Error::Untrusted`] where the images do not overlap.
pub fn evaluate(
    fixed: &Volume,
    moving: &Volume,
    transform: &DAffine3,
    options: &Options,
    backend: &dyn Backend,
) -> Result<Evaluation> {
    let ranges = check(fixed, moving, options)?;
    let images = images(fixed, moving, ranges, transform, options);
    let mut evaluator = images.load(backend)?;
    let value = images.evaluate(&mut *evaluator, &[*transform], Wanted::Ratios)?[0];
    if value.overlap == 0 {
        return Err(Error::Untrusted(message!("the images do not overlap"; "check the headers and the transform")));
    }
    Ok(value)
}

/// Both images at full resolution: every voxel of `fixed` that the masks leave, where `transform` places that of `moving`. A moving image
/// with finer voxels is first brought to about the fixed image's.
pub(crate) fn images(
    fixed: &Volume,
    moving: &Volume,
    [fixed_range, moving_range]: [Range; 2],
    transform: &DAffine3,
    options: &Options,
) -> Images {
    let finest = [fixed.geometry.spacing.min_element()];
    let coarser = pyramid::levels(moving, &finest);
    let mut images =
        Images::new(Sampled::Fixed, (fixed, fixed_range), (&coarser[0], moving_range), options.bins, options);
    if let Some(mask) = &options.fixed_mask {
        images.keep(|voxel| mask.voxels[voxel] >= 0.5);
    }
    if let Some(mask) = &options.moving_mask {
        let within = within(&fixed.geometry, mask, transform);
        images.keep(|voxel| within[voxel]);
    }
    images
}
