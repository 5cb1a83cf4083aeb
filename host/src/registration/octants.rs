//! Finds where each octant of two volumes agrees best by itself.
//!
//! A linear transform follows the larger part of the body, and agrees clearly whatever the smaller part does, such as a
//! head that was turned over still shoulders.

use super::poses::Pair;
use super::samples::{Samples, foreground_voxels};
use super::trust::is_clearly_more;
use crate::Result;
use glam::{DAffine3, DVec3};
use rayon::prelude::*;

/// Foreground voxels by which the common foreground is divided, and by which each octant is optimised.
const SAMPLES: usize = 2000;
/// First step and resolution of an optimisation, voxels.
const STEPS: (f64, f64) = (2.0, 0.5);
/// How often an octant is optimised at most. A pose may have to be handed on from neighbour to neighbour.
const ROUNDS: usize = 5;

/// The fixed image's foreground, divided into octants, and where local contrast in each of them agrees best.
pub struct Octants {
    /// The centre of what is foreground in both images, LPS mm in the fixed image. It divides the octants along the axes
    /// of the fixed image's grid.
    pub middle: DVec3,
    /// Bit n of an octant's number is set if it lies beyond the centre along axis n.
    pub all: Vec<Octant>,
}

/// A part of the fixed image's foreground, and where its local contrast agrees best.
pub struct Octant {
    /// Its foreground voxels.
    pub voxels: Vec<usize>,
    /// The centre of those that fall on the moving image's foreground, LPS mm in the fixed image.
    pub middle: DVec3,
    /// Where it agrees best: a map of fixed points to moving points, LPS mm.
    pub map: DAffine3,
    /// How far from the result its centre then lies, mm, if that is more than a voxel and it agrees better there.
    pub displaced_mm: Option<f64>,
}

/// A pose of an octant, and the mutual information of its local contrast there, nats beyond chance.
type Pose = (DAffine3, f64);

impl Pair {
    /// Finds where each octant of two volumes agrees best, near where `to` or the pose of another octant places it.
    /// Maps take fixed points to moving points, LPS mm. Returns `None` for 2-D images.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped)
    pub fn octants(&self, to: &DAffine3) -> Result<Option<Octants>> {
        if self.fixed().geometry.is_flat() {
            return Ok(None);
        }
        let (middle, octants) = self.divided(to);
        let samples: Vec<_> = octants.iter().map(|octant| Samples::among(octant, &self.0, to, SAMPLES)).collect();
        let start: Vec<Pose> = samples.iter().map(|samples| (*to, samples.information(to))).collect();
        let poses = optimised(&samples, start.clone())?;
        let found = poses.iter().zip(&start).zip(samples.iter().zip(octants));
        let found = found.map(|((pose, start), (samples, voxels))| {
            let middle = samples.middle;
            let mm = pose.0.transform_point3(middle).distance(to.transform_point3(middle));
            let is_displaced = is_better(pose, start) && mm > samples.grid.spacing_range()[1];
            Octant { voxels, middle, map: pose.0, displaced_mm: is_displaced.then_some(mm) }
        });
        Ok(Some(Octants { middle, all: found.collect() }))
    }

    /// Divides the fixed image's foreground by the centre of what is foreground in both images at the map `to`. Returns
    /// the centre, LPS mm in the fixed image, and the voxels of the octants.
    fn divided(&self, to: &DAffine3) -> (DVec3, Vec<Vec<usize>>) {
        let grid = &self.fixed().geometry;
        let common = Samples::of(&self.0, to, SAMPLES).middle;
        let middle = grid.world_to_index().transform_point3(common);
        let mut octants = vec![Vec::new(); 8];
        for n in foreground_voxels(self.fixed()) {
            octants[octant(grid.index_of(n).map(|i| i as f64).into(), middle)].push(n);
        }
        (common, octants)
    }
}

/// Optimises each octant from its pose and, as long as that helps, from its own and the others' new ones.
fn optimised(samples: &[Samples], mut poses: Vec<Pose>) -> Result<Vec<Pose>> {
    let mut rises = vec![true; samples.len()];
    for _ in 0..ROUNDS {
        let next = samples.par_iter().zip(&poses).zip(&rises).map(|((samples, &pose), &rises)| {
            let from = best_for(samples, pose, &poses);
            if !rises && from == pose {
                return Ok(pose);
            }
            let found = samples.optimised(from.0, STEPS)?;
            Ok(if found.1 > pose.1 { found } else { pose })
        });
        let next: Vec<_> = next.collect::<Result<_>>()?;
        rises = next.iter().zip(&poses).map(|(new, old)| is_better(new, old)).collect();
        poses = next;
        if !rises.contains(&true) {
            break;
        }
    }
    Ok(poses)
}

/// Returns the number of the octant about `middle` in which a voxel lies.
pub fn octant(voxel: DVec3, middle: DVec3) -> usize {
    voxel.cmpgt(middle).bitmask() as usize
}

/// Returns an octant's own pose or, if that is better, another one's: what is right for one part is often right for its
/// neighbours.
fn best_for(samples: &Samples, own: Pose, all: &[Pose]) -> Pose {
    let others = all.iter().map(|(map, _)| (*map, samples.information(map)));
    others.fold(own, |best, other| if is_better(&other, &best) { other } else { best })
}

fn is_better((_, information): &Pose, (_, than): &Pose) -> bool {
    is_clearly_more(*information, *than)
}
