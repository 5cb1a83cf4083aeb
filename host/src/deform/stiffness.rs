//! How stiff the field is: as the images want it.
//!
//! What is too soft fits noise and chance, what is too stiff misses anatomy. Which of the two it is shows where the fit has not looked: on
//! a finer level than the one it was made on, and in voxels that did not pull. So the coarse levels are climbed with one half of the
//! voxels, from stiff to soft, and the other half says on the finest level with which field the images agree best.

use super::course::Course;
use super::flows::Flows;
use super::smoothing::Smoothing;
use crate::backend::Half;
use crate::{Observer, Result};
use std::ops::{ControlFlow, Range};

/// The softest field: a Gaussian of less than half a voxel is none.
const SOFTEST: f64 = 0.45;

/// How much stiffer one field that is tried is than the next.
const RATIO: f64 = std::f64::consts::SQRT_2;

/// Fields that are tried on coarse levels: to 2.5 voxels.
const TRIED: i32 = 6;

/// How much stiffer, in voxels, the field is on the two finest levels than on those before: between the same in voxels and the same in mm.
const FINER: f64 = std::f64::consts::SQRT_2;

/// How stiff the field is on each level: as the user says, or as the images want it.
pub fn of_levels(course: &Course) -> Result<Vec<Smoothing>> {
    let levels = course.levels.len();
    if let Some(given) = Smoothing::given(course.options, course.mm(levels - 1)) {
        return Ok(vec![given; levels]);
    }
    let (coarse, voxels) = (course.coarse(), found(course)?);
    Ok((0..levels).map(|number| Smoothing::Found(if number < coarse { voxels } else { FINER * voxels })).collect())
}

/// The Gaussian that smooths the field on the coarse levels, voxels, with which the images agree best.
fn found(course: &Course) -> Result<f64> {
    let finest = course.levels.len() - 1;
    let mut flow = Flows::new(course.backend, course.middle)?;
    let mut best = (SOFTEST, f64::NEG_INFINITY);
    for step in (0..TRIED).rev() {
        let voxels = SOFTEST * RATIO.powi(step);
        let value = course.tried(&mut flow, 0..course.coarse(), voxels, finest)?;
        if value > best.1 {
            best = (voxels, value);
        }
    }
    Ok(best.0)
}

impl Course<'_> {
    /// Climbs levels with one half of the voxels; how the other half agrees on the finest level then.
    fn tried(&self, flow: &mut Flows, levels: Range<usize>, voxels: f64, finest: usize) -> Result<f64> {
        let mut before = None;
        for number in levels {
            self.enter(flow, number, before)?;
            let quiet = Quiet(self.observer);
            self.plan(number).climb(flow.climb(), Half::First, Smoothing::Found(voxels), &quiet)?;
            before = Some(number);
        }
        if before != Some(finest) {
            self.enter(flow, finest, before)?;
        }
        self.plan(finest).value(flow.climb(), Half::Second)
    }
}

/// An observer that hears nothing, but may stop a run.
struct Quiet<'a>(&'a dyn Observer);

impl Observer for Quiet<'_> {
    fn proceed(&self) -> ControlFlow<()> {
        self.0.proceed()
    }
}
