//! How well the contrasts of two images agree on their own grids through two flows that meet, which themselves see only the grid in the
//! middle.

use super::course::Course;
use super::flows::{self, Flows};
use super::place::{enough, insides};
use super::vectors;
use crate::Result;
use crate::image::Prepared;
use crate::transform::Field;

/// What contrasts tell about each other through two flows on a level, nats beyond chance, on average of both ways; 0 of one flow.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped)
pub fn information(course: &Course, flows: &mut Flows, level: usize) -> Result<f64> {
    let (Flows::Two(pair, middle), Some(images)) = (flows, enough(course.levels, course.intensities)) else {
        return Ok(0.0);
    };
    let grids = images.each_ref().map(|image| &image.image.geometry);
    let (mut flow, inverse) =
        flows::met(pair.fields()?, middle, course.grid(level), grids, &course.start, course.limits());
    let [of_field, _] = vectors::maps(grids, &course.start);
    let there = Field { geometry: *grids[0], vectors: flow.vectors(&of_field)? };
    let back = Field { geometry: *grids[1], vectors: inverse.vectors };
    let [fixed, moving] = images;
    let there = told(&[fixed.borrowed(), moving.borrowed()], &there)?;
    Ok(0.5 * (there + told(&[moving, fixed], &back)?))
}

/// What they tell through a field; 0 where too little of the images is image.
fn told(images: &[Prepared; 2], field: &Field) -> Result<f64> {
    let map = field.map();
    Ok(insides(images, |point| map.transform_point3(point))?.map_or(0.0, |insides| insides.here()))
}
