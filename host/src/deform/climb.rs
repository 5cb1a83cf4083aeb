//! The flow at one level.

use super::table::Table;
use super::{Force, Options};
use crate::backend::{Agreement, Compare, Flow, FlowStep, Score};
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

/// Smoothing of the step where nothing else is said, in voxels of the finest level, and that of the field as a part of it.
const SMOOTH: f64 = 6.0;
const SMOOTH_FIELD: f64 = 0.25;

/// Iterations of a level at most.
const ITERATIONS: usize = 100;

/// How a level is climbed.
pub struct Plan {
    pub force: Force,
    pub bins: u32,
    pub iterations: usize,
    pub step: FlowStep,
    pub window_mm: f64,
}

impl Plan {
    /// Of a level by its number, whose voxels measure `mm`; those of the finest level measure `finest_mm`.
    pub fn new(options: &Options, number: usize, mm: f64, finest_mm: f64) -> Self {
        let smooth = options.smooth_mm.unwrap_or(SMOOTH * finest_mm);
        let smooth_field = options.smooth_field_mm.unwrap_or(SMOOTH_FIELD * smooth);
        let coarser = mm / finest_mm;
        let iterations = match options.iterations.as_deref() {
            Some(all) => all.get(number).or(all.last()).copied().unwrap_or(1),
            None => ITERATIONS,
        };
        let smooth_mm = [smooth, smooth_field].map(|smooth| smooth * coarser);
        let step = FlowStep { prior_mm: mm, smooth_mm, limit: LIMIT };
        Self { force: options.force, bins: options.bins, iterations, step, window_mm: WINDOW * mm }
    }

    pub fn compare(&self) -> Compare {
        match self.force {
            Force::Lcc => Compare::Local { window_mm: self.window_mm },
            _ => Compare::Joint { bins: self.bins },
        }
    }

    /// The value of the metric, and what pulls.
    fn look(&self, flow: &mut dyn Flow) -> Result<(f64, Score)> {
        Ok(match flow.agreement()? {
            Agreement::Local { correlation, .. } => (correlation, Score::Local),
            Agreement::Joint(counts) => {
                let Table { value, scores, information } = Table::new(self.force, &counts, self.bins as usize);
                (value, Score::Joint { scores, information })
            }
        })
    }

    /// Climbs; the value before each iteration and at the end, and whether it converged.
    pub fn climb(&self, flow: &mut dyn Flow, observer: &dyn Observer) -> Result<(Vec<f64>, bool)> {
        let mut values = Vec::with_capacity(self.iterations + 1);
        loop {
            go_on(observer)?;
            let (value, score) = self.look(flow)?;
            values.push(value);
            observer.evaluated(values.len(), value);
            if values.len() > self.iterations {
                return Ok((values, false));
            }
            if converged(&values) {
                return Ok((values, true));
            }
            go_on(observer)?;
            flow.step(&score, &self.step)?;
        }
    }
}

fn converged(values: &[f64]) -> bool {
    let Some(before) = values.len().checked_sub(1 + PATIENCE) else { return false };
    let (low, high) =
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)));
    (values[values.len() - 1] - values[before]).abs() < LITTLE * (high - low)
}
