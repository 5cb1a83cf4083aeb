//! Whether a small image agrees as well at other places of a larger one.
//!
//! Among very many places some agree well by chance, the better the fewer voxels there are. So the small image is laid all over the large one,
//! the best places climb, and where the images were placed they have to agree better than where those end.

use super::binned::Ranged;
use super::samples::Samples;
use crate::Result;
use crate::image::{Prepared, pyramid};
use crate::metric::NO_INFORMATION;
use crate::plane::even::{bright, longer_side};
use glam::{DAffine3, DMat3, DVec3};
use rayon::prelude::*;
use serde::Serialize;

/// A small image covers less than this part of what a large one does, mm^3.
const SMALL: f64 = 0.5;
/// Voxels along the longest side of a small image and of a large one, where there are as many.
const SIDE: f64 = 64.0;
const LARGE_SIDE: f64 = 256.0;
/// Voxels of the small image that are compared at all places, and where places climb.
const SCAN: usize = 1000;
const SAMPLES: usize = 5000;
/// How far places lie apart, as a part of what the small image shows along each axis, and how many are looked at at most.
const STEP: f64 = 0.5;
const PLACES: f64 = 20_000.0;
/// Places that climb, and how far these lie apart at least, steps along the shortest axis.
const CLIMB: usize = 16;
const APART: f64 = 1.5;
/// First step and resolution of a climb, voxels.
const BY_INTENSITIES: (f64, f64) = (2.0, 0.25);

/// The best other place of a small image in a large one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Elsewhere {
    /// How many times as much as there the intensities tell about each other where the images were placed.
    pub times: f64,
    /// How far away it is, mm.
    pub distance_mm: f64,
    /// The map that leads there, fixed point to moving point, LPS mm.
    #[serde(skip)]
    pub to: DAffine3,
}

/// Of a fixed and a moving image that were placed by `to` (fixed point to moving point, LPS mm); none where neither is much smaller.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped)
pub fn elsewhere([fixed, moving]: [&Prepared; 2], to: &DAffine3) -> Result<Option<Elsewhere>> {
    let [of_fixed, of_moving] = [fixed, moving].map(|image| super::volume(&image.image.geometry));
    if fixed.image.geometry.is_flat() || of_fixed.min(of_moving) >= SMALL * of_fixed.max(of_moving) {
        return Ok(None);
    }
    if of_fixed < of_moving {
        return best([fixed, moving], to);
    }
    let back = |found: Elsewhere| Elsewhere { to: found.to.inverse(), ..found };
    best([moving, fixed], &to.inverse()).map(|found| found.map(back))
}

/// The same of a small and a large image.
fn best([small, large]: [&Prepared; 2], to: &DAffine3) -> Result<Option<Elsewhere>> {
    let small = shown(small, longer_side(&small.image.geometry) / SIDE);
    let mm = small.0.geometry.spacing.min_element().max(longer_side(&large.image.geometry) / LARGE_SIDE);
    let images = [small, shown(large, mm)];
    let samples = Samples::of(&images, to, SAMPLES);
    let distance = |a: &DAffine3, b: &DAffine3| {
        let there = b.transform_point3(samples.middle);
        (a.inverse().transform_point3(there) - samples.middle).length()
    };
    let (maps, step_mm) = places(&Samples::of(&images, to, SCAN), to);
    let (mut here, mut best) = (samples.information(to), None);
    let mut consider = |end: (DAffine3, f64), near: f64| match distance(to, &end.0) < near {
        true => here = end.1.max(here),
        false => best = Some(best.filter(|best: &(_, f64)| best.1 >= end.1).unwrap_or(end)),
    };
    // The result is a little off its own top, too.
    let (first, _) = BY_INTENSITIES;
    consider(samples.climbed(*to, BY_INTENSITIES)?, first * samples.grid.spacing.max_element());
    let mut tried: Vec<DAffine3> = Vec::new();
    for map in maps {
        if tried.len() < CLIMB && tried.iter().all(|other| distance(other, &map) >= APART * step_mm) {
            tried.push(map);
            consider(samples.climbed(map, BY_INTENSITIES)?, STEP * step_mm);
        }
    }
    let found = |(end, most): (DAffine3, f64)| {
        let times = here.max(0.0) / most.max(NO_INFORMATION);
        Elsewhere { times, distance_mm: distance(to, &end), to: end }
    };
    Ok(best.map(found))
}

/// What of an image is brighter than its surround and within its mask, on a grid of about `mm`.
fn shown(image: &Prepared, mm: f64) -> Ranged {
    let picture = pyramid::level(&image.image, mm);
    let mask = image.mask().map(|mask| pyramid::level(mask, mm));
    let bright = bright(&picture.voxels);
    let counts = |n: usize| bright[n] && mask.as_ref().is_none_or(|mask| mask.voxels[n] >= 0.5);
    (picture.only(counts), image.intensities.range)
}

/// The maps that lay the small image elsewhere in the large one, where enough of both is image, best first; and the least distance between
/// them, mm.
fn places(samples: &Samples, to: &DAffine3) -> (Vec<DAffine3>, f64) {
    let (steps, step_mm) = steps(samples, to);
    let large = &samples.moving.0.geometry;
    let middle = large.world_to_index().transform_point3(to.transform_point3(samples.middle));
    let size = DVec3::from_array(large.size.map(|n| n as f64));
    let inside = |n: &DVec3| {
        let at = middle + steps * *n;
        at.cmpge(DVec3::ZERO).all() && at.cmplt(size).all() && *n != DVec3::ZERO
    };
    let shifted = |n: DVec3| DAffine3::from_translation(large.index_to_world().matrix3 * (steps * n)) * *to;
    let maps: Vec<_> = lattice(steps.inverse().abs() * size).filter(inside).map(shifted).collect();
    let told = |map: DAffine3| (samples.information(&map), map);
    let mut told: Vec<_> = maps.into_par_iter().map(told).filter(|(information, _)| *information > 0.0).collect();
    told.sort_by(|a, b| b.0.total_cmp(&a.0));
    (told.into_iter().map(|(_, map)| map).collect(), step_mm)
}

/// The steps between places, voxels of the large image along the small one's axes, and the shortest of them, mm.
fn steps(samples: &Samples, to: &DAffine3) -> (DMat3, f64) {
    let (grid, large) = (samples.grid, &samples.moving.0.geometry);
    let extents = samples.points().map(|at| grid.world_to_index().transform_point3(at)).map(|at| (at, at));
    let extent = extents.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)));
    let side = extent.map_or(DVec3::ONE, |(first, last)| (last - first).max(DVec3::ONE));
    let to_large = large.world_to_index().matrix3 * to.matrix3 * grid.index_to_world().matrix3;
    let along = |step: DVec3| to_large * DMat3::from_diagonal(step);
    let number = large.voxels() as f64 / along(STEP * side).determinant().abs();
    let step = STEP * side * (number / PLACES).max(1.0).cbrt();
    (along(step), (step * grid.spacing).min_element())
}

/// All whole numbers of steps up to `reach` along each axis.
fn lattice(reach: DVec3) -> impl Iterator<Item = DVec3> {
    let [x, y, z] = reach.ceil().to_array().map(|n| n as i32);
    let row = move |y: i32, z: i32| (-x..=x).map(move |x| DVec3::new(x.into(), y.into(), z.into()));
    (-z..=z).flat_map(move |z| (-y..=y).flat_map(move |y| row(y, z)))
}
