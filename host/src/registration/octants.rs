//! Finds where each octant of two volumes agrees best by itself.
//!
//! A linear transform follows the larger part of the body, and agrees clearly whatever the smaller part does, such as a
//! head that was turned over still shoulders.

use super::place::Foregrounds;
use super::samples::Samples;
use super::trust::AS_GOOD;
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
    /// Bit n of an octant's number is set if it lies beyond the centre along axis n. 2-D images have none.
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

impl Foregrounds {
    /// Finds where each octant of two volumes agrees best, near where `to` or the pose of another octant places it.
    /// Maps take fixed points to moving points, LPS mm.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped)
    pub fn octants(&self, to: &DAffine3) -> Result<Octants> {
        let images = &self.local_contrast().0;
        let (middle, octants) = self.divided(to);
        let samples: Vec<_> = octants.iter().map(|octant| Samples::among(octant, images, to, SAMPLES)).collect();
        let start: Vec<Pose> = samples.iter().map(|samples| (*to, samples.information(to))).collect();
        let mut poses = start.clone();
        let mut rises = vec![true; samples.len()];
        for _ in 0..ROUNDS {
            let next = samples.par_iter().zip(&poses).zip(&rises).map(|((samples, &pose), &rises)| {
                let from = best_for(samples, pose, &poses);
                if rises || from != pose { optimised(samples, from, pose) } else { Ok(pose) }
            });
            let next: Vec<_> = next.collect::<Result<_>>()?;
            rises = next.iter().zip(&poses).map(|(new, old)| is_better(new, old)).collect();
            poses = next;
            if !rises.contains(&true) {
                break;
            }
        }
        let found = poses.iter().zip(&start).zip(samples.iter().zip(octants));
        let found = found.map(|((pose, start), (samples, voxels))| {
            let middle = samples.middle;
            let mm = pose.0.transform_point3(middle).distance(to.transform_point3(middle));
            let is_displaced = is_better(pose, start) && mm > samples.grid.spacing_range()[1];
            Octant { voxels, middle, map: pose.0, displaced_mm: is_displaced.then_some(mm) }
        });
        Ok(Octants { middle, all: found.collect() })
    }

    /// Divides the fixed image's foreground by the centre of what is foreground in both images at the map `to`.
    fn divided(&self, to: &DAffine3) -> (DVec3, Vec<Vec<usize>>) {
        let images = &self.local_contrast().0;
        let (fixed, _) = &images[0];
        let (grid, foreground) = (&fixed.geometry, foreground(&fixed.voxels));
        let common = Samples::among(&foreground, images, to, SAMPLES).middle;
        if grid.is_flat() {
            return (common, Vec::new());
        }
        let middle = grid.world_to_index().transform_point3(common);
        let mut octants = vec![Vec::new(); 8];
        foreground.into_iter().for_each(|n| octants[octant(grid.index_of(n).map(|i| i as f64).into(), middle)].push(n));
        (common, octants)
    }
}

/// Returns the number of the octant about `middle` in which a voxel lies.
pub fn octant(voxel: DVec3, middle: DVec3) -> usize {
    voxel.cmpgt(middle).bitmask() as usize
}

fn foreground(voxels: &[f32]) -> Vec<usize> {
    (0..voxels.len()).filter(|&n| !voxels[n].is_nan()).collect()
}

/// Returns an octant's own pose or, if that is better, another one's: what is right for one part is often right for its
/// neighbours.
fn best_for(samples: &Samples, own: Pose, all: &[Pose]) -> Pose {
    let others = all.iter().map(|(map, _)| (*map, samples.information(map)));
    others.fold(own, |best, other| if is_better(&other, &best) { other } else { best })
}

/// Optimises an octant from a pose. Returns `known` if that does not lead to more information.
fn optimised(samples: &Samples, from: Pose, known: Pose) -> Result<Pose> {
    let found = samples.optimised(from.0, STEPS)?;
    Ok(if found.1 > known.1 { found } else { known })
}

fn is_better((_, information): &Pose, (_, than): &Pose) -> bool {
    is_clearly_more(*information, *than)
}

/// Returns whether the mutual information at one pose makes it better than one with the information `than`.
pub fn is_clearly_more(information: f64, than: f64) -> bool {
    information * AS_GOOD > than
}
