//! Whether the images agree through a field more than around it: a field can be found between any two images.

use super::bending;
use super::levels::{Channel, Level};
use crate::image::{Intensities, Prepared};
use crate::plane::even::longer_side;
use crate::registration::{Insides, Place, agrees, agrees_alone, volume};
use crate::resample::resample_through;
use crate::transform::Field;
use crate::{Resampling, Result, Volume};
use glam::{DAffine3, DVec3};
use rayon::prelude::*;
use std::borrow::Cow;

/// Pixels along the longer side of pictures, voxels along the longest of volumes that are enough to tell.
const ENOUGH: [f64; 2] = [250.0, 64.0];

/// What is seen of images through a field.
#[derive(Debug, Clone, Copy)]
pub struct Looked {
    pub place: Place,
    /// What their contrasts told about each other through its start, nats beyond chance.
    pub at_start: f64,
    /// [`bending::nats`] of what it does after its start, over what of the fixed image is image.
    pub bending: f64,
}

/// What is seen of the images through a field from the fixed to the moving one; none where too little of them is image.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped)
pub fn place(
    levels: &[Level],
    field: &Field,
    start: &DAffine3,
    intensities: [Intensities; 2],
) -> Result<Option<Looked>> {
    let Some(images) = enough(levels, intensities) else { return Ok(None) };
    let map = field.map();
    let through = moved(&images, |point| map.transform_point3(point))?;
    let Some(insides) = Insides::of([&images[0], &through], [&[], &[]])? else {
        let nowhere = Looked { place: Place::NOWHERE, at_start: 0.0, bending: 0.0 };
        return Ok(Insides::of(images.each_ref(), [&[], &[]])?.map(|_| nowhere));
    };
    let (place, at_start) = rayon::join(
        || insides.place(&DAffine3::IDENTITY),
        || insides.information(&moved(&images, |point| start.transform_point3(point))?),
    );
    let back = start.inverse();
    let apart = Field::of(&insides.image().geometry, |point| back.transform_point3(map.transform_point3(point)));
    let determinants = apart.jacobians();
    let determinants: Vec<f32> = insides.voxels().map(|n| determinants[n]).collect();
    Ok(Some(Looked { place: place?, at_start: at_start?, bending: bending::nats(determinants.into_par_iter()) }))
}

/// How much of the smaller image lies inside the other through a field.
pub fn overlap(levels: &[Level], field: &Field) -> Option<f64> {
    let [fixed, moving] = levels.iter().find(|level| is_enough(level)).or(levels.last())?.grids();
    let (map, to_world, to_index) = (field.map(), fixed.index_to_world(), moving.world_to_index());
    let last = DVec3::from(moving.size.map(|n| n as f64 - 0.5));
    let is_inside = |&n: &usize| {
        let point = to_world.transform_point3(fixed.index_of(n).map(|i| i as f64).into());
        let at = to_index.transform_point3(map.transform_point3(point));
        at.cmpge(DVec3::splat(-0.5)).all() && at.cmple(last).all()
    };
    let inside = (0..fixed.voxels()).into_par_iter().filter(is_inside).count();
    let smaller = volume(fixed).min(volume(moving));
    Some(inside as f64 * fixed.voxel_size() / smaller)
}

/// The moving image on the fixed one's grid, as a map moves it.
fn moved([fixed, moving]: &[Prepared; 2], map: impl Fn(DVec3) -> DVec3 + Sync) -> Result<Prepared<'static>> {
    let through = |image: &Volume, outside: f32| {
        let how = Resampling { outside, ..Resampling::default() };
        resample_through(image, &fixed.image.geometry, &map, &how).map(|moved| Cow::Owned(moved.volume))
    };
    Ok(Prepared {
        image: through(&moving.image, moving.intensities.range.0)?,
        mask: moving.mask().map(|mask| through(mask, 0.0)).transpose()?,
        intensities: moving.intensities,
    })
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
    let nearest = insides.nearest_affine(|point| map.transform_point3(point)).unwrap_or(*start);
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
fn enough<'a>(levels: &'a [Level], intensities: [Intensities; 2]) -> Option<[Prepared<'a>; 2]> {
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
