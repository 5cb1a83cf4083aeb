//! Searches the poses of parts that moved too far to be found from the poses of their neighbours, such as a head that
//! was turned by 30 degrees.

use super::elsewhere::lattice;
use super::part_poses::{Pose, STEPS, is_better};
use super::poses::{LITTLE_INFORMATION, Pair};
use super::samples::{BY_CONTRASTS, Samples};
use super::scan::Scan;
use crate::Result;
use crate::plane::local_contrast::longer_side;
use crate::threads::check_stopped;
use crate::transform::exponential;
use glam::{DAffine3, DVec3};
use rayon::prelude::*;

/// A part agrees poorly if it has less than this fraction of the information of the part that has most.
const POORLY: f64 = 1.0 / 3.0;
/// Foreground voxels that are compared at every pose.
const SCANNED: usize = 500;
/// The longest shift, as a fraction of the longest side of the smaller image.
const SHIFT: f64 = 0.2;
/// Rotations about every axis are whole steps of so many degrees. There are so many steps at most.
const TURN: f64 = 10.0;
const TURNS: f64 = 4.0;
/// Poses that are optimised.
const OPTIMISED: usize = 16;

impl Pair {
    /// Searches for poses of the parts that agree poorly, around where `to`, a map of fixed points to moving points in LPS
    /// mm, places them. `parts` are their voxels in the fixed image. What is found for one part is tried for the others,
    /// too: they often move together. Returns whether better poses were found. If no part has much information, none is
    /// searched for.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped)
    pub fn search_parts(
        &self,
        parts: &[Vec<usize>],
        samples: &[Samples],
        to: &DAffine3,
        poses: &mut [Pose],
    ) -> Result<bool> {
        let mut found = false;
        for (n, voxels) in parts.iter().enumerate() {
            let enough = POORLY * poses.iter().map(|(_, information)| *information).fold(0.0, f64::max);
            if poses[n].1 >= enough || enough < LITTLE_INFORMATION {
                continue;
            }
            let best = best(&Samples::among(voxels, &self.0, to, SCANNED), &samples[n], to)?;
            if best.1 >= enough && is_better(&best, &poses[n]) {
                found = true;
                let parts = poses.par_iter_mut().zip(samples);
                parts.try_for_each(|(pose, samples)| take_if_better(pose, &best.0, samples))?;
            }
        }
        Ok(found)
    }
}

/// Replaces the pose of a part by one from `map`, if the part agrees better there.
fn take_if_better(pose: &mut Pose, map: &DAffine3, samples: &Samples) -> Result<()> {
    let there = finely_optimised(samples, *map)?;
    if there.1 > pose.1 {
        *pose = there;
    }
    Ok(())
}

/// Returns the best pose of a part around `to`. At every pose only a `few` of its samples are compared.
fn best(few: &Samples, samples: &Samples, to: &DAffine3) -> Result<Pose> {
    let longest = [few.grid, &few.moving.0.geometry].map(longer_side);
    let scan = Scan::new(few, SHIFT * longest[0].min(longest[1]));
    let turned = rotated(few.middle, to).into_par_iter().map(|map| {
        check_stopped()?;
        Ok(scan.best(&map))
    });
    let mut ranked = turned.collect::<Result<Vec<_>>>()?;
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    let ends = ranked[..OPTIMISED.min(ranked.len())].par_iter().map(|(map, _)| samples.optimised(*map, STEPS));
    let ends = ends.collect::<Result<Vec<_>>>()?;
    let (map, _) = ends.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((*to, 0.0));
    finely_optimised(samples, map)
}

/// Optimises a pose by coarse and then by fine steps: information falls off fast around the best pose.
fn finely_optimised(samples: &Samples, map: DAffine3) -> Result<Pose> {
    let (map, _) = samples.optimised(map, STEPS)?;
    samples.optimised(map, BY_CONTRASTS)
}

/// Returns maps that rotate about the centre of a part, `middle`, and apply `to`.
fn rotated(middle: DVec3, to: &DAffine3) -> Vec<DAffine3> {
    let there = to.transform_point3(middle);
    let turned = |steps: DVec3| {
        let turn = exponential(TURN.to_radians() * steps);
        DAffine3::from_mat3_translation(turn, there - turn * there) * *to
    };
    lattice(DVec3::splat(TURNS)).filter(|steps| steps.length() <= TURNS).map(turned).collect()
}
