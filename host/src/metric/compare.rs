//! Both images at full resolution: every voxel of the fixed image that the masks leave.

use super::evaluation::Evaluation;
use super::joint::{Histogram, JointImages};
use super::pair::{ImagePair, Sampled};
use super::{check, sampling};
use crate::backend::{Backend, Wanted, cpu, per_sample};
use crate::error::message;
use crate::image::{Range, pyramid};
use crate::observer::go_on;
use crate::{Error, Observer, Result, Volume};
use glam::DAffine3;
use std::borrow::Cow;

/// How two images are compared.
#[derive(Debug, Clone, Copy, Default)]
pub struct Comparison<'a> {
    pub histogram: Histogram,
    /// On the fixed image's grid: its voxels of less than 0.5 are not counted.
    pub fixed_mask: Option<&'a Volume>,
    /// On the moving image's grid: voxels that fall where it is less than 0.5 are not counted.
    pub moving_mask: Option<&'a Volume>,
}

/// Compares two images at full resolution through `transform`, from a point of `fixed` to the point of `moving`, LPS mm.
///
/// # Errors
/// [`Error::Option`] for images, masks or bins that cannot be used, [`Error::Device`] where the device gives up, [`Error::Untrusted`] where
/// the images do not overlap.
pub fn evaluate(
    fixed: &Volume,
    moving: &Volume,
    transform: &DAffine3,
    comparison: &Comparison,
    backend: &dyn Backend,
) -> Result<Evaluation> {
    comparison.histogram.check()?;
    let ranges = check::images([fixed, moving], [comparison.fixed_mask, comparison.moving_mask])?;
    let images = comparison.images([fixed, moving], ranges, transform);
    let value = images.load(backend)?.evaluate(&[*transform], Wanted::Ratios)?[0];
    if value.overlap == 0 {
        return Err(Error::Untrusted(message!("the images do not overlap"; "check the headers and the transform")));
    }
    Ok(value)
}

/// Before and after a registration.
pub struct Compared {
    pub values: [Evaluation; 2],
    /// The pair (f, m) is at `f + bins * m`.
    pub histograms: [Vec<u32>; 2],
    /// What counted.
    pub method: &'static str,
}

/// Compares two images as the headers place them and through `transform`, on the same voxels.
///
/// # Errors
/// Those of the backend, and [`Error::Stopped`].
pub fn before_and_after(
    images: [&Volume; 2],
    ranges: [Range; 2],
    transform: &DAffine3,
    comparison: &Comparison,
    backend: &dyn Backend,
    observer: &dyn Observer,
) -> Result<Compared> {
    let images = comparison.images(images, ranges, transform);
    let mut loaded = images.load(backend)?;
    go_on(observer)?;
    let before = loaded.counts(&DAffine3::IDENTITY)?;
    go_on(observer)?;
    let histograms = [before, loaded.counts(transform)?];
    go_on(observer)?;
    let unit = images.unit()?;
    let value = |counts: &Vec<u32>| {
        let entropies = cpu::entropies(counts, [comparison.histogram.bins; 2], Wanted::Ratios);
        images.evaluation(&per_sample(entropies, unit))
    };
    Ok(Compared { values: histograms.each_ref().map(value), histograms, method: loaded.method() })
}

impl Comparison<'_> {
    /// Both images, where `transform` places the mask of the moving one. A moving image with finer voxels is first brought to about the
    /// fixed image's.
    fn images(&self, [fixed, moving]: [&Volume; 2], ranges: [Range; 2], transform: &DAffine3) -> JointImages {
        let finest = [fixed.geometry.spacing.min_element()];
        let interpolated = pyramid::levels(moving, &finest).swap_remove(0);
        let fixed_mask = self.fixed_mask.map(sampling::inside);
        let moving_mask = self.moving_mask.map(|mask| sampling::within(&fixed.geometry, mask, transform));
        let keep = sampling::both(fixed_mask, moving_mask);
        let sampled = Cow::Borrowed(fixed);
        let pair = ImagePair { which: Sampled::Fixed, sampled, interpolated, ranges, keep, level: 0 };
        JointImages::new(&pair, self.histogram)
    }
}
