//! Two displacement fields that meet in the middle.

use super::{Agreement, FieldOptimizer, Flow, FlowLevel, FlowPair, FlowStep, Halves, WeightedScore};
use crate::Result;

/// A flow whose resampled images can serve as the fixed images of another flow on the same grid.
pub trait ResamplesInto: Flow {
    /// Resamples the moving images through the field, and makes the results the fixed images of the other flow. The
    /// masks of those keep the voxels that lie inside the moving image and its mask.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn resample_into(&mut self, other: &mut Self) -> Result<()>;
}

/// Two flows on one grid.
pub struct Pair<F> {
    flows: [F; 2],
}

impl<F: ResamplesInto> Pair<F> {
    pub fn new(flows: [F; 2]) -> Self {
        Self { flows }
    }
}

impl<F: ResamplesInto> FieldOptimizer for Pair<F> {
    fn agreement(&mut self, half: Halves) -> Result<Vec<Agreement>> {
        let [one, two] = &mut self.flows;
        one.resample_into(two)?;
        two.resample_into(one)?;
        Ok([one.agreement(half)?, two.agreement(half)?].concat())
    }

    fn step(&mut self, scores: &[WeightedScore], step: &FlowStep) -> Result<()> {
        let (of_one, of_two) = scores.split_at(scores.len() / 2);
        let [one, two] = &mut self.flows;
        one.step(of_one, step)?;
        two.step(of_two, step)
    }

    fn smooth(&mut self, mm: f64) -> Result<()> {
        self.flows.iter_mut().try_for_each(|flow| flow.smooth(mm))
    }

    fn relax(&mut self, limits: [f32; 2], rounds: u32) -> Result<()> {
        let [low, high] = limits;
        let [one, two] = &mut self.flows;
        one.relax([1.0 / high, 1.0 / low], rounds)?;
        two.relax(limits, rounds)
    }

    fn jacobian_range(&mut self) -> Result<[f32; 2]> {
        let [one, two] = &mut self.flows;
        let ([low, high], [other_low, other_high]) = (one.jacobian_range()?, two.jacobian_range()?);
        Ok([low.min(other_low), high.max(other_high)])
    }
}

impl<F: ResamplesInto> FlowPair for Pair<F> {
    fn level(&mut self, levels: [&FlowLevel; 2]) -> Result<()> {
        self.flows.iter_mut().zip(levels).try_for_each(|(flow, level)| flow.level(level))
    }

    fn take(&mut self, planes: &[f32], size: [usize; 3], from: [[f32; 3]; 2]) -> Result<()> {
        let opposite: Vec<f32> = planes.iter().map(|way| -way).collect();
        let [one, two] = &mut self.flows;
        one.take(&opposite, size, from)?;
        two.take(planes, size, from)
    }

    fn fields(&mut self) -> Result<[Vec<f32>; 2]> {
        let [one, two] = &mut self.flows;
        Ok([one.field()?, two.field()?])
    }
}
