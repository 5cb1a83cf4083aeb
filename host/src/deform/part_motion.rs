//! A field that moves each octant of a volume by itself, such as a head on still shoulders.

use super::contrast_check::ContrastCheck;
use super::course::Course;
use super::searched::Searched;
use crate::Result;
use crate::registration::{Octants, is_clearly_more, octant};
use glam::{DAffine3, DVec3};
use rayon::prelude::*;

/// A field that moves each octant of a volume to where it agrees best. Between octants, it may jump.
pub struct PartMotion {
    pub field: Searched,
    /// The mutual information of local contrast through it, nats beyond chance.
    pub nats: f64,
}

impl PartMotion {
    /// Returns the field for the last of the coarse levels, or `None` if the images agree about as well through the
    /// start, or are 2-D.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped)
    pub fn new(course: &Course, check: &ContrastCheck) -> Result<Option<Self>> {
        let displaced = |octants: &Octants| octants.all.iter().any(|octant| octant.displaced_mm.is_some());
        let Some(octants) = check.octants()?.filter(displaced) else { return Ok(None) };
        let field = field(course, &octants);
        let nats = check.through(&field.planes, &field.grid)?.nats;
        Ok(is_clearly_more(nats, check.at_start()).then_some(Self { field, nats }))
    }
}

/// Returns the field for the last of the coarse levels.
fn field(course: &Course, octants: &Octants) -> Searched {
    let level = course.coarse() - 1;
    let grid = course.grid(level);
    let (to_world, to_voxels, back) = (grid.index_to_world(), grid.world_to_index(), course.start.inverse());
    let middle = to_voxels.transform_point3(octants.middle);
    let maps: Vec<DAffine3> = octants.all.iter().map(|octant| back * octant.map).collect();
    let way = |n: usize| {
        let at = DVec3::from_array(grid.index_of(n).map(|i| i as f64));
        let moved = maps[octant(at, middle)].transform_point3(to_world.transform_point3(at));
        (to_voxels.transform_point3(moved) - at).as_vec3().to_array()
    };
    let ways: Vec<_> = (0..grid.voxels()).into_par_iter().map(way).collect();
    Searched::new(&ways, *grid, level)
}
