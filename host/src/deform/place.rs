//! Measures how well the images agree through a field, and whether they do so better than around it: a field can be
//! found between any two images.

use super::bending;
use super::levels::{Channel, Level};
use crate::image::{Intensities, Prepared};
use crate::plane::local_contrast::longer_side;
use crate::registration::{Displaced, Foregrounds, Place, Unmatched, place_doubts, unconfirmed_place_doubt};
use crate::resample::resample_through;
use crate::transform::{Field, FieldMap, Kind};
use crate::{Resampling, Result, Volume};
use glam::{DAffine3, DVec3};
use rayon::prelude::*;
use std::borrow::Cow;

/// Pixels along the longer side of pictures, and voxels along the longest side of volumes, that are enough for these
/// measurements.
const ENOUGH: [f64; 2] = [250.0, 64.0];

/// How well two images agree through a field.
#[derive(Debug, Clone, Copy)]
pub struct Agreement {
    pub place: Place,
    /// The mutual information of their local contrast through the field's start, nats beyond chance.
    pub at_start: f64,
    /// [`bending::nats`] of the field without its start, over the foreground of the fixed image.
    pub bending: f64,
    /// For volumes only.
    pub unmatched: Option<Unmatched>,
    pub displaced: Option<Displaced>,
}

/// Measures how well the images agree through a field from the fixed to the moving one. Returns `None` if there are no
/// levels, or if too little of the images is foreground.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped)
pub fn measure(
    levels: &[Level],
    field: &Field,
    start: &DAffine3,
    intensities: [Intensities; 2],
) -> Result<Option<Agreement>> {
    let Some(images) = &images_for_checks(levels, intensities) else { return Ok(None) };
    let map = &field.map();
    let Some(foregrounds) = foregrounds(images, |point| map.transform_point3(point))? else {
        // Each image has enough foreground, but not within the other one.
        let nowhere =
            Agreement { place: Place::NOWHERE, at_start: 0.0, bending: 0.0, unmatched: None, displaced: None };
        return Ok(Foregrounds::of(images.each_ref(), [&[], &[]])?.map(|_| nowhere));
    };
    let at_start = || foregrounds.information(&moved(images, |point| start.transform_point3(point))?);
    let others = || rayon::join(at_start, || bending_of(&foregrounds, map, start));
    let parts = || rayon::join(|| foregrounds.unmatched(), || foregrounds.displaced(&DAffine3::IDENTITY));
    let placed = || rayon::join(|| foregrounds.place(&DAffine3::IDENTITY, &[], false), parts);
    let ((place, (unmatched, displaced)), (at_start, bending)) = rayon::join(placed, others);
    Ok(Some(Agreement { place: place?, at_start: at_start?, bending, unmatched, displaced: displaced? }))
}

/// Returns [`bending::nats`] of a map without its `start`, over the foreground of the fixed image.
pub fn bending_of(foregrounds: &Foregrounds, map: &FieldMap, start: &DAffine3) -> f64 {
    let back = start.inverse();
    let apart = Field::of(&foregrounds.image().geometry, |point| back.transform_point3(map.transform_point3(point)));
    let determinants = apart.jacobians();
    bending::nats(&foregrounds.voxels().map(|n| determinants[n]).collect::<Vec<_>>())
}

/// Returns the fraction of the smaller image that lies inside the other one through a field, 0 to 1. The smaller image
/// is the one of which more does. `inverse` is the inverse of the field on the grid of the moving image.
pub fn overlap(field: &Field, inverse: &Field) -> f64 {
    fraction_inside(field, &inverse.map()).max(fraction_inside(inverse, &field.map()))
}

/// Returns the fraction of a field's voxels that it takes inside the grid of another one.
fn fraction_inside(field: &Field, other: &FieldMap) -> f64 {
    let (to_mm, [width, height, _]) = (field.geometry.index_to_world(), field.geometry.size);
    let row = |(row, vectors): (usize, &[[f32; 3]])| {
        let (y, z) = ((row % height) as f64, (row / height) as f64);
        let point = |x: usize| to_mm.transform_point3(DVec3::new(x as f64, y, z));
        let vectors = vectors.iter().enumerate();
        vectors.filter(|(x, way)| other.holds(point(*x) + DVec3::from_array(way.map(f64::from)))).count()
    };
    let inside: usize = field.vectors.par_chunks(width).enumerate().map(row).sum();
    inside as f64 / field.vectors.len().max(1) as f64
}

/// Resamples the moving image through a map onto the fixed image's grid.
pub fn moved([fixed, moving]: &[Prepared; 2], map: impl Fn(DVec3) -> DVec3 + Sync) -> Result<Prepared<'static>> {
    let through = |image: &Volume, outside: f32| {
        let how = Resampling { outside, ..Resampling::default() };
        resample_through(image, &fixed.image.geometry, &map, &how).map(|moved| Cow::Owned(moved.volume))
    };
    let image = through(&moving.image, moving.intensities.range.0)?;
    let mask = moving.mask().map(|mask| through(mask, 0.0)).transpose()?;
    Ok(Prepared { image, mask, intensities: moving.intensities })
}

/// Returns the foreground of the fixed image and of the moving one, resampled through a map. Returns `None` if that is
/// too little.
pub fn foregrounds(images: &[Prepared; 2], map: impl Fn(DVec3) -> DVec3 + Sync) -> Result<Option<Foregrounds>> {
    Foregrounds::of([&images[0], &moved(images, map)?], [&[], &[]])
}

/// Measures how much better the images agree through the start of a field than around it or, if they do not agree
/// there, through the affine map nearest to the field.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped)
pub fn linear_place(
    levels: &[Level],
    field: &Field,
    start: &DAffine3,
    intensities: [Intensities; 2],
) -> Result<Option<Place>> {
    let Some(images) = images_for_checks(levels, intensities) else { return Ok(None) };
    let Some(foregrounds) = Foregrounds::of(images.each_ref(), [&[], &[]])? else { return Ok(None) };
    let at_start = foregrounds.place(start, &[], false)?;
    if place_doubts(at_start).chain(unconfirmed_place_doubt(at_start)).next().is_none() {
        return Ok(Some(at_start));
    }
    let map = field.map();
    let nearest = foregrounds.nearest(Kind::Affine, |point| map.transform_point3(point)).unwrap_or(*start);
    foregrounds.place(&nearest, &[], false).map(Some)
}

/// Measures how much better the images agree at a map than around it, for both orders of the images.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped)
pub fn both_ways(levels: &[Level], map: &DAffine3, intensities: [Intensities; 2]) -> Result<Option<[Place; 2]>> {
    let Some(images) = images_for_checks(levels, intensities) else { return Ok(None) };
    let there = Place::of(&images, map)?;
    let [fixed, moving] = images;
    let back = Place::of(&[moving, fixed], &map.inverse())?;
    Ok(there.zip(back).map(|(there, back)| [there, back]))
}

/// Returns the images on the coarsest level with enough voxels, or on the finest one.
pub fn images_for_checks<'a>(levels: &'a [Level], intensities: [Intensities; 2]) -> Option<[Prepared<'a>; 2]> {
    let level = levels.iter().find(|level| is_fine_enough(level)).or(levels.last())?;
    Some(images(level, intensities))
}

/// Returns the fixed and the moving image on a level, also if local contrast has taken their place in the first
/// channel.
pub fn images<'a>(level: &'a Level, intensities: [Intensities; 2]) -> [Prepared<'a>; 2] {
    let Channel { fixed, moving, masks } = level.intensities.as_ref().unwrap_or(&level.channels[0]);
    [prepared(fixed, &masks[0], intensities[0]), prepared(moving, &masks[1], intensities[1])]
}

fn is_fine_enough(level: &Level) -> bool {
    let grid = level.grids()[0];
    longer_side(grid) >= ENOUGH[usize::from(!grid.is_flat())] * super::smallest(grid)
}

fn prepared<'a>(image: &'a Volume, mask: &[u8], intensities: Intensities) -> Prepared<'a> {
    let mask = (!mask.is_empty()).then(|| Cow::Owned(image.with(|n| f32::from(mask[n]))));
    Prepared { image: Cow::Borrowed(image), mask, intensities }
}
