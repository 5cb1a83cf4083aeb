//! Whether the moving image agrees better mirrored: a head fits a mirrored head quite well, and left and right are easily exchanged, by a
//! header that lost a sign or an array that lost its header.

use super::binned::{BINS, Ranged, bin};
use crate::metric::{self, NO_INFORMATION};
use crate::optimizer::{Batch, Objective, Optimizer, Problem};
use crate::plane::canvas::voxel;
use crate::threads::still_wanted;
use crate::transform::{Dimension, Kind, Steps};
use crate::{Geometry, Result};
use glam::{DAffine3, DMat3, DVec3};
use rayon::prelude::*;
use std::f64::consts::PI;

/// Voxels of the fixed image that are compared.
const SAMPLES: usize = 5000;
/// Of these as many must meet the mirrored image as parts of those that meet it as it is.
const LEAST: f64 = 0.7;
/// Planes of symmetry that are tried are square to an axis, or tilted by this tangent (15 degrees) towards the others.
const TILT: f64 = 0.268;
/// Lines of symmetry of pictures that are tried.
const LINES: u32 = 16;
/// Those that climb by intensities; the best goes on by contrasts.
const CLIMB: usize = 2;
/// First step and resolution of a climb by intensities and of one by contrasts, voxels, and their evaluations at most.
const BY_INTENSITIES: (f64, f64) = (2.0, 0.5);
const BY_CONTRASTS: (f64, f64) = (1.0, 0.1);
const EVALUATIONS: usize = 200;

/// The map that fits the moving image best when it is mirrored, near `to` (fixed point to moving point, LPS mm), and the information of
/// contrasts there over the most near `to`. Each pair is the fixed and the moving image.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped)
pub fn mirrored(intensities: &[Ranged; 2], contrasts: &[Ranged; 2], to: &DAffine3) -> Result<(DAffine3, f64)> {
    let [by_intensities, by_contrasts] = [intensities, contrasts].map(|pair| Samples::of(pair, to));
    let starts: Vec<_> = by_intensities.reflections().into_iter().map(|reflection| *to * reflection).collect();
    let values: Vec<_> = starts.par_iter().map(|map| by_intensities.information(map)).collect();
    let mut order: Vec<_> = (0..starts.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    let mut best = (starts[order[0]], f64::NEG_INFINITY);
    for &start in &order[..CLIMB] {
        let end = by_intensities.climbed(starts[start], BY_INTENSITIES)?;
        if end.1 > best.1 {
            best = end;
        }
    }
    let (map, information) = by_contrasts.climbed(best.0, BY_CONTRASTS)?;
    // The result is a little off its own top, too.
    let (_, as_it_is) = by_contrasts.climbed(*to, BY_CONTRASTS)?;
    Ok((map, information.max(0.0) / as_it_is.max(NO_INFORMATION)))
}

/// Some voxels of the fixed image that are image, and the moving image.
struct Samples<'a> {
    /// Where they lie, LPS mm, and their bins.
    fixed: Vec<(DVec3, u8)>,
    grid: &'a Geometry,
    moving: &'a Ranged,
    /// The middle of those that meet the moving image, LPS mm.
    middle: DVec3,
    /// How many must meet it.
    least: usize,
}

impl<'a> Samples<'a> {
    /// Of a fixed and a moving image, near `to`.
    fn of([(fixed, range), moving]: &'a [Ranged; 2], to: &DAffine3) -> Self {
        let grid = &fixed.geometry;
        let [width, height, _] = grid.size;
        let index = |n: usize| [n % width, n / width % height, n / (width * height)].map(|n| n as f64);
        let at = |n: usize| grid.index_to_world().transform_point3(index(n).into());
        let image: Vec<usize> = (0..fixed.voxels.len()).filter(|&n| !fixed.voxels[n].is_nan()).collect();
        let some = image.iter().step_by(image.len().div_ceil(SAMPLES).max(1));
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
    fn information(&self, map: &DAffine3) -> f64 {
        let mut counts = vec![0_u32; BINS * BINS];
        self.pairs(map).for_each(|(_, fixed, moving)| counts[usize::from(moving) * BINS + usize::from(fixed)] += 1);
        let met: u32 = counts.iter().sum();
        if (met as usize) < self.least { 0.0 } else { metric::information(&counts, BINS) }
    }

    /// Reflections through the middle.
    fn reflections(&self) -> Vec<DAffine3> {
        let normals: Vec<DVec3> = if self.grid.is_flat() {
            let line = |n: u32| libm::sincos(PI * f64::from(n) / f64::from(LINES));
            (0..LINES).map(line).map(|(sin, cos)| DVec3::new(cos, sin, 0.0)).collect()
        } else {
            let tilts = [-TILT, 0.0, TILT];
            let tilted = |[a, b, c]: [DVec3; 3]| tilts.map(|y| tilts.map(|z| (a + y * b + z * c).normalize()));
            let [x, y, z] = DVec3::AXES;
            [[x, y, z], [y, z, x], [z, x, y]].into_iter().flat_map(tilted).flatten().collect()
        };
        let reflection = |normal: DVec3| {
            let turn =
                DMat3::IDENTITY - 2.0 * DMat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
            DAffine3::from_mat3_translation(turn, self.middle - turn * self.middle)
        };
        normals.into_iter().map(reflection).collect()
    }

    /// Where a rigid climb from a map ends, and the information there; first step and resolution in voxels.
    fn climbed(&self, from: DAffine3, (step, resolution): (f64, f64)) -> Result<(DAffine3, f64)> {
        let steps = Steps::new(Kind::Rigid, Dimension::of(self.grid), self.grid);
        let mm = self.grid.spacing.max_element();
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
