//! A field that moves each octant of a volume by itself, such as a head on still shoulders.

use super::contrast_check::ContrastCheck;
use super::course::Course;
use super::searched::Searched;
use crate::Result;
use crate::image::voxel;
use crate::registration::{Octants, is_clearly_more, octant};
use glam::DVec3;
use rayon::prelude::*;

/// A field that moves each octant of a volume to where it agrees best. Between octants, it may jump.
pub struct PartMotion {
    pub field: Searched,
    /// The mutual information of local contrast through it, nats beyond chance.
    pub nats: f64,
}

impl PartMotion {
    /// Returns the field for the last of the coarse levels, or `None` if the images agree about as well through the
    /// start.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped)
    pub fn new(course: &Course, check: &ContrastCheck) -> Result<Option<Self>> {
        let Some(octants) = check.octants()? else { return Ok(None) };
        let Some(field) = course.part_motion(&octants) else { return Ok(None) };
        let nats = check.through(&field.planes, &field.grid)?.nats;
        Ok(is_clearly_more(nats, check.at_start()).then_some(Self { field, nats }))
    }
}

impl Course<'_> {
    fn part_motion(&self, octants: &Octants) -> Option<Searched> {
        if octants.all.iter().all(|octant| octant.displaced_mm.is_none()) {
            return None;
        }
        let level = self.coarse() - 1;
        let grid = self.grid(level);
        let (to_world, to_voxels, back) = (grid.index_to_world(), grid.world_to_index(), self.start.inverse());
        let middle = to_voxels.transform_point3(octants.middle);
        let way = |n: usize| {
            let at = DVec3::from_array(voxel(grid.size.map(|n| n as u32), n).map(f64::from));
            let map = back * octants.all[octant(at, middle)].map;
            (to_voxels.transform_point3(map.transform_point3(to_world.transform_point3(at))) - at).as_vec3()
        };
        let ways: Vec<_> = (0..grid.voxels()).into_par_iter().map(way).collect();
        let planes = (0..3).flat_map(|axis: usize| ways.iter().map(move |way| way[axis])).collect();
        Some(Searched { planes, grid: *grid, level })
    }
}
