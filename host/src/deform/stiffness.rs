//! How stiff the field is: as the images want it.
//!
//! What is too soft fits noise and chance, what is too stiff misses anatomy. Which of the two it is shows where the fit has not looked: on
//! a finer level than the one it was made on, and in voxels that did not pull. So the coarse levels are climbed from stiff to soft.

use super::smoothing::Smoothing;
use super::trials::Trials;
use crate::Result;

/// The softest field: a Gaussian of less than a third of a voxel is none.
const SOFTEST: f64 = 0.32;

/// How much stiffer one field that is tried is than the next.
const RATIO: f64 = std::f64::consts::SQRT_2;

/// Fields that are tried: from 2.6 voxels.
const TRIED: i32 = 7;

/// Softer fields are not tried after so many with which the images agree less well than with a stiffer one, if better than at the start.
const WORSE: usize = 2;

/// The smoothing of the coarse levels with which the images agree best, and how they do.
pub fn found(trials: &mut Trials) -> Result<(f64, f64)> {
    let tried: Vec<f64> = (0..TRIED).rev().map(|step| SOFTEST * RATIO.powi(step)).collect();
    let mut best = (SOFTEST, f64::NEG_INFINITY);
    let mut worse = 0;
    for some in tried.chunks(trials.at_once()) {
        let smoothings: Vec<_> = some.iter().map(|&voxels| Smoothing::Found(voxels)).collect();
        let values = trials.values(&smoothings)?;
        let start = trials.start().unwrap_or(f64::NEG_INFINITY);
        // The same is found however many are tried at once.
        for (&voxels, value) in some.iter().zip(values) {
            if value > best.1 {
                (best, worse) = ((voxels, value), 0);
            } else {
                worse += 1;
            }
            // Where even the best leads away from the start, a softer field may not.
            if worse >= WORSE && best.1 > start {
                return Ok(best);
            }
        }
    }
    Ok(best)
}

/// The smoothing of the finer levels, voxels, where the coarse ones have that of `voxels`: as much where the images want the softest
/// field, for then anatomy differs on all scales; the more of the same in mm, the stiffer they want it.
pub fn finer(voxels: f64) -> f64 {
    (voxels / SOFTEST).sqrt().sqrt() * voxels
}
