//! The flow at one level.

use super::Force;
use super::smoothing::Smoothing;
use super::table::Table;
use crate::backend::{Agreement, Compare, Flow, FlowStep, Half, Score};
use crate::observer::go_on;
use crate::{Observer, Result};

/// No voxel moves further in an iteration, voxels.
const LIMIT: f32 = 0.5;

/// A level has converged when in so many iterations the value changed by less than this part of how far apart its values on the level
/// are.
const PATIENCE: usize = 20;
const LITTLE: f64 = 2e-3;

/// The window of local correlation, in voxels of a level.
const WINDOW: f64 = 2.5;

/// How a level is climbed.
pub struct Plan {
    pub force: Force,
    pub bins: u32,
    pub iterations: usize,
    /// The distance between the level's voxels, mm.
    pub mm: f64,
}

impl Plan {
    pub fn compare(&self) -> Compare {
        match self.force {
            Force::Lcc => Compare::Local { window_mm: WINDOW * self.mm },
            _ => Compare::Joint { bins: self.bins },
        }
    }

    /// The value of the metric over the voxels of a half, and what pulls.
    fn look(&self, flow: &mut dyn Flow, half: Half) -> Result<(f64, Score)> {
        Ok(match flow.agreement(half)? {
            Agreement::Local { correlation, .. } => (correlation, Score::Local),
            Agreement::Joint(counts) => {
                let Table { value, scores, information } = Table::new(self.force, &counts, self.bins as usize);
                (value, Score::Joint { scores, information })
            }
        })
    }

    /// The value of the metric over the voxels of a half.
    pub fn value(&self, flow: &mut dyn Flow, half: Half) -> Result<f64> {
        self.look(flow, half).map(|(value, _)| value)
    }

    /// Climbs, pulled by the voxels of a half; the value before each iteration and at the end, and whether it converged.
    pub fn climb(
        &self,
        flow: &mut dyn Flow,
        half: Half,
        smoothing: Smoothing,
        observer: &dyn Observer,
    ) -> Result<(Vec<f64>, bool)> {
        let step = FlowStep { half, prior_mm: self.mm, smooth_mm: smoothing.sigmas_mm(self.mm), limit: LIMIT };
        let mut values = Vec::with_capacity(self.iterations + 1);
        loop {
            go_on(observer)?;
            let (value, score) = self.look(flow, Half::Both)?;
            values.push(value);
            observer.evaluated(values.len(), value);
            if values.len() > self.iterations {
                return Ok((values, false));
            }
            if converged(&values) {
                return Ok((values, true));
            }
            go_on(observer)?;
            flow.step(&score, &step)?;
        }
    }
}

fn converged(values: &[f64]) -> bool {
    let Some(before) = values.len().checked_sub(1 + PATIENCE) else { return false };
    let (low, high) =
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)));
    (values[values.len() - 1] - values[before]).abs() < LITTLE * (high - low)
}
