//! The metric of two images in one position.

use glam::DAffine3;

use super::Evaluation;
use crate::backend::{self, Wanted};
use crate::image::pyramid;
use crate::registration::{Images, Options, check};
use crate::{Error, Result, Volume};

/// Compares two images at full resolution through `transform`, from a point of `fixed` to the point of `moving`, LPS mm. Of the options
/// it heeds bins, interpolator, histogram, mask and backend.
///
/// # Errors
/// [`Error::Input`] for images or bins that cannot be used, [`Error::Device`] where the backend is not there,
/// [`Error::Untrusted`] where the images do not overlap.
pub fn evaluate(fixed: &Volume, moving: &Volume, transform: &DAffine3, options: &Options) -> Result<Evaluation> {
    let [fixed_range, moving_range] = check(fixed, moving, options)?;
    let backend = backend::open(options.backend, &())?;
    let finest = [fixed.geometry.spacing.min_element()];
    let (fixed, moving) = (pyramid::levels(fixed, &finest), pyramid::levels(moving, &finest));
    let mask = options.fixed_mask.as_ref();
    let images = Images::new((&fixed[0], fixed_range), (&moving[0], moving_range), mask, options)?;
    let mut evaluator = images.load(&*backend)?;
    let value = images.evaluate(&mut *evaluator, &[*transform], Wanted::Ratios)?[0];
    if value.overlap == 0 {
        return Err(Error::Untrusted("the images do not overlap: check the headers and the transform".into()));
    }
    Ok(value)
}
