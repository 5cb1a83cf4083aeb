//! Chooses what is compared: intensities, local contrast, or both. Local contrast is an image less its local mean, over
//! its local standard deviation. Where brightness varies across an image, as on a retina or by the bias field of a
//! coil, intensities lead the field astray, and local contrast does not. Otherwise both together contain more
//! information than either.

use super::levels::{self, Level};
use super::{Force, Forces, place, smallest};
use crate::error::Setting;
use crate::image::{Geometry, Intensities, Prepared, Range};
use crate::plane::local_contrast::{LocalContrast, neighbourhood};
use crate::plane::normalise::REACH;
use crate::registration::{Place, intensities_lead};
use crate::{Error, Observer, Result};
use glam::DAffine3;

/// The smallest sigma of the neighbourhoods of local contrast in volumes, voxels.
const LEAST: f64 = 2.0;

/// The distance from a voxel, in sigmas of its neighbourhood, beyond which other voxels hardly influence its local
/// contrast.
const INFLUENCE: f64 = 2.0;

/// What a flow compares of the fixed and the moving image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, serde::Serialize)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum Compared {
    /// Intensities alone: if `ssd` is one of the metrics, if `lcc` is the only one, or for volumes if `lcc` is one of
    /// them; also for images without local contrast.
    Intensities,
    /// Local contrast alone: for pictures whose intensities agree about as well around the start as at it.
    Contrasts,
    /// Both: for volumes and for all other pictures.
    Both,
}

impl Compared {
    /// Returns how far from a voxel others influence what is compared there, mm. The blocks of the fitted and of the
    /// held-out half must be at least as wide.
    pub(super) fn influence_mm(self, grid: &Geometry) -> f64 {
        if self == Self::Intensities { 0.0 } else { INFLUENCE * neighbourhood_mm(grid) }
    }

    /// Returns the value ranges of all channels that are compared; `all` are those of the intensities of each channel.
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

/// Returns the sigma of the neighbourhoods of local contrast on an image's grid, mm.
fn neighbourhood_mm(grid: &Geometry) -> f64 {
    let least = if grid.is_flat() { 0.0 } else { LEAST * smallest(grid) };
    neighbourhood(grid).max(least)
}

/// Returns whether local contrast may be compared, as far as that is known before the start. In volumes it is not worth
/// its time beside local correlation, which follows structures itself.
pub fn may_compare_contrast(grid: &Geometry, forces: &Forces) -> bool {
    let joint = forces.has(Force::Mi) || forces.has(Force::Nmi);
    joint && !forces.has(Force::Ssd) && (grid.is_flat() || !forces.has(Force::Lcc))
}

/// Makes the images at each spacing, mm, coarse to fine, with their local contrast if that may be compared.
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
    let contrasts = levels
        .last()
        .filter(|finest| may_compare_contrast(finest.grids()[0], forces))
        .map(|finest| contrasts(finest, intensities));
    if let Some(contrasts) = contrasts.transpose()?.flatten() {
        let contrasts = levels::channel(contrasts, spacings, observer)?;
        levels.iter_mut().zip(contrasts).for_each(|(level, contrasts)| level.contrasts = Some(contrasts));
    }
    Ok(levels)
}

/// Returns the local contrast of both images on a level, or `None` if one of them has none.
fn contrasts(level: &Level, intensities: [Intensities; 2]) -> Result<Option<[Prepared<'static>; 2]>> {
    let [fixed, moving] = place::images(level, intensities);
    let (fixed, moving) =
        rayon::join(|| local_contrast(Setting::Fixed, &fixed), || local_contrast(Setting::Moving, &moving));
    match (fixed, moving) {
        (Err(Error::Option { .. }), _) | (_, Err(Error::Option { .. })) => Ok(None),
        (fixed, moving) => Ok(Some([fixed?, moving?])),
    }
}

/// Computes an image's local contrast. What is not foreground is masked.
fn local_contrast(which: Setting, image: &Prepared) -> Result<Prepared<'static>> {
    let (mask, Prepared { image, intensities, .. }) = (image.mask(), image);
    let grid = &image.geometry;
    Ok(match grid.is_flat() {
        true => LocalContrast::new(which, image, mask, neighbourhood_mm(grid))?.prepared(intensities),
        false => LocalContrast::of_whole_volume(which, image, mask, neighbourhood_mm(grid))?
            .prepared(intensities)
            .without_masked(),
    })
}

/// Chooses what is compared from a start: local contrast if there is any, and also intensities. Intensities of pictures
/// are compared only if they agree better at the start than around it, with either picture as the fixed one.
///
/// # Errors
/// [`Error::Stopped`]
pub fn compared(levels: &[Level], start: &DAffine3, intensities: [Intensities; 2]) -> Result<Compared> {
    let with = |level: &Level| level.contrasts.is_some();
    let Some(finest) = levels.last().filter(|finest| with(finest)) else { return Ok(Compared::Intensities) };
    if !finest.grids()[0].is_flat() {
        return Ok(Compared::Both);
    }
    let agree = |places: [Place; 2]| places.into_iter().all(intensities_lead);
    Ok(match place::both_ways(levels, start, intensities)?.map(agree) {
        None => Compared::Intensities,
        Some(true) => Compared::Both,
        Some(false) => Compared::Contrasts,
    })
}

/// Moves local contrast to the channels of the levels if it is compared: in place of intensities, or as the last
/// channel.
pub fn add_to_channels(levels: &mut [Level], compared: Compared) {
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
