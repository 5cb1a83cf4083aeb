//! The checks of a registered mesh.

use super::Found;
use crate::doubt::{Check, Doubt};
use crate::image::Prepared;
use crate::registration::{Foregrounds, Place, contrast_confirms, place_doubts};
use crate::resample::resample_through;
use crate::transform::Mesh;
use crate::{Resampling, Result};
use glam::DAffine3;
use std::borrow::Cow;

/// The fraction of triangles with samples below which the user is warned.
const SMALL_OVERLAP: f64 = 0.25;
/// The mean confidence of triangles below which a mesh fails. Most pairs of different pictures have less. Pictures that
/// are aligned have more, except slices of scanners that share no detail.
const LITTLE_CONFIDENCE: f64 = 0.1;

/// Compares how the pictures agree through the mesh and at poses around it; `None` if too little of them is foreground.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped)
pub fn place(images: &[Prepared; 2], mesh: &Mesh) -> Result<Option<Place>> {
    let [fixed, moving] = images;
    let map = mesh.map();
    let how = Resampling { outside: moving.intensities.range.0, ..Resampling::default() };
    let moved =
        resample_through(&moving.image, &fixed.image.geometry, |point| map.transform_point3(point), &how)?.volume;
    let moved = Prepared { image: Cow::Owned(moved), mask: None, intensities: moving.intensities };
    Foregrounds::of([fixed, &moved], [&[], &[]])?
        .map(|foregrounds| foregrounds.place(&DAffine3::IDENTITY, &[], false))
        .transpose()
}

/// Returns the checks that the mesh did not pass. Those of its start are not repeated.
pub fn doubts(found: &Found) -> Vec<Doubt> {
    let mut doubts: Vec<Doubt> = found.place.into_iter().flat_map(place_doubts).collect();
    let mean = found.mean_confidence();
    if mean < LITTLE_CONFIDENCE {
        let percent = 100.0 * mean;
        let text =
            format!("most triangles match no better than at neighbouring positions (mean confidence {percent:.0} %)");
        doubts.push(Doubt::grave(Check::Information, text));
    }
    let part = found.climbed.patches as f64 / found.confidence.len() as f64;
    if part < SMALL_OVERLAP {
        let text = format!("only {:.0} % of the triangles have enough pixels inside the moving image", 100.0 * part);
        doubts.push(Doubt::slight(Check::Overlap, text));
    }
    doubts
}

/// Whether a doubt about the linear start also applies to the mesh, which agrees by `place`. It does not if the mesh
/// agrees by local contrast although its start did not, or if the mesh itself has failed the check.
pub fn start_doubt_remains(doubt: &Doubt, place: Option<Place>) -> bool {
    let decided = || place.is_some_and(|place| contrast_confirms(place) || place_doubts(place).next().is_some());
    !matches!(doubt.check, Check::Information | Check::Place) || !decided()
}
