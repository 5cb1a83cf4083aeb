//! How stiff the field is: as the images want it.
//!
//! What is too soft fits noise and chance, what is too stiff misses anatomy. Which of the two it is shows where the fit has not looked: on
//! a finer level than the one it was made on, and in voxels that did not pull. So the coarse levels are climbed from stiff to soft.

use super::smoothing::Smoothing;
use super::trials::{Trials, Tried};
use crate::Result;

/// The softest field: a Gaussian of less than a third of a voxel is none.
const SOFTEST: f64 = 0.32;

/// How much stiffer one field that is tried is than the next.
const RATIO: f64 = std::f64::consts::SQRT_2;

/// Fields that are tried: from 2.6 voxels.
const TRIED: i32 = 7;

/// Softer fields are not tried after so many that are worse than a stiffer one.
const WORSE: usize = 2;

/// The smoothing of the coarse levels with which the images agree best, of those whose bending they account for, and how they do. Where they
/// account for none, it is the stiffest.
pub fn found(trials: &mut Trials) -> Result<(f64, f64)> {
    let all: Vec<f64> = (0..TRIED).rev().map(|step| SOFTEST * RATIO.powi(step)).collect();
    let (mut stiffest, mut best) = (None, None);
    let mut worse = 0;
    for some in all.chunks(trials.at_once()) {
        let smoothings: Vec<_> = some.iter().map(|&voxels| Smoothing::Found(voxels)).collect();
        let tried = trials.all(&smoothings)?;
        // The same is found however many are tried at once.
        for (&voxels, Tried { nats, accounts }) in some.iter().zip(tried) {
            stiffest.get_or_insert((voxels, nats));
            match best {
                Some((_, most)) if !accounts || nats <= most => worse += 1,
                _ if accounts => (best, worse) = (Some((voxels, nats)), 0),
                _ => {}
            }
            if worse >= WORSE {
                return Ok(best.or(stiffest).unwrap_or_default());
            }
        }
    }
    Ok(best.or(stiffest).unwrap_or_default())
}

/// The smoothing of the finer levels, voxels, where the coarse ones have that of `voxels`: as much where the images want the softest
/// field, for then anatomy differs on all scales; the more of the same in mm, the stiffer they want it.
pub fn finer(voxels: f64) -> f64 {
    (voxels / SOFTEST).sqrt().sqrt() * voxels
}
