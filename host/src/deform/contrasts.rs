//! What of the images is compared. Where brightness changes across an image, as on a retina or by a coil, intensities lead structures past
//! each other, and contrasts with the neighbourhood do not. Where it does not, both tell more than either.

use super::levels::{self, Level};
use super::{Force, Forces, place, smallest};
use crate::error::Setting;
use crate::image::{Geometry, Intensities, Prepared, Range};
use crate::plane::contrast::REACH;
use crate::plane::even::{Even, neighbourhood};
use crate::registration::{Place, intensities_agree};
use crate::{Error, Observer, Result};
use glam::DAffine3;

/// Voxels that the standard deviation of a neighbourhood in space has at least.
const LEAST: f64 = 2.0;

/// Standard deviations of the neighbourhood of a voxel beyond which what is there hardly counts for its contrast.
const FAR: f64 = 2.0;

/// What of the fixed and of the moving image a flow compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, serde::Serialize)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum Compared {
    /// Intensities: wherever `ssd` pulls, or `lcc` alone, and of volumes wherever `lcc` pulls.
    Intensities,
    /// The contrasts of voxels with their neighbourhood: of pictures whose intensities agree as well around the start as at it.
    Contrasts,
    /// Both: of volumes and all other pictures.
    Both,
}

impl Compared {
    /// How far from a voxel what is there counts for it, mm: blocks of voxels that are to tell about each other's must be wider.
    pub(super) fn far_mm(self, grid: &Geometry) -> f64 {
        if self == Self::Intensities { 0.0 } else { FAR * reach(grid) }
    }

    /// The ranges of all channels, of which those of intensities are given first.
    pub(super) fn ranges(self, mut all: Vec<[Range; 2]>) -> Vec<[Range; 2]> {
        let contrasts = [(-REACH, REACH); 2];
        match self {
            Self::Intensities => {}
            Self::Contrasts => all[0] = contrasts,
            Self::Both => all.push(contrasts),
        }
        all
    }
}

/// The sigma of neighbourhoods on the grid of an image, mm.
fn reach(grid: &Geometry) -> f64 {
    let least = if grid.is_flat() { 0.0 } else { LEAST * smallest(grid) };
    neighbourhood(grid).max(least)
}

/// Whether contrasts may be compared, before the start is known. Beside local correlation, which follows structures itself, they are not worth
/// their time in space.
pub fn may_be(grid: &Geometry, forces: &Forces) -> bool {
    let joint = forces.has(Force::Mi) || forces.has(Force::Nmi);
    joint && !forces.has(Force::Ssd) && (grid.is_flat() || !forces.has(Force::Lcc))
}

/// The images at each spacing, mm, coarse to fine, and their contrasts where these may be compared.
///
/// # Errors
/// [`Error::Stopped`]
pub fn levels<'a>(
    channels: &'a [[Prepared<'a>; 2]],
    spacings: &[f64],
    forces: &Forces,
    observer: &dyn Observer,
) -> Result<Vec<Level<'a>>> {
    let mut levels = levels::levels(channels, spacings, observer)?;
    let intensities = channels[0].each_ref().map(|image| image.intensities);
    let contrasts =
        levels.last().filter(|finest| may_be(finest.grids()[0], forces)).map(|finest| contrasts(finest, intensities));
    if let Some(contrasts) = contrasts.transpose()?.flatten() {
        let contrasts = levels::channel(contrasts, spacings, observer)?;
        levels.iter_mut().zip(contrasts).for_each(|(level, contrasts)| level.contrasts = Some(contrasts));
    }
    Ok(levels)
}

/// The contrasts of both images on a level; none where one of them has no contrast.
fn contrasts(level: &Level, intensities: [Intensities; 2]) -> Result<Option<[Prepared<'static>; 2]>> {
    let [fixed, moving] = place::images(level, intensities);
    let (fixed, moving) = rayon::join(|| even(Setting::Fixed, &fixed), || even(Setting::Moving, &moving));
    match (fixed, moving) {
        (Err(Error::Option { .. }), _) | (_, Err(Error::Option { .. })) => Ok(None),
        (fixed, moving) => Ok(Some([fixed?, moving?])),
    }
}

/// An image's contrasts. What surrounds the image of a picture has none.
fn even(which: Setting, image: &Prepared) -> Result<Prepared<'static>> {
    let (mask, Prepared { image, intensities, .. }) = (image.mask(), image);
    let grid = &image.geometry;
    Ok(match grid.is_flat() {
        true => Even::new(which, image, mask, reach(grid))?.prepared(intensities),
        false => Even::whole(which, image, mask, reach(grid))?.prepared(intensities).without_masked(),
    })
}

/// What is to be compared from a start: contrasts wherever there are any, and intensities, but for those of pictures that do not agree
/// more than around the start, whichever is the fixed one.
///
/// # Errors
/// [`Error::Stopped`]
pub fn compared(levels: &[Level], start: &DAffine3, intensities: [Intensities; 2]) -> Result<Compared> {
    let with = |level: &Level| level.contrasts.is_some();
    let Some(finest) = levels.last().filter(|finest| with(finest)) else { return Ok(Compared::Intensities) };
    if !finest.grids()[0].is_flat() {
        return Ok(Compared::Both);
    }
    let agree = |places: [Place; 2]| places.into_iter().all(intensities_agree);
    Ok(match place::both_ways(levels, start, intensities)?.map(agree) {
        None => Compared::Intensities,
        Some(true) => Compared::Both,
        Some(false) => Compared::Contrasts,
    })
}

/// Takes contrasts to the channels of the levels, if they are compared: in place of intensities, or as the last one.
pub fn take(levels: &mut [Level], compared: Compared) {
    for level in levels {
        match (compared, level.contrasts.take()) {
            (Compared::Contrasts, Some(contrasts)) => {
                level.intensities = Some(std::mem::replace(&mut level.channels[0], contrasts));
            }
            (Compared::Both, contrasts) => level.channels.extend(contrasts),
            (Compared::Intensities | Compared::Contrasts, _) => {}
        }
    }
}
