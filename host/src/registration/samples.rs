//! Some voxels of two images, and what they tell about each other wherever they are placed.

use super::binned::{BINS, Ranged, bin};
use crate::metric;
use crate::optimizer::{Batch, Objective, Optimizer, Problem};
use crate::plane::canvas::voxel;
use crate::threads::still_wanted;
use crate::transform::{Dimension, Kind, Steps};
use crate::{Geometry, Result};
use glam::{DAffine3, DVec3};
use rayon::prelude::*;

/// Of these as many must meet the moving image elsewhere as parts of those that meet it where it was placed.
const LEAST: f64 = 0.7;
/// Evaluations of a climb at most.
const EVALUATIONS: usize = 200;

/// Some voxels of the fixed image that are image, and the moving image.
pub struct Samples<'a> {
    /// Where they lie, LPS mm, and their bins.
    pub fixed: Vec<(DVec3, u8)>,
    pub grid: &'a Geometry,
    pub moving: &'a Ranged,
    /// The middle of those that meet the moving image, LPS mm.
    pub middle: DVec3,
    /// How many must meet it.
    least: usize,
}

impl<'a> Samples<'a> {
    /// About so many of a fixed and a moving image, near `to` (fixed point to moving point, LPS mm).
    pub fn of([(fixed, range), moving]: &'a [Ranged; 2], to: &DAffine3, number: usize) -> Self {
        let grid = &fixed.geometry;
        let at = |n: usize| grid.index_to_world().transform_point3(grid.index_of(n).map(|i| i as f64).into());
        let image: Vec<usize> = (0..fixed.voxels.len()).filter(|&n| !fixed.voxels[n].is_nan()).collect();
        let some = image.iter().step_by(image.len().div_ceil(number).max(1));
        let sample = |&n: &usize| (at(n), bin(fixed.voxels[n], *range));
        let mut samples = Self { fixed: some.map(sample).collect(), grid, moving, middle: DVec3::ZERO, least: 0 };
        let met: Vec<DVec3> = samples.pairs(to).map(|(at, ..)| at).collect();
        samples.middle = met.iter().sum::<DVec3>() / met.len().max(1) as f64;
        samples.least = (LEAST * met.len() as f64) as usize;
        samples
    }

    /// Those that meet the moving image through a map: where they lie, their bins, and its bins there.
    fn pairs(&self, map: &DAffine3) -> impl Iterator<Item = (DVec3, u8, u8)> {
        let (moving, range) = self.moving;
        let to_index = moving.geometry.world_to_index() * *map;
        let pair = move |&(at, fixed): &(DVec3, u8)| {
            let there = voxel(moving, to_index.transform_point3(at));
            (!there.is_nan()).then(|| (at, fixed, bin(there, *range)))
        };
        self.fixed.iter().filter_map(pair)
    }

    /// The mutual information beyond what chance makes, nats; none where few meet the moving image.
    pub fn information(&self, map: &DAffine3) -> f64 {
        let mut counts = vec![0_u32; BINS * BINS];
        self.pairs(map).for_each(|(_, fixed, moving)| counts[usize::from(moving) * BINS + usize::from(fixed)] += 1);
        let met: u32 = counts.iter().sum();
        if (met as usize) < self.least { 0.0 } else { metric::information(&counts, BINS) }
    }

    /// Where a rigid climb from a map ends, and the information there; first step and resolution in voxels.
    pub fn climbed(&self, from: DAffine3, (step, resolution): (f64, f64)) -> Result<(DAffine3, f64)> {
        let steps = Steps::new(Kind::Rigid, Dimension::of(self.grid), self.grid);
        let [_, mm] = self.grid.spacing_range();
        let start = vec![0.0; steps.count()];
        let (step, resolution) = (step * mm, resolution * mm);
        let problem = Problem { start, step, resolution, evaluations: EVALUATIONS, shape: None };
        let found = Batch.maximise(&mut Climb { samples: self, from, steps: &steps }, &problem)?;
        Ok((from * steps.map(&found.parameters), found.value))
    }
}

/// The information of samples as a function of steps away from a map.
struct Climb<'a> {
    samples: &'a Samples<'a>,
    from: DAffine3,
    steps: &'a Steps,
}

impl Objective for Climb<'_> {
    fn values(&mut self, points: &[Vec<f64>]) -> Result<Vec<f64>> {
        still_wanted()?;
        let value = |mm: &Vec<f64>| self.samples.information(&(self.from * self.steps.map(mm)));
        Ok(points.par_iter().map(value).collect())
    }
}
