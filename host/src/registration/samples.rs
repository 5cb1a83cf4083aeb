//! The mutual information of some of an image's foreground voxels with another image, to be evaluated at many poses.

// Loops over SIMD lanes use one index for several arrays.
#![allow(clippy::needless_range_loop)]

use super::binned::{BINS, Ranged, Table, bin};
use crate::backend::simd::widest;
use crate::image::Range;
use crate::metric;
use crate::optimizer::{Batch, Objective, Optimizer, Problem};
use crate::plane::canvas::{CHUNK, Source};
use crate::threads::check_stopped;
use crate::transform::{Dimension, Kind, Steps};
use crate::{Geometry, Result, Volume};
use glam::{DAffine3, DVec3};
use rayon::prelude::*;

/// The samples that must fall on the moving image's foreground for a pose to count, as a fraction of those that do at
/// the pose around which the samples were taken.
const LEAST: f64 = 0.7;
/// The fewest maps that are worth waking a thread for.
pub const TOGETHER: usize = 2;
/// How many samples place the whole foreground.
pub const SAMPLES: usize = 5000;
/// First step and resolution of an optimisation of it by local contrast, voxels.
pub const BY_CONTRASTS: (f64, f64) = (1.0, 0.1);
/// The most evaluations of one optimisation, by rigid and by affine steps.
const EVALUATIONS: usize = 200;
const AFFINE_EVALUATIONS: usize = 2000;

/// Iterates over the foreground voxels of an image whose background is NaN.
pub fn foreground_voxels(image: &Volume) -> impl Iterator<Item = usize> {
    (0..image.voxels.len()).filter(|&n| !image.voxels[n].is_nan())
}

/// Some foreground voxels of the fixed image, and the moving image.
pub struct Samples<'a> {
    /// Their positions, LPS mm: x, y and z, padded to whole chunks with NaN.
    at: [Vec<f64>; 3],
    /// Their bins, padded with the bin of the background.
    pub bins: Vec<u8>,
    pub grid: &'a Geometry,
    pub moving: &'a Ranged,
    /// The centre of those that fall on the moving image's foreground, LPS mm in the fixed image.
    pub middle: DVec3,
    /// How many must fall on the moving image's foreground.
    pub least: usize,
    /// How many there are, if information is per sample, also of those that do not fall on it.
    all: Option<usize>,
}

impl<'a> Samples<'a> {
    /// Takes about `number` voxels, evenly spread over the fixed image's foreground. `to`, a map of fixed points to
    /// moving points, LPS mm, sets the centre and how many voxels must fall on the moving image's foreground.
    pub fn of(images: &'a [Ranged; 2], to: &DAffine3, number: usize) -> Self {
        let [(fixed, _), _] = images;
        Self::among(&foreground_voxels(fixed).collect::<Vec<_>>(), images, to, number)
    }

    /// Takes them from these voxels of the fixed image.
    pub fn among(voxels: &[usize], [(fixed, range), moving]: &'a [Ranged; 2], to: &DAffine3, number: usize) -> Self {
        let grid = &fixed.geometry;
        let to_world = grid.index_to_world();
        let some: Vec<usize> = voxels.iter().step_by(voxels.len().div_ceil(number).max(1)).copied().collect();
        let point = |&n: &usize| to_world.transform_point3(grid.index_of(n).map(|i| i as f64).into());
        let points: Vec<DVec3> = some.iter().map(point).collect();
        let whole = points.len().next_multiple_of(CHUNK);
        let mut at = [0, 1, 2].map(|axis| points.iter().map(|point| point[axis]).collect::<Vec<_>>());
        at.iter_mut().for_each(|axis| axis.resize(whole, f64::NAN));
        let mut bins: Vec<u8> = some.iter().map(|&n| bin(fixed.voxels[n], *range)).collect();
        bins.resize(whole, BINS as u8);
        let mut samples = Self { at, bins, grid, moving, middle: DVec3::ZERO, least: 0, all: None };
        let there = samples.moving_bins(&samples.at, to);
        let inside = || points.iter().zip(&there).filter(|(_, there)| usize::from(**there) < BINS).map(|(at, _)| at);
        let count = inside().count();
        samples.middle = inside().sum::<DVec3>() / count.max(1) as f64;
        samples.least = (LEAST * count as f64) as usize;
        samples
    }

    /// Returns the same samples, whose information is per sample, also of those that do not fall on the moving image's
    /// foreground: poses with little overlap have little of it, so that none is ruled out.
    pub fn by_overlap(self) -> Self {
        Self { all: Some(self.points().count()), ..self }
    }

    /// Iterates over the positions of the samples, LPS mm.
    pub fn points(&self) -> impl Iterator<Item = DVec3> {
        let [x, y, z] = &self.at;
        let points = x.iter().zip(y).zip(z).map(|((&x, &y), &z)| DVec3::new(x, y, z));
        points.filter(|point| !point.is_nan())
    }

    /// Returns the root mean square distance between where two maps take the samples, mm.
    pub fn distance(&self, a: &DAffine3, b: &DAffine3) -> f64 {
        self.root_mean_square(|point| a.transform_point3(point).distance_squared(b.transform_point3(point)))
    }

    /// Returns the diameter of the disc over which the samples would be spread as far from [`Samples::middle`], mm.
    pub fn side(&self) -> f64 {
        8.0_f64.sqrt() * self.root_mean_square(|point| point.distance_squared(self.middle))
    }

    fn root_mean_square(&self, squared: impl Fn(DVec3) -> f64) -> f64 {
        let (sum, count) = self.points().fold((0.0, 0), |(sum, count), point| (sum + squared(point), count + 1));
        (sum / f64::from(count.max(1))).sqrt()
    }

    /// Returns the moving image's bins at the points to which `map` takes those of the samples, or other points.
    fn moving_bins(&self, at: &[Vec<f64>; 3], map: &DAffine3) -> Vec<u8> {
        let (moving, range) = self.moving;
        let to_index = moving.geometry.world_to_index() * *map;
        let mut bins = vec![BINS as u8; self.bins.len()];
        if let Some(source) = Source::new(moving) {
            bins_there(&source, *range, &to_index, at, &mut bins);
        }
        bins
    }

    /// Returns the mutual information at `map`, nats beyond chance; 0 if too few samples fall on the moving image's
    /// foreground.
    pub fn information(&self, map: &DAffine3) -> f64 {
        self.information_with(&self.moving_bins(&self.at, map))
    }

    /// Returns the same at any map of fixed points to moving points, LPS mm.
    pub fn information_through(&self, map: impl Fn(DVec3) -> DVec3) -> f64 {
        let mut at = self.at.clone();
        for (n, point) in self.points().enumerate() {
            let point = map(point);
            (0..3).for_each(|axis| at[axis][n] = point[axis]);
        }
        self.information_with(&self.moving_bins(&at, &DAffine3::IDENTITY))
    }

    /// Returns the same from the bins of the moving image at the samples.
    fn information_with(&self, moving: &[u8]) -> f64 {
        let mut table = Table::new();
        table.count(&self.bins, moving);
        let counts = table.counts();
        let count: u32 = counts.iter().sum();
        let information = || metric::information(&counts, BINS);
        match self.all {
            Some(all) => information() * f64::from(count) / all.max(1) as f64,
            None if (count as usize) < self.least => 0.0,
            None => information(),
        }
    }

    /// Optimises a map by rigid steps, with a first step and a resolution in voxels. Returns the map at which that
    /// ends, and the mutual information there.
    pub fn optimised(&self, from: DAffine3, steps: (f64, f64)) -> Result<(DAffine3, f64)> {
        self.optimised_by(Kind::Rigid, from, steps, EVALUATIONS)
    }

    /// Does the same by affine steps.
    pub fn refined(&self, from: DAffine3, steps: (f64, f64)) -> Result<(DAffine3, f64)> {
        self.optimised_by(Kind::Affine, from, steps, AFFINE_EVALUATIONS)
    }

    fn optimised_by(
        &self,
        kind: Kind,
        from: DAffine3,
        (step, resolution): (f64, f64),
        evaluations: usize,
    ) -> Result<(DAffine3, f64)> {
        let steps = Steps::new(kind, Dimension::of(self.grid), self.grid);
        let [_, mm] = self.grid.spacing_range();
        let start = vec![0.0; steps.count()];
        let (step, resolution) = (step * mm, resolution * mm);
        let problem = Problem { start, step, resolution, evaluations, shape: None };
        let batch = Batch { cautious: true };
        let found = batch.maximise(&mut StepObjective { samples: self, from, steps: &steps }, &problem)?;
        Ok((from * steps.map(&found.parameters), found.value))
    }
}

widest! {
    /// Writes the bins of an image at the voxel positions to which `map` takes points.
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

/// The mutual information of samples as a function of steps, mm, away from a map.
struct StepObjective<'a> {
    samples: &'a Samples<'a>,
    from: DAffine3,
    steps: &'a Steps,
}

impl Objective for StepObjective<'_> {
    fn values(&mut self, points: &[Vec<f64>]) -> Result<Vec<f64>> {
        check_stopped()?;
        let value = |mm: &Vec<f64>| self.samples.information(&(self.from * self.steps.map(mm)));
        Ok(points.par_iter().with_min_len(TOGETHER).map(value).collect())
    }
}
