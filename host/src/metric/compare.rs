//! Compares both images at full resolution, at every voxel of the fixed image that the masks leave.

use super::evaluation::Evaluation;
use super::joint::{Histogram, JointImages};
use super::pair::{ImagePair, Sampled};
use super::{check, sampling};
use crate::backend::{Backend, Wanted, cpu, per_sample};
use crate::error::message;
use crate::image::{IntensityRange, Prepared, pyramid};
use crate::observer::ask_observer;
use crate::{Error, Observer, Result, Volume};
use glam::DAffine3;
use std::borrow::Cow;

/// How two images are compared.
#[derive(Debug, Clone, Copy, Default)]
pub struct Comparison<'a> {
    pub histogram: Histogram,
    /// A mask on the fixed image's grid: voxels below 0.5 are not counted.
    pub fixed_mask: Option<&'a Volume>,
    /// A mask on the moving image's grid: voxels that fall where it is below 0.5 are not counted.
    pub moving_mask: Option<&'a Volume>,
    /// The intensity range of each image that is divided into bins.
    pub fixed_range: IntensityRange,
    pub moving_range: IntensityRange,
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
    let (masks, ranges) =
        ([comparison.fixed_mask, comparison.moving_mask], [comparison.fixed_range, comparison.moving_range]);
    let prepared = check::images([fixed, moving], masks, ranges)?;
    let images = joint(&prepared, comparison.histogram, transform, backend)?;
    let value = images.load(backend)?.evaluate(&[*transform], Wanted::Ratios)?[0];
    if value.overlap == 0 {
        return Err(Error::Untrusted(message!("the images do not overlap"; "check the headers and the transform")));
    }
    Ok(value)
}

/// A comparison before and after a registration.
pub struct BeforeAfter {
    pub values: [Evaluation; 2],
    /// The pair (f, m) is at `f + bins * m`.
    pub histograms: [Vec<u32>; 2],
    /// The name of the method that counted the joint histograms.
    pub method: &'static str,
}

/// Compares two images as the headers place them and through `transform`, on the same voxels.
///
/// # Errors
/// Those of the backend, and [`Error::Stopped`].
pub fn before_and_after(
    prepared: &[Prepared; 2],
    transform: &DAffine3,
    histogram: Histogram,
    backend: &dyn Backend,
    observer: &dyn Observer,
) -> Result<BeforeAfter> {
    let images = joint(prepared, histogram, transform, backend)?;
    let mut loaded = images.load(backend)?;
    ask_observer(observer)?;
    let before = loaded.counts(&DAffine3::IDENTITY)?;
    ask_observer(observer)?;
    let histograms = [before, loaded.counts(transform)?];
    ask_observer(observer)?;
    let unit = images.unit()?;
    let value = |counts: &Vec<u32>| {
        let entropies = cpu::entropies(counts, [histogram.bins; 2], Wanted::Ratios);
        images.evaluation(&per_sample(entropies, unit))
    };
    Ok(BeforeAfter { values: histograms.each_ref().map(value), histograms, method: loaded.method() })
}

/// Prepares both images for a backend; `transform` places the mask of the moving image. A moving image with finer
/// voxels is first resampled to about the fixed image's spacing.
fn joint<'v>(
    [fixed, moving]: &'v [Prepared; 2],
    histogram: Histogram,
    transform: &DAffine3,
    backend: &dyn Backend,
) -> Result<JointImages<'v>> {
    let grid = &fixed.image.geometry;
    let [finest, _] = grid.spacing_range();
    let interpolated = pyramid::level_by(&moving.image, finest, |volume, filters| backend.filtered(volume, filters))?;
    let fixed_mask = fixed.mask().map(sampling::inside);
    let moving_mask = moving.mask().map(|mask| sampling::within(grid, mask, transform));
    let keep = sampling::both(fixed_mask, moving_mask);
    let ranges = [fixed.intensities.range, moving.intensities.range];
    let sampled = Cow::Borrowed(&*fixed.image);
    let (which, sigmas) = (Sampled::Fixed, [0.0; 3]);
    Ok(JointImages::new(ImagePair { which, sampled, interpolated, sigmas, ranges, keep, level: 0 }, histogram))
}
