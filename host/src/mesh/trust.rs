//! What speaks against a mesh.

use super::Found;
use crate::doubt::{Check, Doubt};
use crate::image::Prepared;
use crate::registration::{Insides, Place, agrees, tells_by_contrasts};
use crate::resample::resample_through;
use crate::transform::Mesh;
use crate::{Resampling, Result};
use glam::DAffine3;
use std::borrow::Cow;

/// Part of the triangles with samples below which there is little to go by.
const SMALL_OVERLAP: f64 = 0.25;
/// The mean of triangles' confidence below which they say nothing: of most pairs of different pictures it is less, and of pictures that lie
/// right it is more, but for slices of scanners that share no detail.
const LITTLE_CONFIDENCE: f64 = 0.1;

/// Whether pictures agree more through a mesh than around it; none for pictures of which too little is image.
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
    Insides::of([fixed, &moved], [&[], &[]])?.map(|insides| insides.place(&DAffine3::IDENTITY)).transpose()
}

/// Of a mesh, beside what speaks against its start: that has been another place.
pub fn doubts(found: &Found) -> Vec<Doubt> {
    let mut doubts: Vec<Doubt> = found.place.into_iter().flat_map(agrees).collect();
    let mean = found.mean_confidence();
    if mean < LITTLE_CONFIDENCE {
        let percent = 100.0 * mean;
        let text = format!("most triangles tell nothing about where they lie (mean confidence {percent:.0} %)");
        doubts.push(Doubt::grave(Check::Information, text));
    }
    let part = found.climbed.patches as f64 / found.confidence.len() as f64;
    if part < SMALL_OVERLAP {
        let text = format!("only {:.0} % of the triangles have pixels enough inside the moving picture", 100.0 * part);
        doubts.push(Doubt::slight(Check::Overlap, text));
    }
    doubts
}

/// Whether a doubt about the linear start is one about a mesh that places the pictures so: what they show may speak for the mesh alone, and
/// what speaks against the mesh is not said twice.
pub fn stays(doubt: &Doubt, place: Option<Place>) -> bool {
    let told = || place.is_some_and(|place| tells_by_contrasts(place) || agrees(place).next().is_some());
    !matches!(doubt.check, Check::Information | Check::Place) || !told()
}
