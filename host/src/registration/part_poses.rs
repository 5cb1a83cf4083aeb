//! Finds the poses at which parts of two volumes agree best, each by itself.

use super::poses::is_clearly_more;
use super::samples::Samples;
use crate::Result;
use glam::DAffine3;
use rayon::prelude::*;
use std::iter;

/// Foreground voxels by which each part is optimised, and by whose centre octants are divided.
pub const SAMPLES: usize = 2000;
/// First step and resolution of an optimisation, voxels.
pub const STEPS: (f64, f64) = (2.0, 0.5);
/// How many rounds of optimisations there are at most. A pose may have to be handed on from neighbour to neighbour.
const ROUNDS: usize = 5;

/// A pose of a part, and the mutual information of its local contrast there, nats beyond chance.
pub type Pose = (DAffine3, f64);

/// Optimises each part from its pose and, as long as that helps any of them, from the best of all new poses and from its
/// own: what is right for one part is nearly right for its neighbours.
pub fn optimised(samples: &[Samples], mut poses: Vec<Pose>) -> Result<Vec<Pose>> {
    let mut tried: Vec<Vec<DAffine3>> = vec![Vec::new(); samples.len()];
    for _ in 0..ROUNDS {
        let all = poses.clone();
        let next = samples.par_iter().zip(&mut poses).zip(&mut tried);
        let rises = next.map(|((samples, pose), tried)| {
            let before = *pose;
            for map in iter::once(pose.0).chain(best_for(samples, &all)) {
                if tried.contains(&map) {
                    continue;
                }
                tried.push(map);
                let found = samples.optimised(map, STEPS)?;
                if found.1 > pose.1 {
                    *pose = found;
                }
            }
            Ok(is_better(pose, &before))
        });
        if !rises.collect::<Result<Vec<bool>>>()?.contains(&true) {
            break;
        }
    }
    Ok(poses)
}

/// Of the poses of all parts, returns the one at which this part agrees best.
fn best_for(samples: &Samples, all: &[Pose]) -> Option<DAffine3> {
    let poses = all.iter().map(|(map, _)| (*map, samples.information(map)));
    poses.max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(map, _)| map)
}

/// Returns whether the information at a pose is clearly more than at another.
pub fn is_better((_, information): &Pose, (_, than): &Pose) -> bool {
    is_clearly_more(*information, *than)
}
