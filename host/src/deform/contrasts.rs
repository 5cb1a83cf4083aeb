//! What of pictures is compared. Where brightness changes across a picture, as on a retina or by a coil, intensities lead structures past
//! each other, and contrasts with the neighbourhood do not.

use super::levels::{self, Level};
use super::{Force, Forces, place};
use crate::error::Setting;
use crate::image::{Geometry, Intensities, Prepared, Range};
use crate::plane::contrast::REACH;
use crate::plane::even::{Even, neighbourhood};
use crate::registration::intensities_agree;
use crate::{Observer, Result};
use glam::DAffine3;

/// Standard deviations of the neighbourhood of a pixel beyond which what is there hardly counts for its contrast.
const FAR: f64 = 2.0;

/// What of the fixed and of the moving image a flow compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, serde::Serialize)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum Compared {
    /// Intensities: of volumes, and wherever `ssd` pulls, or `lcc` alone.
    Intensities,
    /// Of pictures the contrasts of pixels with their neighbourhood, where intensities agree as well around the start as at it.
    Contrasts,
    /// Of other pictures both.
    Both,
}

impl Compared {
    /// How far from a voxel what is there counts for it, mm: blocks of voxels that are to tell about each other's must be wider.
    pub(super) fn far_mm(self, grid: &Geometry) -> f64 {
        if self == Self::Intensities { 0.0 } else { FAR * neighbourhood(grid) }
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

/// Whether contrasts may be compared, before the start is known.
pub fn may_be(grid: &Geometry, forces: &Forces) -> bool {
    let joint = forces.has(Force::Mi) || forces.has(Force::Nmi);
    grid.is_flat() && joint && !forces.has(Force::Ssd)
}

/// What is to be compared from a start: contrasts wherever they may be and enough of the pictures is image, and intensities where they agree
/// more than around the start, whichever image is the fixed one. With it the contrasts on the finest level, if they are compared.
///
/// # Errors
/// Those of [`Even::new`].
pub fn compared(
    levels: &[Level],
    forces: &Forces,
    start: &DAffine3,
    intensities: [Intensities; 2],
) -> Result<(Compared, Option<[Prepared<'static>; 2]>)> {
    let finest = &levels[levels.len() - 1];
    let places = match may_be(finest.grids()[0], forces) {
        true => place::both_ways(levels, start, intensities)?,
        false => None,
    };
    let Some(places) = places else { return Ok((Compared::Intensities, None)) };
    let compared = if places.into_iter().all(intensities_agree) { Compared::Both } else { Compared::Contrasts };
    let [fixed, moving] = place::images(finest, intensities);
    Ok((compared, Some([even(Setting::Fixed, &fixed)?, even(Setting::Moving, &moving)?])))
}

/// A picture's contrasts.
fn even(which: Setting, picture: &Prepared) -> Result<Prepared<'static>> {
    let mm = neighbourhood(&picture.image.geometry);
    Even::new(which, &picture.image, picture.mask(), mm).map(|even| even.prepared(&picture.intensities))
}

/// Takes contrasts to the levels: in place of intensities, or as the last channel.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped)
pub fn add<'a>(
    levels: &mut [Level<'a>],
    contrasts: &'a [Prepared<'a>; 2],
    compared: Compared,
    spacings: &[f64],
    observer: &dyn Observer,
) -> Result<()> {
    let of_contrasts = levels::levels(std::slice::from_ref(contrasts), spacings, observer)?;
    for (level, contrasts) in levels.iter_mut().zip(of_contrasts) {
        level.channels.extend(contrasts.channels);
        if compared == Compared::Contrasts {
            level.intensities = Some(level.channels.swap_remove(0));
        }
    }
    Ok(())
}
