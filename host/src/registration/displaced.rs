//! Finds parts of two volumes that agree better elsewhere than the result places them, such as a head that was turned
//! over still shoulders.

use super::octants::Octant;
use super::place::Foregrounds;
use super::poses::CONTRAST_LEAD;
use crate::Result;
use crate::doubt::{Check, Doubt};
use glam::{DAffine3, DVec3};
use rayon::prelude::*;
use std::fmt;

/// A part of two volumes that agrees better elsewhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Displaced {
    /// How far from the result its centre then lies, mm.
    pub mm: f64,
    /// Its centre in the fixed image, LPS mm.
    pub middle: DVec3,
}

impl Displaced {
    /// Returns a doubt that tells of it.
    pub fn doubt(self) -> Doubt {
        let text = format!("{self}: a part may have moved by itself, or shapes differ; a deformation can follow that");
        Doubt::slight(Check::Place, text)
    }
}

impl fmt::Display for Displaced {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        let Self { mm, middle: DVec3 { x, y, z } } = self;
        write!(to, "around ({x:.0}, {y:.0}, {z:.0}) mm LPS the images match better {mm:.0} mm away")
    }
}

impl Foregrounds {
    /// Finds the part that is furthest from where local contrast agrees better and clearly, if that is more than a
    /// voxel of the grid on which the images are compared. `to` is the result, a map of fixed points to moving points,
    /// LPS mm. Returns `None` for 2-D images.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped)
    pub fn displaced(&self, to: &DAffine3) -> Result<Option<Displaced>> {
        let clearly = |octant: Octant| {
            let Octant { voxels, middle, map, displaced_mm, .. } = octant;
            let lead = || self.local_contrast().of_part(&voxels).pose_information(&map, self.side()).lead();
            displaced_mm.filter(|_| lead() >= CONTRAST_LEAD).map(|mm| Displaced { mm, middle })
        };
        let Some(octants) = self.local_contrast().octants(to)? else { return Ok(None) };
        let displaced: Vec<_> = octants.all.into_par_iter().filter_map(clearly).collect();
        Ok(displaced.into_iter().max_by(|a, b| a.mm.total_cmp(&b.mm)))
    }
}
