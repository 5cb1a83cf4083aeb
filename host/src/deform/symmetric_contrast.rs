//! Measures how well local contrast agrees through the two flows of symmetric mode, on the grids of the images
//! themselves. The flows see only the grid in the middle.

use super::course::Course;
use super::flows::{self, Flows};
use super::place::{foregrounds, images_for_checks};
use super::vectors;
use crate::Result;
use crate::image::Prepared;
use crate::transform::Field;
use glam::DAffine3;

/// Returns the mutual information of local contrast through two flows on a level, nats beyond chance, averaged over
/// both ways; 0 for a single flow.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped)
pub fn information(course: &Course, flows: &mut Flows, level: usize) -> Result<f64> {
    let (Flows::Two(pair, middle), Some(images)) = (flows, images_for_checks(course.levels, course.intensities)) else {
        return Ok(0.0);
    };
    let grids = images.each_ref().map(|image| &image.image.geometry);
    let (mut flow, inverse) =
        flows::compose_pair(pair.fields()?, middle, course.grid(level), grids, &course.start, course.limits());
    let [of_field, _] = vectors::maps(grids, &course.start);
    let there = Field { geometry: *grids[0], vectors: flow.vectors(&of_field)? };
    let back = Field { geometry: *grids[1], vectors: inverse.vectors };
    let [fixed, moving] = images;
    let there = information_through(&[fixed.borrowed(), moving.borrowed()], &there)?;
    Ok(0.5 * (there + information_through(&[moving, fixed], &back)?))
}

/// Returns the mutual information of local contrast through a field; 0 if too little of the images is foreground.
fn information_through(images: &[Prepared; 2], field: &Field) -> Result<f64> {
    let map = field.map();
    Ok(foregrounds(images, |point| map.transform_point3(point))?
        .map_or(0.0, |foregrounds| foregrounds.here(&DAffine3::IDENTITY)))
}
