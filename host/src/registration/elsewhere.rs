//! Checks whether a small volume agrees as well at another position in a larger one.
//!
//! Of very many positions some agree well by chance, and the better the fewer voxels there are. So the small volume is
//! compared all over the large one, and the best positions are optimised. The result must agree better than all of
//! them.

use super::binned::Ranged;
use super::samples::Samples;
use crate::Result;
use crate::image::{Prepared, pyramid};
use crate::metric::NO_INFORMATION;
use crate::plane::foreground::foreground_mask;
use crate::plane::local_contrast::longer_side;
use glam::{DAffine3, DMat3, DVec3};
use rayon::prelude::*;
use serde::Serialize;

/// A volume is small if it covers less than this fraction of what the other one does, mm^3.
const SMALL: f64 = 0.5;
/// The most voxels along the longest side of the small and of the large volume.
const SIDE: f64 = 64.0;
const LARGE_SIDE: f64 = 256.0;
/// Foreground voxels of the small volume that are compared at every position, and that positions are optimised by.
const SCAN: usize = 1000;
const SAMPLES: usize = 5000;
/// The distance between positions as a fraction of the extent of the small volume's foreground along each axis, and the
/// most positions.
const STEP: f64 = 0.5;
const PLACES: f64 = 20_000.0;
/// Positions that are optimised, and the least distance between them, in steps along the axis on which steps are
/// shortest.
const OPTIMISED: usize = 16;
const APART: f64 = 1.5;
/// First step and resolution of an optimisation, voxels.
const BY_INTENSITIES: (f64, f64) = (2.0, 0.25);

/// The best other position of a small volume in a large one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Elsewhere {
    /// The mutual information of intensities at the result, as a multiple of that at the other position.
    pub times: f64,
    /// The distance between the two, mm.
    pub distance_mm: f64,
    /// The map at the other position, of fixed points to moving points, LPS mm.
    #[serde(skip)]
    pub to: DAffine3,
}

/// Searches for the best position of the smaller volume away from the result `to`, a map of fixed points to moving
/// points, LPS mm. Returns `None` for 2-D images, and if neither volume is much smaller than the other.
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

/// Does the same for a small and a large volume; `to` maps the small one to the large one.
fn best([small, large]: [&Prepared; 2], to: &DAffine3) -> Result<Option<Elsewhere>> {
    let small = foreground_on_grid(small, longer_side(&small.image.geometry) / SIDE);
    let mm = small.0.geometry.spacing.min_element().max(longer_side(&large.image.geometry) / LARGE_SIDE);
    let images = [small, foreground_on_grid(large, mm)];
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
    // The result is not quite at its own maximum either, so it is optimised in the same way.
    let (first, _) = BY_INTENSITIES;
    consider(samples.optimised(*to, BY_INTENSITIES)?, first * samples.grid.spacing.max_element());
    let mut tried: Vec<DAffine3> = Vec::new();
    for map in maps {
        if tried.len() < OPTIMISED && tried.iter().all(|other| distance(other, &map) >= APART * step_mm) {
            tried.push(map);
            consider(samples.optimised(map, BY_INTENSITIES)?, STEP * step_mm);
        }
    }
    let found = |(end, most): (DAffine3, f64)| {
        let times = here.max(0.0) / most.max(NO_INFORMATION);
        Elsewhere { times, distance_mm: distance(to, &end), to: end }
    };
    Ok(best.map(found))
}

/// Returns the foreground of an image inside its mask on a grid of about `mm`, NaN elsewhere, with its intensity range.
fn foreground_on_grid(image: &Prepared, mm: f64) -> Ranged {
    let picture = pyramid::level(&image.image, mm);
    let mask = image.mask().map(|mask| pyramid::level(mask, mm));
    let foreground = foreground_mask(&picture, mask.as_deref());
    (picture.only(|n| foreground[n]), image.intensities.range)
}

/// Returns the maps that place the small volume elsewhere in the large one, best first, and the least distance between
/// positions, mm. Maps at which too few samples fall on the large volume's foreground are left out.
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
    // A step is a voxel or longer. A singular transform has no inverse, and its reach is not a number.
    let reach = (steps.inverse().abs() * size).min(DVec3::splat(size.length()));
    let maps: Vec<_> = lattice(reach).filter(inside).map(shifted).collect();
    let ranked = |map: DAffine3| (samples.information(&map), map);
    let mut ranked: Vec<_> = maps.into_par_iter().map(ranked).filter(|(information, _)| *information > 0.0).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    (ranked.into_iter().map(|(_, map)| map).collect(), step_mm)
}

/// Returns the steps between positions, in voxels of the large volume, along the small volume's axes or, if the map
/// shears those, at right angles. Also returns the shortest step as seen in the small volume, mm.
fn steps(samples: &Samples, to: &DAffine3) -> (DMat3, f64) {
    let (grid, large) = (samples.grid, &samples.moving.0.geometry);
    let extents = samples.points().map(|at| grid.world_to_index().transform_point3(at)).map(|at| (at, at));
    let extent = extents.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)));
    let side = extent.map_or(DVec3::ONE, |(first, last)| (last - first).max(DVec3::ONE));
    let to_large = large.world_to_index().matrix3 * to.matrix3 * grid.index_to_world().matrix3;
    let along = |step: DVec3| to_large * DMat3::from_diagonal(step);
    let number = large.voxels() as f64 / along(STEP * side).determinant().abs();
    let step = STEP * side * (number / PLACES).max(1.0).cbrt();
    (at_right_angles(along(step)), (step * grid.spacing).min_element())
}

/// Returns steps at right angles that cover space as densely, but for those that would be shorter than a voxel. A
/// transform that went wrong may flatten the small volume: then billions of steps along its own axes would fit into the
/// large one.
fn at_right_angles(steps: DMat3) -> DMat3 {
    let x = steps.x_axis;
    let y = steps.y_axis.reject_from(x);
    let z = steps.z_axis.reject_from(x).reject_from(y);
    let [x, y, z] = [x, y, z].map(|step| step * step.length_recip().max(1.0));
    DMat3::from_cols(x, y, z)
}

/// Iterates over all whole numbers of steps up to `reach` in either direction of each axis.
pub fn lattice(reach: DVec3) -> impl Iterator<Item = DVec3> {
    let [x, y, z] = reach.ceil().to_array().map(|n| n as i32);
    let row = move |y: i32, z: i32| (-x..=x).map(move |x| DVec3::new(x.into(), y.into(), z.into()));
    (-z..=z).flat_map(move |z| (-y..=y).flat_map(move |y| row(y, z)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::IntensityRange;
    use crate::{Geometry, PixelType, Volume, random};

    #[test]
    fn a_transform_that_flattens_the_small_volume_is_soon_compared() {
        let volume = |side: usize| {
            let geometry = Geometry::axis_aligned([side; 3], DVec3::ONE, DVec3::splat(-0.5 * side as f64));
            let voxels = (0..geometry.voxels()).map(|n| 1.0 + random::uniform(3, n as u64) as f32).collect();
            Volume { geometry, voxels, pixel: PixelType::F32 }
        };
        let volumes = [40, 60].map(volume);
        let images = volumes.each_ref().map(|volume| Prepared::new(volume, None, IntensityRange::Auto));
        // The third axis lies in the plane of the others, nearly and exactly.
        let flat = |z: f64| DMat3::from_cols(DVec3::X, DVec3::Y, 0.01 * DVec3::new(0.8, 0.6, z));
        for z in [1e-4, 0.0] {
            let found = elsewhere(images.each_ref(), &DAffine3::from_mat3(flat(z))).unwrap();
            assert!(found.is_none_or(|found| found.times < 1.5), "{found:?}");
        }
    }
}
