//! The resolution levels: their grids, and both images on them.

use super::respaced::respaced;
use super::{Force, Forces, smallest};
use crate::error::{Setting, message};
use crate::image::{Geometry, Prepared, Range, StoredImage};
use crate::observer::ask_observer;
use crate::{Error, Observer, Result, Volume};
use glam::DVec3;
use rayon::prelude::*;
use std::borrow::Cow;

/// The number of levels if none are asked for.
const LEVELS: i32 = 4;

/// The most pixels of the finest level of 2-D images if levels are not asked for. A smooth field does not need more,
/// and whole slides would take an hour.
const MOST_PIXELS: usize = 1 << 22;

/// The fewest voxels along the shortest side of a level if levels are not asked for.
const SHORTEST: f64 = 8.0;

/// The images of a level.
pub struct Level<'a> {
    /// One or more, on the same grids.
    pub channels: Vec<Channel<'a>>,
    /// The local contrast of the fixed and the moving image, until it is known whether it is compared.
    pub contrasts: Option<Channel<'a>>,
    /// The fixed and the moving image, if the first channel is their local contrast instead.
    pub intensities: Option<Channel<'a>>,
}

/// Both images of a channel on a level.
pub struct Channel<'a> {
    pub fixed: Cow<'a, Volume>,
    pub moving: Cow<'a, Volume>,
    /// For each voxel of the fixed and of the moving image, 0 if it exerts no force; empty if all do.
    pub masks: [Vec<u8>; 2],
}

/// Makes the images of all channels at each spacing, mm, coarse to fine.
///
/// # Errors
/// [`Error::Stopped`]
pub fn levels<'a>(
    channels: &'a [[Prepared<'a>; 2]],
    spacings: &[f64],
    observer: &dyn Observer,
) -> Result<Vec<Level<'a>>> {
    let level =
        |_: &f64| Level { channels: Vec::with_capacity(channels.len() + 1), contrasts: None, intensities: None };
    let mut levels: Vec<_> = spacings.iter().map(level).collect();
    for images in channels {
        let of_channel = channel(images.each_ref().map(Prepared::borrowed), spacings, observer)?;
        levels.iter_mut().zip(of_channel).for_each(|(level, channel)| level.channels.push(channel));
    }
    Ok(levels)
}

/// Makes both images of a channel at each spacing, mm, coarse to fine.
///
/// # Errors
/// [`Error::Stopped`]
pub fn channel<'a>(images: [Prepared<'a>; 2], spacings: &[f64], observer: &dyn Observer) -> Result<Vec<Channel<'a>>> {
    let of = |image: Prepared<'a>| Ok((masks(&image, spacings, observer)?, pyramid(image.image, spacings, observer)?));
    let [fixed, moving] = images;
    let (fixed, moving): (Result<_>, Result<_>) = rayon::join(|| of(fixed), || of(moving));
    let ((fixed_masks, fixed), (moving_masks, moving)) = (fixed?, moving?);
    let both = fixed.into_iter().zip(moving).zip(fixed_masks.into_iter().zip(moving_masks));
    Ok(both
        .map(|((fixed, moving), (of_fixed, of_moving))| Channel { fixed, moving, masks: [of_fixed, of_moving] })
        .collect())
}

impl Level<'_> {
    /// Returns the grids of the fixed and of the moving images.
    pub fn grids(&self) -> [&Geometry; 2] {
        let Channel { fixed, moving, .. } = &self.channels[0];
        [&fixed.geometry, &moving.geometry]
    }

    /// Returns the images of each channel as 16-bit fractions of its ranges.
    pub fn stored(&self, ranges: &[[Range; 2]]) -> Vec<[StoredImage; 2]> {
        let channels = self.channels.iter().zip(ranges);
        channels
            .map(|(of, ranges)| [StoredImage::fine(&of.fixed, ranges[0]), StoredImage::fine(&of.moving, ranges[1])])
            .collect()
    }
}

/// Makes the mask of an image at each spacing; empty if it has none.
fn masks(image: &Prepared, spacings: &[f64], observer: &dyn Observer) -> Result<Vec<Vec<u8>>> {
    let Some(mask) = image.mask() else { return Ok(vec![Vec::new(); spacings.len()]) };
    let kept = |mask: Cow<Volume>| mask.voxels.par_iter().map(|&voxel| u8::from(voxel >= 0.5)).collect();
    Ok(pyramid(Cow::Borrowed(mask), spacings, observer)?.into_iter().map(kept).collect())
}

/// Resamples a volume to each spacing, coarse to fine; each level is made from the next finer one.
fn pyramid<'a>(volume: Cow<'a, Volume>, spacings: &[f64], observer: &dyn Observer) -> Result<Vec<Cow<'a, Volume>>> {
    let Some((&finest, coarser)) = spacings.split_last() else { return Ok(Vec::new()) };
    let made = |finer: &Volume, mm: f64| match respaced(finer, mm) {
        Cow::Owned(coarser) => Some(Cow::Owned(coarser)),
        Cow::Borrowed(_) => None,
    };
    ask_observer(observer)?;
    let mut finer = made(&volume, finest).unwrap_or(volume);
    let mut levels = Vec::with_capacity(spacings.len());
    for &mm in coarser.iter().rev() {
        ask_observer(observer)?;
        let level = made(&finer, mm).unwrap_or_else(|| finer.clone());
        levels.push(std::mem::replace(&mut finer, level));
    }
    levels.push(finer);
    levels.reverse();
    Ok(levels)
}

/// Returns the spacings of the levels if none are asked for, mm: each half of the one before, down to the image's
/// smallest spacing or, for 2-D images, to the finest with at most [`MOST_PIXELS`].
pub fn automatic(grid: &Geometry) -> Vec<f64> {
    let mut finest = smallest(grid);
    while grid.is_flat() && grid.respaced(grid.spacing.max(DVec3::splat(finest))).voxels() > MOST_PIXELS {
        finest *= 2.0;
    }
    let axes = (0..3).filter(|&axis| grid.size[axis] > 1);
    let side = axes.map(|axis| grid.size[axis] as f64 * grid.spacing[axis]).fold(f64::INFINITY, f64::min);
    let coarser = (1..LEVELS).map(|n| finest * 2_f64.powi(n)).filter(|mm| side / mm >= SHORTEST);
    let mut levels: Vec<f64> = std::iter::once(finest).chain(coarser).collect();
    levels.reverse();
    levels
}

/// Returns the intensity ranges for these metrics: squared differences need one range for both images.
pub fn ranges([fixed, moving]: [Range; 2], forces: &Forces) -> [Range; 2] {
    match forces.has(Force::Ssd) {
        true => [(fixed.0.min(moving.0), fixed.1.max(moving.1)); 2],
        false => [fixed, moving],
    }
}

/// Returns how a new grid lies in an old one along the same axes: the position of its first voxel in voxels of the old
/// one, and the old spacing over the new one.
pub fn between(old: &Geometry, new: &Geometry) -> [[f32; 3]; 2] {
    let first = old.world_to_index().transform_point3(new.origin);
    // Rounded to 2^-20, so that round-off does not shift grids that share their centre; adding 0 turns -0 into 0.
    let place = first.to_array().map(|v| ((v * 1_048_576.0).round() / 1_048_576.0) as f32 + 0.0);
    [place, (old.spacing / new.spacing).to_array().map(|ratio| ratio as f32)]
}

/// Refuses a level that leaves a single voxel of an image.
///
/// # Errors
/// [`Error::Option`]
pub fn check(levels: &[f64], grids: [&Geometry; 2]) -> Result<()> {
    let single = |mm: &f64| grids.iter().any(|grid| grid.respaced(grid.spacing.max(DVec3::splat(*mm))).voxels() == 1);
    match levels.iter().find(|mm| single(mm)) {
        Some(mm) => Err(Error::option(
            Setting::Levels,
            message!("a level of {mm} mm leaves a single voxel of an image"; "begin ", Levels, " with a finer one"),
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_end_at_the_smallest_spacing_but_for_whole_slides() {
        let grid = |size, mm| Geometry::axis_aligned(size, mm, DVec3::ZERO);
        assert_eq!(automatic(&grid([181, 217, 180], DVec3::ONE)), [8.0, 4.0, 2.0, 1.0]);
        assert_eq!(automatic(&grid([40, 40, 20], DVec3::new(1.0, 1.0, 3.0))), [4.0, 2.0, 1.0]);
        assert_eq!(automatic(&grid([2048, 2048, 1], DVec3::splat(0.5))), [4.0, 2.0, 1.0, 0.5]);
        assert_eq!(automatic(&grid([10_000, 6_761, 1], DVec3::ONE)), [64.0, 32.0, 16.0, 8.0]);
    }
}
