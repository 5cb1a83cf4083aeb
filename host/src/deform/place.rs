//! Whether the images agree through a field more than around it: a field can be found between any two images.

use super::bending;
use super::levels::{Channel, Level};
use crate::image::{Intensities, Prepared};
use crate::plane::even::longer_side;
use crate::registration::{Insides, Place, Unmatched, agrees, agrees_alone, volume};
use crate::resample::{Resampled, resample_through};
use crate::transform::{Field, FieldMap, Kind};
use crate::{Resampling, Result, Volume};
use glam::{DAffine3, DVec3};
use std::borrow::Cow;

/// Pixels along the longer side of pictures, voxels along the longest of volumes that are enough to tell.
const ENOUGH: [f64; 2] = [250.0, 64.0];

/// What is seen of images through a field.
#[derive(Debug, Clone, Copy)]
pub struct Looked {
    /// How much of the smaller one lies inside the other, 0 to 1 but for what the field makes larger.
    pub overlap: f64,
    /// How they agree; none where too little of them is image.
    pub agreement: Option<Agreement>,
}

/// How images agree through a field.
#[derive(Debug, Clone, Copy)]
pub struct Agreement {
    pub place: Place,
    /// What their contrasts told about each other through the field's start, nats beyond chance.
    pub at_start: f64,
    /// [`bending::nats`] of what the field does after its start, over what of the fixed image is image.
    pub bending: f64,
    /// Of volumes.
    pub unmatched: Option<Unmatched>,
}

/// What is seen of the images through a field from the fixed to the moving one; none without levels.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped)
pub fn look(
    levels: &[Level],
    field: &Field,
    start: &DAffine3,
    intensities: [Intensities; 2],
) -> Result<Option<Looked>> {
    let Some(images) = enough(levels, intensities) else { return Ok(None) };
    let map = field.map();
    let (through, inside) = moved(&images, |point| map.transform_point3(point))?;
    let [fixed, moving] = images.each_ref().map(|image| &image.image.geometry);
    let overlap = inside as f64 * fixed.voxel_size() / volume(fixed).min(volume(moving));
    let agreement = agreement(&images, &through, &map, start)?;
    Ok(Some(Looked { overlap, agreement }))
}

/// How they agree through a map that moves the moving one to `through`.
fn agreement(
    images: &[Prepared; 2],
    through: &Prepared,
    map: &FieldMap,
    start: &DAffine3,
) -> Result<Option<Agreement>> {
    let Some(insides) = Insides::of([&images[0], through], [&[], &[]])? else {
        // Either image has something to show, but not where the other one is.
        let nowhere = Agreement { place: Place::NOWHERE, at_start: 0.0, bending: 0.0, unmatched: None };
        return Ok(Insides::of(images.each_ref(), [&[], &[]])?.map(|_| nowhere));
    };
    let at_start = || insides.information(&moved(images, |point| start.transform_point3(point))?.0);
    let others = || rayon::join(at_start, || bending_of(&insides, map, start));
    let placed = || rayon::join(|| insides.place(&DAffine3::IDENTITY), || insides.unmatched());
    let ((place, unmatched), (at_start, bending)) = rayon::join(placed, others);
    Ok(Some(Agreement { place: place?, at_start: at_start?, bending, unmatched }))
}

/// [`bending::nats`] of what a map does after `start`.
pub fn bending_of(insides: &Insides, map: &FieldMap, start: &DAffine3) -> f64 {
    let back = start.inverse();
    let apart = Field::of(&insides.image().geometry, |point| back.transform_point3(map.transform_point3(point)));
    let determinants = apart.jacobians();
    bending::nats(&insides.voxels().map(|n| determinants[n]).collect::<Vec<_>>())
}

/// The moving image on the fixed one's grid, as a map moves it, and how many of the grid's voxels lie inside it.
pub fn moved(
    [fixed, moving]: &[Prepared; 2],
    map: impl Fn(DVec3) -> DVec3 + Sync,
) -> Result<(Prepared<'static>, usize)> {
    let through = |image: &Volume, outside: f32| {
        let how = Resampling { outside, ..Resampling::default() };
        resample_through(image, &fixed.image.geometry, &map, &how)
    };
    let Resampled { volume, inside } = through(&moving.image, moving.intensities.range.0)?;
    let mask = moving.mask().map(|mask| through(mask, 0.0)).transpose()?;
    let mask = mask.map(|mask| Cow::Owned(mask.volume));
    Ok((Prepared { image: Cow::Owned(volume), mask, intensities: moving.intensities }, inside))
}

/// What of the fixed image and of the moving one, moved by a map, is image; none where that is too little.
pub fn insides(images: &[Prepared; 2], map: impl Fn(DVec3) -> DVec3 + Sync) -> Result<Option<Insides>> {
    let (through, _) = moved(images, map)?;
    Insides::of([&images[0], &through], [&[], &[]])
}

/// How much more the images agree through the start of a field or, where they do not agree there, through the affine map nearest to the
/// field.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped)
pub fn linear_place(
    levels: &[Level],
    field: &Field,
    start: &DAffine3,
    intensities: [Intensities; 2],
) -> Result<Option<Place>> {
    let Some(images) = enough(levels, intensities) else { return Ok(None) };
    let Some(insides) = Insides::of(images.each_ref(), [&[], &[]])? else { return Ok(None) };
    let at_start = insides.place(start)?;
    if agrees(at_start).chain(agrees_alone(at_start)).next().is_none() {
        return Ok(Some(at_start));
    }
    let map = field.map();
    let nearest = insides.nearest(Kind::Affine, |point| map.transform_point3(point)).unwrap_or(*start);
    insides.place(&nearest).map(Some)
}

/// How much more the images agree at a map than around it, and once they and the map are exchanged.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped)
pub fn both_ways(levels: &[Level], map: &DAffine3, intensities: [Intensities; 2]) -> Result<Option<[Place; 2]>> {
    let Some(images) = enough(levels, intensities) else { return Ok(None) };
    let there = Place::of(&images, map)?;
    let [fixed, moving] = images;
    let back = Place::of(&[moving, fixed], &map.inverse())?;
    Ok(there.zip(back).map(|(there, back)| [there, back]))
}

/// The images on the first level with enough voxels to tell.
pub fn enough<'a>(levels: &'a [Level], intensities: [Intensities; 2]) -> Option<[Prepared<'a>; 2]> {
    let level = levels.iter().find(|level| is_enough(level)).or(levels.last())?;
    Some(images(level, intensities))
}

/// The fixed and the moving image on a level.
pub fn images<'a>(level: &'a Level, intensities: [Intensities; 2]) -> [Prepared<'a>; 2] {
    let Channel { fixed, moving, masks } = level.intensities.as_ref().unwrap_or(&level.channels[0]);
    [prepared(fixed, &masks[0], intensities[0]), prepared(moving, &masks[1], intensities[1])]
}

fn is_enough(level: &Level) -> bool {
    let grid = level.grids()[0];
    longer_side(grid) >= ENOUGH[usize::from(!grid.is_flat())] * super::smallest(grid)
}

fn prepared<'a>(image: &'a Volume, mask: &[u8], intensities: Intensities) -> Prepared<'a> {
    let mask = (!mask.is_empty()).then(|| Cow::Owned(image.with(|n| f32::from(mask[n]))));
    Prepared { image: Cow::Borrowed(image), mask, intensities }
}
