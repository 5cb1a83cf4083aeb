//! The optimisation of a displacement field on a device.

mod grid;
mod joint;
mod kernels;
mod landmarks;
pub mod launch;
mod level;
mod local;
mod recorded;
mod relax;
mod results;
mod table;

use super::{
    Agreement, FieldOptimizer, Flow, FlowInverse, FlowLevel, FlowReference, FlowStep, Halves, Measured, Relation,
    WeightedScore, no_level, size_of,
};
use crate::backend::flow::pair::{Pair, ResamplesInto};
use crate::backend::queue::Queue;
use crate::{Result, Volume};
use gpu::params::{Affine, VectorMaps};
use grid::FieldOnDevice;
pub use kernels::FLOW_RELAX;
#[cfg(test)]
pub use kernels::NAMES;
use level::LevelOnDevice;
use recorded::Recorded;
use std::rc::Rc;

/// A displacement field in a device's memory.
pub struct FlowOnDevice<Q: Queue> {
    queue: Rc<Q>,
    grid: Option<FieldOnDevice<Q>>,
    level: Option<LevelOnDevice<Q>>,
    /// The recorded launches of the level's steps.
    recorded: Recorded<Q>,
}

impl<Q: Queue> FlowOnDevice<Q> {
    pub fn new(queue: Q) -> Self {
        Self::on_queue(Rc::new(queue))
    }

    fn on_queue(queue: Rc<Q>) -> Self {
        Self { queue, grid: None, level: None, recorded: Recorded::new() }
    }

    /// Two fields on one queue.
    pub fn pair(queue: Q) -> Pair<Self> {
        let one = Self::new(queue);
        let two = Self::on_queue(Rc::clone(&one.queue));
        Pair::new([one, two])
    }

    /// The queue and the field.
    fn grid(&mut self) -> Result<(&Q, &mut FieldOnDevice<Q>)> {
        Ok((&self.queue, self.grid.as_mut().ok_or_else(no_level)?))
    }

    /// Resamples the field on another grid, or begins with a field of 0. Frees the images of the level before.
    fn regrid(
        &mut self,
        size: [usize; 3],
        spacing_mm: [f64; 3],
        from: Option<[[f32; 3]; 2]>,
    ) -> Result<&mut FieldOnDevice<Q>> {
        self.queue.wait()?;
        self.level = None;
        self.recorded = Recorded::new();
        let previous = self.grid.take().zip(from).map(|(grid, from)| grid.into_previous(from));
        Ok(self.grid.insert(FieldOnDevice::new(&*self.queue, size, spacing_mm, previous)?))
    }
}

impl<Q: Queue> FieldOptimizer for FlowOnDevice<Q> {
    fn agreement(&mut self, half: Halves) -> Result<Vec<Agreement>> {
        let (Some(grid), Some(level)) = (&mut self.grid, &mut self.level) else { return Err(no_level()) };
        level.agreement(&self.queue, grid, half)
    }

    fn step(&mut self, scores: &[WeightedScore], step: &FlowStep) -> Result<()> {
        let (Some(grid), Some(level)) = (&mut self.grid, &mut self.level) else { return Err(no_level()) };
        let queue = &*self.queue;
        level.write(queue, scores)?;
        let weights: Vec<f64> = scores.iter().map(|(_, weight)| *weight).collect();
        let recorded = level.joints().map(|_| self.recorded.launches((&[], &weights, step), grid.exchanged));
        let mut work = || {
            level.write_forces(queue, grid, step.half, &weights)?;
            level.landmarks.add_forces(queue, grid, step)?;
            grid.step(queue, step)
        };
        match recorded {
            Some(graph) => queue.record_or_replay(graph, work)?,
            None => work()?,
        }
        grid.exchange();
        Ok(())
    }

    fn maximise(
        &mut self,
        relations: &[(Relation, f64)],
        step: &FlowStep,
        most: usize,
        go_on: &mut dyn FnMut(&[Measured]) -> Result<bool>,
    ) -> Result<bool> {
        let Self { queue, grid: Some(grid), level: Some(level), recorded } = self else { return Err(no_level()) };
        let queue = &**queue;
        let (relations, weights): (Vec<_>, Vec<_>) = relations.iter().copied().unzip();
        if level.joints() != Some(relations.len()) || relations.contains(&Relation::Ssd) {
            return Ok(false);
        }
        level.clear(queue)?;
        for _ in 0..most {
            level.forget();
            // The step is computed while the host waits for the value. If `go_on` declines it, its result stays in the
            // second memory and is never used.
            queue.record_or_replay(recorded.launches((&relations, &weights, step), grid.exchanged), || {
                level.measure(queue, grid, &relations)?;
                level.write_forces(queue, grid, step.half, &weights)?;
                level.landmarks.add_forces(queue, grid, step)?;
                grid.step(queue, step)
            })?;
            queue.wait_until(&|| level.is_measured())?;
            if !go_on(&level.measured())? {
                return grid.forget_step(queue).map(|()| true);
            }
            grid.exchange();
        }
        level.measure(queue, grid, &relations)?;
        queue.wait()?;
        go_on(&level.measured())?;
        Ok(true)
    }

    fn smooth(&mut self, mm: f64) -> Result<()> {
        let (queue, grid) = self.grid()?;
        grid.smooth_field(queue, mm)
    }

    fn relax(&mut self, limits: [f32; 2], rounds: u32) -> Result<()> {
        let (queue, grid) = self.grid()?;
        relax::relax(queue, grid, limits, rounds)
    }

    fn jacobian_range(&mut self) -> Result<[f32; 2]> {
        let (queue, grid) = self.grid()?;
        results::jacobian(queue, grid)
    }
}

impl<Q: Queue> Flow for FlowOnDevice<Q> {
    fn level(&mut self, level: &FlowLevel) -> Result<()> {
        self.regrid(size_of(level)?, level.spacing_mm, level.from)?;
        let (queue, grid) = self.grid()?;
        let level = LevelOnDevice::new(queue, grid, level)?;
        self.level = Some(level);
        Ok(())
    }

    fn take(&mut self, planes: &[f32], size: [usize; 3], from: [[f32; 3]; 2]) -> Result<()> {
        let (queue, grid) = self.grid()?;
        grid.take(queue, planes, size, from)
    }

    fn refer_to(&mut self, reference: Option<&FlowReference>) -> Result<()> {
        self.recorded = Recorded::new();
        let (queue, grid) = self.grid()?;
        grid.refer_to(queue, reference)
    }

    fn refine(&mut self, size: [usize; 3], spacing_mm: [f64; 3], from: [[f32; 3]; 2]) -> Result<()> {
        self.regrid(size, spacing_mm, Some(from)).map(drop)
    }

    fn field(&mut self) -> Result<Vec<f32>> {
        let (queue, grid) = self.grid()?;
        queue.download(&grid.field, 3 * grid.voxels())
    }

    fn vectors(&mut self, maps: &VectorMaps) -> Result<Vec<[f32; 3]>> {
        let (queue, grid) = self.grid()?;
        results::vectors(queue, &grid.field, grid.size, maps)
    }

    fn jacobians(&mut self) -> Result<Vec<f32>> {
        let (queue, grid) = self.grid()?;
        results::jacobian(queue, grid)?;
        queue.download(&grid.scratch, grid.voxels())
    }

    fn moved(&mut self, image: &Volume, map: &Affine) -> Result<Vec<f32>> {
        let (queue, grid) = self.grid()?;
        results::moved(queue, grid, image, map)
    }

    fn inverse(&mut self, size: [usize; 3], maps: [&Affine; 2], vectors: &VectorMaps) -> Result<FlowInverse> {
        let (queue, grid) = self.grid()?;
        results::inverse(queue, grid, size, (maps, vectors))
    }
}

impl<Q: Queue> ResamplesInto for FlowOnDevice<Q> {
    fn resample_into(&mut self, other: &mut Self) -> Result<()> {
        let (Some(grid), Some(level)) = (&self.grid, &self.level) else { return Err(no_level()) };
        let (Some(other_grid), Some(other_level)) = (&mut other.grid, &mut other.level) else { return Err(no_level()) };
        if grid.size != other_grid.size {
            return Err(no_level());
        }
        level.resample_into(&self.queue, grid, other_level)?;
        other_level.prepare_fixed(&self.queue, other_grid)
    }
}
