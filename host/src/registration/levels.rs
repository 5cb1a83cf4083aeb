//! The grid spacings of the levels, and both images on each level.

use super::Options;
use super::lattice::{Lattice, THICK, between_voxels};
use crate::backend::Backend;
use crate::error::{Setting, message};
use crate::image::{Geometry, Prepared, Range, pyramid};
use crate::metric::sampling::{self, count};
use crate::metric::{ImagePair, Sampled, Sampling};
use crate::plane::local_contrast::longer_side;
use crate::plane::{search, sharpness};
use crate::{Error, Result, Volume};
use glam::DAffine3;
use gpu::math::interpolate::Interpolator;
use rayon::prelude::*;
use std::borrow::Cow;

/// The fewest voxels along the shortest side of the sampled image on an automatic level, in 3-D and in 2-D: some
/// thousands of voxels in all.
const SHORTEST: f64 = 16.0;
const SHORTEST_IN_PLANE: f64 = 48.0;
/// The fraction of the difference in variance between thick and thin slices that smoothing makes up for. On simulated
/// heads with slices of 4 mm, from no smoothing to all of it, rigid errors fell (0.094 to 0.068 mm) and affine ones
/// rose (0.16 to 0.22 mm).
const AS_THICK: f64 = sharpness::AS_BLURRED;
/// Samples that masks must leave on a coarse level; if they leave fewer, the level is run without masks.
const ENOUGH: usize = 3000;

/// Both images and their masks on the grids of all levels, fine to coarse.
pub struct Levels<'a> {
    /// Grid spacings, mm.
    pub spacings: Vec<f64>,
    pub which: Sampled,
    sampled: Vec<Cow<'a, Volume>>,
    /// The sampled image of the finest level at the samples, if they lie between its voxels.
    between_voxels: Option<Volume>,
    interpolated: Vec<Cow<'a, Volume>>,
    /// Intensity ranges of the sampled and of the interpolated image.
    ranges: [Range; 2],
    sampled_mask: Option<Vec<Cow<'a, Volume>>>,
    interpolated_mask: Option<&'a Volume>,
    options: &'a Options,
}

/// Chooses the image to sample: the moving one if its voxels are more than 1.5 times as large as the fixed one's, else
/// the fixed one. Samples of large voxels carry more information each.
pub fn sampled(fixed: &Geometry, moving: &Geometry) -> Sampled {
    if moving.voxel_size() > 1.5 * fixed.voxel_size() { Sampled::Moving } else { Sampled::Fixed }
}

impl<'a> Levels<'a> {
    pub fn new(
        [fixed, moving]: &'a [Prepared<'a>; 2],
        options: &'a Options,
        lattice: Lattice,
        backend: &dyn Backend,
    ) -> Result<Self> {
        let which = sampled(&fixed.image.geometry, &moving.image.geometry);
        let (first, second) = match which {
            Sampled::Fixed => (fixed, moving),
            Sampled::Moving => (moving, fixed),
        };
        let ranges = [first.intensities.range, second.intensities.range];
        let (sampled, interpolated, sampled_mask) = (&*first.image, &*second.image, first.mask());
        let chosen = options.levels.as_ref().map(|levels| levels.iter().rev().copied().collect());
        let mut spacings = chosen.unwrap_or_else(|| automatic(&sampled.geometry));
        let interpolated_mask = second.mask();
        // Where the interpolated image's mask lies is not known before the first level, which therefore does without
        // it. A single level is run twice, so that the mask is used.
        if let [only] = spacings[..]
            && interpolated_mask.is_some()
            && options.init.known().is_none()
        {
            spacings.push(only);
        }
        let levels =
            |volume| pyramid::levels_by(volume, &spacings, |volume, filters| backend.filtered(volume, filters));
        let ((sampled, interpolated), sampled_mask) =
            rayon::join(|| rayon::join(|| levels(sampled), || levels(interpolated)), || sampled_mask.map(levels));
        let (sampled, interpolated, sampled_mask) = (sampled?, interpolated?, sampled_mask.transpose()?);
        let mut levels = Self {
            spacings,
            which,
            sampled,
            between_voxels: None,
            interpolated,
            ranges,
            sampled_mask,
            interpolated_mask,
            options,
        };
        // Of other samplings, and where nothing is averaged, users expect voxels.
        let averages = options.metric.histogram().interpolator != Interpolator::Nearest;
        if lattice == Lattice::Avoided && averages && matches!(options.sampling, Sampling::Grid { .. }) {
            let [sampled, interpolated] = [&levels.sampled[0], &levels.interpolated[0]];
            levels.between_voxels = between_voxels(sampled, &interpolated.geometry, levels.plan(0).0, backend)?;
        }
        Ok(levels)
    }

    /// The fixed and the moving image on all levels.
    pub fn pyramids(&self) -> [&[Cow<'a, Volume>]; 2] {
        match self.which {
            Sampled::Fixed => [&self.sampled, &self.interpolated],
            Sampled::Moving => [&self.interpolated, &self.sampled],
        }
    }

    /// The fixed and the moving image of a level.
    pub fn pair(&self, level: usize) -> (&Volume, &Volume) {
        let (sampled, interpolated) = (&self.sampled[level], &self.interpolated[level]);
        match self.which {
            Sampled::Fixed => (sampled, interpolated),
            Sampled::Moving => (interpolated, sampled),
        }
    }

    /// Returns the images of a level. A voxel of the sampled image counts if it lies inside its mask, if `transform`
    /// takes it inside the other image's mask, and if the sampling picks it. A coarse level is run without masks if
    /// they leave too few voxels. While no transform is known, coarse levels are run without the other image's mask,
    /// whose place is unknown.
    ///
    /// # Errors
    /// [`Error::Option`] if the masks leave no voxel of the finest level.
    pub fn images(&self, level: usize, transform: Option<DAffine3>) -> Result<ImagePair<'_>> {
        let known = transform.is_some() || level == 0;
        let transform = &transform.unwrap_or_default();
        let (strides, picks) = self.plan(level);
        let between_voxels = self.between_voxels.as_ref().filter(|_| level == 0);
        let thinned = || sampling::thinned(&self.sampled[level], strides);
        let sampled = between_voxels.map_or_else(thinned, Cow::Borrowed);
        let all = || vec![true; sampled.voxels.len()];
        let masked = self.masked(level, &sampled.geometry, known.then_some(transform));
        let masked = masked.filter(|keep| level == 0 || count(keep) >= ENOUGH);
        let keep = match picks {
            None => masked,
            Some((seed, part)) => {
                let left = masked.unwrap_or_else(all);
                let voxels = left.par_iter().enumerate();
                let keep: Vec<bool> =
                    voxels.map(|(voxel, left)| *left && sampling::picked(voxel, seed, part)).collect();
                // Random sampling of so few voxels may pick none.
                Some(if count(&keep) == 0 { left } else { keep })
            }
        };
        let interpolated = Cow::Borrowed(&*self.interpolated[level]);
        let sigmas = self.slice_smoothing_sigmas(&interpolated.geometry, &self.sampled[level].geometry, transform);
        let pair = ImagePair { which: self.which, sampled, interpolated, sigmas, ranges: self.ranges, keep, level };
        match pair.samples() {
            0 => Err(Error::option(
                if self.options.fixed_mask.is_some() { Setting::FixedMask } else { Setting::MovingMask },
                message!("the masks leave no voxel to be counted"; "make them larger"),
            )),
            _ => Ok(pair),
        }
    }

    /// Returns the sigmas, voxels, of the Gaussians that smooth the interpolated image along the axes on which the
    /// slices of the sampled one are thicker.
    fn slice_smoothing_sigmas(&self, interpolated: &Geometry, sampled: &Geometry, transform: &DAffine3) -> [f64; 3] {
        let rotation = self.which.from_sampled(transform).matrix3;
        let mut sigmas = [0.0; 3];
        for axis in 0..3 {
            let nearest = interpolated.axis_along(rotation * sampled.direction.col(axis));
            let (thick, thin) = (sampled.spacing[axis], interpolated.spacing[nearest]);
            if interpolated.size[nearest] > 1 && thick > THICK * thin {
                // A slice profile is taken for a box, whose variance is a twelfth of its squared width.
                sigmas[nearest] = (AS_THICK * (thick * thick - thin * thin) / 12.0).sqrt() / thin;
            }
        }
        sigmas
    }

    /// Returns the strides of a level and the random selection (a seed and a part of 2^64), which depend on how much
    /// the masks leave.
    fn plan(&self, level: usize) -> ([usize; 3], Option<(u64, u64)>) {
        let part = |mask: &Volume| {
            let inside = mask.voxels.par_iter().filter(|&&voxel| voxel >= 0.5).count();
            inside.max(1) as f64 / mask.voxels.len() as f64
        };
        let sampled = self.sampled_mask.as_ref().map_or(1.0, |masks| part(&masks[level]));
        let left = sampled * self.interpolated_mask.map_or(1.0, part);
        sampling::plan(self.options.sampling, &self.sampled[level].geometry, left)
    }

    /// Returns for each sample of a level, on `grid`, whether the masks keep it; `None` without masks.
    fn masked(&self, level: usize, grid: &Geometry, map: Option<&DAffine3>) -> Option<Vec<bool>> {
        let inside = |masks: &Vec<Cow<Volume>>| sampling::within(grid, &masks[level], &DAffine3::IDENTITY);
        let sampled = self.sampled_mask.as_ref().map(inside);
        let map = map.map(|map| self.which.from_sampled(map));
        let interpolated = self.interpolated_mask.zip(map).map(|(mask, map)| sampling::within(grid, mask, &map));
        sampling::both(sampled, interpolated)
    }
}

/// Returns the levels, mm, coarse to fine, for 2-D images that are registered by local contrast. Grids coarser than
/// those of the search are left out: local contrast shows less on them.
pub fn after_search([fixed, moving]: [&Geometry; 2]) -> Vec<f64> {
    let grid = match sampled(fixed, moving) {
        Sampled::Fixed => fixed,
        Sampled::Moving => moving,
    };
    let mut spacings = automatic(grid);
    let finest = spacings[0];
    spacings.retain(|&mm| mm == finest || mm * search::LARGER * search::SMALL <= longer_side(grid));
    spacings.reverse();
    spacings
}

/// Returns automatic spacings, mm, fine to coarse: the finest one of the grid, and each twice the one before.
fn automatic(grid: &Geometry) -> Vec<f64> {
    let (axes, fewest) = if grid.is_flat() { (0..2, SHORTEST_IN_PLANE) } else { (0..3, SHORTEST) };
    let finest = axes.clone().map(|axis| grid.spacing[axis]).fold(f64::INFINITY, f64::min);
    let shortest = axes.map(|axis| grid.size[axis] as f64 * grid.spacing[axis]).fold(f64::INFINITY, f64::min);
    let doubled = std::iter::successors(Some(finest), |mm| Some(2.0 * mm));
    let coarse = doubled.skip(1).take_while(|mm| shortest / mm >= fewest);
    std::iter::once(finest).chain(coarse).collect()
}
