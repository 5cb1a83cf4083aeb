//! Fields that move parts of a volume by themselves, such as a head on still shoulders.

use super::contrast_information::ContrastInformation;
use super::course::Course;
use super::searched::{Displacements, Searched};
use super::smallest;
use super::smoothing::Smoothing;
use crate::Result;
use crate::backend::cpu::smooth;
use crate::registration::{NEIGHBOURHOOD, Octant, Octants, Pair, Segments, is_clearly_more};
use crate::transform::Field;
use glam::{DAffine3, DVec3};
use rayon::prelude::*;
use std::mem;
use std::sync::Arc;

/// The octants of two volumes, and where each of them agrees best.
pub struct PartMotion<'a> {
    octants: Octants,
    images: Pair,
    course: Course<'a>,
    contrast: Arc<ContrastInformation<'a>>,
    /// The mutual information of local contrast if each octant is moved to where it agrees best near the start, nats beyond
    /// chance, if that is elsewhere for some.
    pub nats: Option<f64>,
    /// `None` if no octant agrees better by itself.
    pub parts: Option<Parts>,
    /// See [`PartMotion::follow`].
    followed: bool,
}

/// Parts of the fixed image that move by themselves.
pub struct Parts {
    /// Displacements that move each part to where it agrees best, from the last of the coarse levels on. Between parts, the
    /// motion changes gradually. Unless the user says how stiff the field is, they are also its reference: else its
    /// smoothing would undo them.
    pub displacements: Searched,
    /// The mutual information of local contrast through these displacements, nats beyond chance.
    pub nats: f64,
}

impl<'a> PartMotion<'a> {
    /// Returns `None` for 2-D images, and if too little of the moving image is foreground.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped)
    pub fn new(course: Course<'a>, contrast: Arc<ContrastInformation<'a>>) -> Result<Option<Self>> {
        let Some(images) = contrast.on_own_grids()? else { return Ok(None) };
        let Some(octants) = images.octants(&course.start)? else { return Ok(None) };
        let displaced = octants.are_displaced();
        let mut motion = Self { octants, images, course, contrast, nats: None, parts: None, followed: false };
        if displaced {
            let (nats, parts) = rayon::join(|| motion.octants_nats(), || motion.divided());
            (motion.nats, motion.parts) = (Some(nats?), Some(parts?));
        }
        Ok(Some(motion))
    }

    /// Moves octants as a field does, where they agree clearly better then, and divides the fixed image again if there are
    /// such octants. Only the first field is followed: strategies of all stiffnesses begin with the same parts.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped)
    pub fn follow(&mut self, field: &Field) -> Result<()> {
        let map = field.map();
        let start = self.course.start;
        let first = !mem::replace(&mut self.followed, true);
        if first && self.images.follow(&mut self.octants, &start, |point| map.transform_point3(point)) {
            self.parts = Some(self.divided()?);
        }
        Ok(())
    }

    /// Returns whether octants moved so far that they were only found by a search of all poses around.
    pub fn is_far(&self) -> bool {
        self.octants.far
    }

    /// Returns whether one of the displaced octants agrees clearly better where it agrees best than through a field.
    pub fn is_better_than(&self, field: &Field) -> bool {
        let map = field.map();
        let through = |octant: &Octant| self.images.information_through(octant, |point| map.transform_point3(point));
        let mut displaced = self.octants.all.iter().filter(|octant| octant.displaced_mm.is_some());
        displaced.any(|octant| is_clearly_more(octant.information, through(octant)))
    }

    fn octants_nats(&self) -> Result<f64> {
        let Displacements { planes, grid } =
            field(&self.course, &self.images, &self.octants.segments(self.images.fixed()));
        self.contrast.through(&planes, &grid)
    }

    /// Divides the fixed image into parts that move by themselves.
    fn divided(&self) -> Result<Parts> {
        let displacements = self.displacements()?;
        let Displacements { planes, grid } = &*displacements.displacements;
        Ok(Parts { nats: self.contrast.through(planes, grid)?, displacements })
    }

    fn displacements(&self) -> Result<Searched> {
        let (course, fixed) = (&self.course, self.images.fixed());
        let segments = self.images.refined(self.octants.segments(fixed))?;
        let mut field = field(course, &self.images, &segments);
        let mm = NEIGHBOURHOOD * smallest(&fixed.geometry);
        smooth(&mut field.planes, field.grid.size, field.grid.spacing.map(|spacing| mm / spacing).to_array());
        let field = Arc::new(field);
        let is_given = Smoothing::given(course.options, course.finest_mm()).is_some();
        let reference = (!is_given).then(|| Arc::clone(&field));
        Ok(Searched { displacements: field, level: course.last_coarse(), reference })
    }
}

/// Returns displacements that move each segment.
fn field(course: &Course, images: &Pair, segments: &Segments) -> Displacements {
    let (grid, of_segments) = (course.grid(course.last_coarse()), &images.fixed().geometry);
    let (to_segments, last) = (of_segments.world_to_index(), of_segments.size.map(|n| (n - 1) as f64).into());
    let (to_world, to_voxels, back) = (grid.index_to_world(), grid.world_to_index(), course.start.inverse());
    let maps: Vec<DAffine3> = segments.maps.iter().map(|map| back * *map).collect();
    let way = |n: usize| {
        let at = DVec3::from_array(grid.index_of(n).map(|i| i as f64));
        let point = to_world.transform_point3(at);
        let nearest = to_segments.transform_point3(point).round().clamp(DVec3::ZERO, last).as_usizevec3();
        let number = segments.numbers[of_segments.number_of(nearest.to_array())];
        (to_voxels.transform_point3(maps[usize::from(number)].transform_point3(point)) - at).as_vec3().to_array()
    };
    let ways: Vec<_> = (0..grid.voxels()).into_par_iter().map(way).collect();
    Displacements::new(&ways, *grid)
}
