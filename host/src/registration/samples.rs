//! Some voxels of two images, and what they tell about each other wherever they are placed.

// Loops over lanes run along several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::binned::{BINS, Ranged, Table, bin};
use crate::backend::simd::widest;
use crate::image::Range;
use crate::metric;
use crate::optimizer::{Batch, Objective, Optimizer, Problem};
use crate::plane::canvas::{CHUNK, Source};
use crate::threads::still_wanted;
use crate::transform::{Dimension, Kind, Steps};
use crate::{Geometry, Result};
use glam::{DAffine3, DVec3};
use rayon::prelude::*;

/// Of these as many must meet the moving image elsewhere as parts of those that meet it where it was placed.
const LEAST: f64 = 0.7;
/// Maps that a thread takes at least: waking one for less takes longer.
pub const TOGETHER: usize = 2;
/// Evaluations of a climb at most.
const EVALUATIONS: usize = 200;

/// Some voxels of the fixed image that are image, and the moving image.
pub struct Samples<'a> {
    /// Where they lie, LPS mm: x, y and z, in whole chunks, after the last of them NaN.
    at: [Vec<f64>; 3],
    /// Their bins; after the last of them that of what is not image.
    bins: Vec<u8>,
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
        let (to_world, image) = (grid.index_to_world(), |n: &usize| !fixed.voxels[*n].is_nan());
        let image: Vec<usize> = (0..fixed.voxels.len()).filter(image).collect();
        let some: Vec<usize> = image.iter().step_by(image.len().div_ceil(number).max(1)).copied().collect();
        let point = |&n: &usize| to_world.transform_point3(grid.index_of(n).map(|i| i as f64).into());
        let points: Vec<DVec3> = some.iter().map(point).collect();
        let whole = points.len().next_multiple_of(CHUNK);
        let mut at = [0, 1, 2].map(|axis| points.iter().map(|point| point[axis]).collect::<Vec<_>>());
        at.iter_mut().for_each(|axis| axis.resize(whole, f64::NAN));
        let mut bins: Vec<u8> = some.iter().map(|&n| bin(fixed.voxels[n], *range)).collect();
        bins.resize(whole, BINS as u8);
        let mut samples = Self { at, bins, grid, moving, middle: DVec3::ZERO, least: 0 };
        let there = samples.moving_bins(to);
        let met = || points.iter().zip(&there).filter(|(_, there)| usize::from(**there) < BINS).map(|(at, _)| at);
        let count = met().count();
        samples.middle = met().sum::<DVec3>() / count.max(1) as f64;
        samples.least = (LEAST * count as f64) as usize;
        samples
    }

    /// Where they lie, LPS mm.
    pub fn points(&self) -> impl Iterator<Item = DVec3> {
        let [x, y, z] = &self.at;
        let points = x.iter().zip(y).zip(z).map(|((&x, &y), &z)| DVec3::new(x, y, z));
        points.filter(|point| !point.is_nan())
    }

    /// The bins of the moving image where a map takes them.
    fn moving_bins(&self, map: &DAffine3) -> Vec<u8> {
        let (moving, range) = self.moving;
        let to_index = moving.geometry.world_to_index() * *map;
        let mut bins = vec![BINS as u8; self.bins.len()];
        if let Some(source) = Source::new(moving) {
            bins_there(&source, *range, &to_index, &self.at, &mut bins);
        }
        bins
    }

    /// The mutual information beyond what chance makes, nats; none where few meet the moving image.
    pub fn information(&self, map: &DAffine3) -> f64 {
        let mut table = Table::new();
        table.count(&self.bins, &self.moving_bins(map));
        let counts = table.counts();
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

widest! {
    /// The bins of an image where a map to its voxels takes points.
    fn bins_there(source: &Source, range: Range, map: &DAffine3, at: &[Vec<f64>; 3], bins: &mut [u8]) {
        for (first, bins) in (0..).step_by(CHUNK).zip(bins.as_chunks_mut::<CHUNK>().0) {
            let mut places = [[0.0; CHUNK]; 3];
            for l in 0..CHUNK {
                let point = DVec3::new(at[0][first + l], at[1][first + l], at[2][first + l]);
                [places[0][l], places[1][l], places[2][l]] = map.transform_point3(point).to_array();
            }
            let voxels = source.voxels(&places);
            for l in 0..CHUNK {
                bins[l] = bin(voxels[l], range);
            }
        }
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
        Ok(points.par_iter().with_min_len(TOGETHER).map(value).collect())
    }
}
