//! The grids of the levels, and both images on them.

use super::images::{Range, Sampled};
use super::{Images, Options, sampling};
use crate::image::{Geometry, pyramid};
use crate::{Error, Result, Volume};
use glam::DAffine3;
use std::borrow::Cow;

/// Voxels along the shortest side of the sampled image that a level keeps.
const SHORTEST: f64 = 16.0;

/// Both images and their masks on the grids of all levels, fine to coarse.
pub struct Levels<'a> {
    /// Grids, mm.
    pub spacings: Vec<f64>,
    pub which: Sampled,
    sampled: Vec<Cow<'a, Volume>>,
    interpolated: Vec<Cow<'a, Volume>>,
    /// Intensity ranges of the sampled and of the interpolated image.
    ranges: [Range; 2],
    sampled_mask: Option<Vec<Cow<'a, Volume>>>,
    interpolated_mask: Option<&'a Volume>,
    options: &'a Options,
}

/// Which image to sample: the one with the larger voxels, for which fewer samples say as much.
pub fn sampled(fixed: &Geometry, moving: &Geometry) -> Sampled {
    let size = |grid: &Geometry| grid.spacing.element_product();
    if size(moving) > 1.5 * size(fixed) { Sampled::Moving } else { Sampled::Fixed }
}

impl<'a> Levels<'a> {
    pub fn new(fixed: &'a Volume, moving: &'a Volume, ranges: [Range; 2], options: &'a Options) -> Self {
        let which = sampled(&fixed.geometry, &moving.geometry);
        let (fixed_mask, moving_mask) = (options.fixed_mask.as_ref(), options.moving_mask.as_ref());
        let [a, b] = ranges;
        let (sampled, interpolated, ranges, sampled_mask, interpolated_mask) = match which {
            Sampled::Fixed => (fixed, moving, [a, b], fixed_mask, moving_mask),
            Sampled::Moving => (moving, fixed, [b, a], moving_mask, fixed_mask),
        };
        let chosen = options.levels.as_ref().map(|levels| levels.iter().rev().copied().collect());
        let spacings = chosen.unwrap_or_else(|| automatic(&sampled.geometry));
        let ((sampled, interpolated), sampled_mask) = rayon::join(
            || rayon::join(|| pyramid::levels(sampled, &spacings), || pyramid::levels(interpolated, &spacings)),
            || sampled_mask.map(|mask| pyramid::levels(mask, &spacings)),
        );
        Self { spacings, which, sampled, interpolated, ranges, sampled_mask, interpolated_mask, options }
    }

    /// The fixed and the moving image of a level.
    pub fn pair(&self, level: usize) -> (&Volume, &Volume) {
        let (sampled, interpolated) = (&self.sampled[level], &self.interpolated[level]);
        match self.which {
            Sampled::Fixed => (sampled, interpolated),
            Sampled::Moving => (interpolated, sampled),
        }
    }

    /// The images of a level. A voxel counts where the sampled image's mask is, where `transform` puts it inside the other one's mask,
    /// and where the sampling picks it.
    ///
    /// # Errors
    /// [`Error::Input`] where none is left.
    pub fn images(&self, level: usize, transform: &DAffine3) -> Result<Images> {
        let [sampled_range, interpolated_range] = self.ranges;
        let (strides, picks) = sampling::plan(self.options.sampling, &self.sampled[level].geometry);
        let sampled = sampling::thinned(&self.sampled[level], strides);
        let interpolated = (&*self.interpolated[level], interpolated_range);
        let mut images = Images::new(self.which, (&sampled, sampled_range), interpolated, self.options);
        if let Some((seed, part)) = picks {
            images.keep(|voxel| sampling::picked(voxel, seed, part));
        }
        if let Some(masks) = &self.sampled_mask {
            let mask = sampling::thinned(&masks[level], strides);
            images.keep(|voxel| mask.voxels[voxel] >= 0.5);
        }
        if let Some(mask) = self.interpolated_mask {
            let within = sampling::within(&sampled.geometry, mask, &self.which.from_sampled(transform));
            images.keep(|voxel| within[voxel]);
        }
        if images.samples() == 0 {
            let mm = self.spacings[level];
            return Err(Error::Input(format!("the masks leave no voxel on a grid of {mm:.1} mm: make them larger")));
        }
        Ok(images)
    }
}

/// From the grid itself, each twice as coarse as the one before.
fn automatic(grid: &Geometry) -> Vec<f64> {
    let axes = if grid.size[2] == 1 { 0..2 } else { 0..3 };
    let finest = axes.clone().map(|axis| grid.spacing[axis]).fold(f64::INFINITY, f64::min);
    let shortest = axes.map(|axis| grid.size[axis] as f64 * grid.spacing[axis]).fold(f64::INFINITY, f64::min);
    let doubled = std::iter::successors(Some(finest), |mm| Some(2.0 * mm));
    let coarse = doubled.skip(1).take_while(|mm| shortest / mm >= SHORTEST);
    std::iter::once(finest).chain(coarse).collect()
}
