//! A field that moves each octant of a volume by itself, such as a head on still shoulders.

use super::contrast_check::ContrastCheck;
use super::course::Course;
use super::searched::Searched;
use crate::Result;
use crate::registration::{Octant, Octants, Pair, is_clearly_more, octant};
use crate::transform::Field;
use glam::{DAffine3, DVec3};
use rayon::prelude::*;

/// The octants of two volumes, of which some agree better elsewhere than the start places them.
pub struct PartMotion {
    octants: Octants,
    images: Pair,
    /// Moves each octant to where it agrees best, from the last of the coarse levels on. Between octants, it may jump.
    pub field: Searched,
    /// The mutual information of the local contrast of all octants through it, nats beyond chance.
    pub nats: f64,
}

impl PartMotion {
    /// Returns `None` if no octant agrees better elsewhere, and for 2-D images.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped)
    pub fn new(course: &Course, check: &ContrastCheck) -> Result<Option<Self>> {
        let Some(images) = check.on_own_grids()? else { return Ok(None) };
        let displaced = |octants: &Octants| octants.all.iter().any(|octant| octant.displaced_mm.is_some());
        let Some(octants) = images.octants(&course.start)?.filter(displaced) else { return Ok(None) };
        let field = field(course, &octants);
        let nats = check.through(&field.planes, &field.grid)?.nats;
        Ok(Some(Self { octants, images, field, nats }))
    }

    /// Returns whether one of the displaced octants agrees clearly better where it agrees best than through a field.
    pub fn is_better_than(&self, field: &Field) -> bool {
        let map = field.map();
        let through = |octant: &Octant| self.images.information_through(octant, |point| map.transform_point3(point));
        let mut displaced = self.octants.all.iter().filter(|octant| octant.displaced_mm.is_some());
        displaced.any(|octant| is_clearly_more(octant.information, through(octant)))
    }
}

/// Returns the field that moves each octant.
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
