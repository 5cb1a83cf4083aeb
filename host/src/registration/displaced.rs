//! Finds parts of two volumes that agree better elsewhere than the result places them, such as a head that was turned
//! over still shoulders.
//!
//! A linear transform follows the larger part of the body, and agrees clearly whatever the smaller part does. So each
//! part is optimised by itself.

use super::place::Foregrounds;
use super::poses::CONTRAST_LEAD;
use super::samples::Samples;
use super::trust::AS_GOOD;
use crate::Result;
use crate::doubt::{Check, Doubt};
use glam::{DAffine3, DVec3};
use rayon::prelude::*;
use std::fmt;

/// Foreground voxels that each part is optimised by, and by which the common foreground is divided.
const SAMPLES: usize = 2000;
/// First step and resolution of the optimisation, voxels.
const STEPS: (f64, f64) = (2.0, 0.5);
/// The parts are octants about the centre of the common foreground.
const PARTS: usize = 8;

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
        let pair = self.local_contrast();
        let grid = &pair.fixed().geometry;
        if grid.is_flat() {
            return Ok(None);
        }
        let voxels = &pair.fixed().voxels;
        let foreground: Vec<usize> = (0..voxels.len()).filter(|&n| !voxels[n].is_nan()).collect();
        let common = Samples::among(&foreground, &pair.0, to, SAMPLES).middle;
        let middle = grid.world_to_index().transform_point3(common).to_array();
        let octant = |n: usize| {
            let index = grid.index_of(n);
            (0..3).fold(0, |octant, axis| octant | usize::from(index[axis] as f64 > middle[axis]) << axis)
        };
        let mut parts = [const { Vec::new() }; PARTS];
        foreground.into_iter().for_each(|n| parts[octant(n)].push(n));
        let displaced = parts.par_iter().map(|part| self.displaced_part(to, part));
        let displaced: Vec<_> = displaced.collect::<Result<_>>()?;
        Ok(displaced.into_iter().flatten().max_by(|a, b| a.mm.total_cmp(&b.mm)))
    }

    /// Finds where the voxels of one part agree better.
    fn displaced_part(&self, to: &DAffine3, part: &[usize]) -> Result<Option<Displaced>> {
        let pair = self.local_contrast();
        let samples = Samples::among(part, &pair.0, to, SAMPLES);
        let (map, information) = samples.optimised(*to, STEPS)?;
        let middle = samples.middle;
        let mm = map.transform_point3(middle).distance(to.transform_point3(middle));
        let [_, voxel] = samples.grid.spacing_range();
        let is_better = information * AS_GOOD > samples.information(to) && mm > voxel;
        let agrees = is_better && pair.of_part(part).pose_information(&map, self.side()).lead() >= CONTRAST_LEAD;
        Ok(agrees.then_some(Displaced { mm, middle }))
    }
}
