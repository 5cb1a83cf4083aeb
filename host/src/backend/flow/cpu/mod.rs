//! The optimisation of a displacement field on the CPU: see [`gpu::math::flow`].

mod combine;
mod compose;
mod joint;
mod landmarks;
mod level;
mod local;
mod refine;
mod relax;
mod resample;
mod results;
mod task;

use super::{
    Agreement, FieldOptimizer, Flow, FlowInverse, FlowLevel, FlowReference, FlowStep, Halves, WeightedScore, no_level,
    padded, sigmas, size_of, squares,
};
use crate::backend::flow::pair::{Pair, ResamplesInto};
use crate::backend::gaussian::cpu as gaussian;
use crate::{Result, Volume};
pub use combine::{MiddleFields, Side};
use gpu::math::interpolate;
use gpu::params::{Affine, VectorMaps};
use level::LevelOnCpu;
use task::FieldView;

/// A displacement field that is being optimised.
#[derive(Default)]
pub struct FlowOnCpu {
    size: [u32; 3],
    spacing_mm: [f64; 3],
    /// Three planes and their padding.
    field: Vec<f32>,
    /// Three planes that hold local means, then forces, then the update field; after them one plane of precisions.
    step: Vec<f32>,
    /// The field after a step, with padding.
    next: Vec<f32>,
    level: Option<LevelOnCpu>,
    /// By how much the smoothing of the field changes the reference field, if there is one: see [`FlowReference`].
    smoothed_away: Option<Vec<f32>>,
}

/// Makes a field of its three planes.
pub fn of(planes: &[f32], size: [usize; 3], spacing_mm: [f64; 3]) -> Box<dyn Flow> {
    let mut flow = FlowOnCpu::default();
    flow.resize(size, spacing_mm, None);
    flow.field[..planes.len()].copy_from_slice(planes);
    Box::new(flow)
}

/// Resamples a field of `old_size`, given as its planes, on a grid of `size`.
fn refine(planes: &[f32], old_size: [usize; 3], from: [[f32; 3]; 2], size: [u32; 3], out: &mut [f32]) {
    let field = padded(planes, old_size);
    refine::refine(&FieldView { size: old_size.map(|n| n as u32), field: &field }, from, size, out);
}

impl FlowOnCpu {
    /// Two fields, of 0 voxels until their first level.
    pub fn pair() -> Pair<Self> {
        Pair::new([Self::default(), Self::default()])
    }

    fn grid(&self) -> FieldView<'_> {
        FieldView { size: self.size, field: &self.field }
    }

    fn voxels(&self) -> usize {
        self.size.iter().map(|&n| n as usize).product()
    }

    fn sizes(&self) -> [usize; 3] {
        self.size.map(|n| n as usize)
    }

    fn sigmas(&self, mm: f64) -> [f64; 3] {
        sigmas(mm, self.sizes(), self.spacing_mm)
    }

    /// Allocates memory for a grid. Resamples the present field on it if `from` says how the grids lie; else the field
    /// is 0.
    fn resize(&mut self, size: [usize; 3], spacing_mm: [f64; 3], from: Option<[[f32; 3]; 2]>) {
        let size = size.map(|n| n as u32);
        let planes = 3 * size.iter().map(|&n| n as usize).product::<usize>();
        let mut field = vec![0.0; planes + interpolate::padding(size)];
        if let Some(from) = from.filter(|_| !self.field.is_empty()) {
            refine::refine(&self.grid(), from, size, &mut field[..planes]);
        }
        (self.size, self.spacing_mm) = (size, spacing_mm);
        self.next = vec![0.0; field.len()];
        self.step = vec![0.0; planes / 3 * 4];
        self.field = field;
        self.smoothed_away = None;
    }
}

impl FieldOptimizer for FlowOnCpu {
    fn agreement(&mut self, half: Halves) -> Result<Vec<Agreement>> {
        let grid = FieldView { size: self.size, field: &self.field };
        let level = self.level.as_mut().ok_or_else(no_level)?;
        Ok(level.agreement(grid, half, &mut self.step))
    }

    fn step(&mut self, scores: &[WeightedScore], step: &FlowStep) -> Result<()> {
        let grid = FieldView { size: self.size, field: &self.field };
        let level = self.level.as_mut().ok_or_else(no_level)?;
        level.write_forces(grid, step.half, scores, &mut self.step)?;
        let landmark_weight = step.landmark_weight(self.size, self.spacing_mm);
        let squares = squares(self.spacing_mm);
        landmarks::add_forces(&level.landmarks, &grid, squares, (landmark_weight, step.limit), &mut self.step);
        let (size, planes) = (self.sizes(), 3 * self.voxels());
        let [of_step, of_field] = step.smooth_mm.map(|mm| self.sigmas(mm));
        gaussian::smooth(&mut self.step, size, of_step);
        let largest = compose::update(&mut self.step, step.prior());
        let mut next = std::mem::take(&mut self.next);
        compose::compose(&self.grid(), &self.step, (largest, step.limit, step.share), &mut next[..planes]);
        gaussian::smooth(&mut next[..planes], size, of_field);
        if let Some(smoothed_away) = &self.smoothed_away {
            compose::subtract(&mut next[..planes], smoothed_away);
        }
        self.next = std::mem::replace(&mut self.field, next);
        Ok(())
    }

    fn smooth(&mut self, mm: f64) -> Result<()> {
        let (size, planes, sigmas) = (self.sizes(), 3 * self.voxels(), self.sigmas(mm));
        gaussian::smooth(&mut self.field[..planes], size, sigmas);
        Ok(())
    }

    fn relax(&mut self, limits: [f32; 2], rounds: u32) -> Result<()> {
        relax::relax(self.size, &mut self.field, limits, rounds);
        Ok(())
    }

    fn jacobian_range(&mut self) -> Result<[f32; 2]> {
        Ok(results::range(&results::jacobians(&self.grid())))
    }
}

impl Flow for FlowOnCpu {
    fn level(&mut self, level: &FlowLevel) -> Result<()> {
        self.resize(size_of(level)?, level.spacing_mm, level.from);
        self.level = Some(LevelOnCpu::new(level, |mm| self.sigmas(mm)));
        Ok(())
    }

    fn take(&mut self, planes: &[f32], size: [usize; 3], from: [[f32; 3]; 2]) -> Result<()> {
        let own = 3 * self.voxels();
        refine(planes, size, from, self.size, &mut self.field[..own]);
        Ok(())
    }

    fn refer_to(&mut self, reference: Option<&FlowReference>) -> Result<()> {
        self.smoothed_away = reference.map(|&FlowReference { planes, size, from, smooth_mm }| {
            let mut field = vec![0.0; 3 * self.voxels()];
            refine(planes, size, from, self.size, &mut field);
            let mut smoothed = field.clone();
            gaussian::smooth(&mut smoothed, self.sizes(), self.sigmas(smooth_mm));
            compose::subtract(&mut smoothed, &field);
            smoothed
        });
        Ok(())
    }

    fn refine(&mut self, size: [usize; 3], spacing_mm: [f64; 3], from: [[f32; 3]; 2]) -> Result<()> {
        self.level = None;
        self.resize(size, spacing_mm, Some(from));
        Ok(())
    }

    fn field(&mut self) -> Result<Vec<f32>> {
        Ok(self.field[..3 * self.voxels()].to_vec())
    }

    fn jacobians(&mut self) -> Result<Vec<f32>> {
        Ok(results::jacobians(&self.grid()))
    }

    fn moved(&mut self, image: &Volume, map: &Affine) -> Result<Vec<f32>> {
        Ok(results::moved(&self.grid(), image, map))
    }

    fn vectors(&mut self, maps: &VectorMaps) -> Result<Vec<[f32; 3]>> {
        Ok(results::vectors(&self.grid(), maps))
    }

    fn inverse(&mut self, size: [usize; 3], maps: [&Affine; 2], vectors: &VectorMaps) -> Result<FlowInverse> {
        let spacing_mm = self.spacing_mm.map(|mm| mm as f32);
        Ok(results::inverse(&self.grid(), spacing_mm, size.map(|n| n as u32), (maps, vectors)))
    }
}

impl ResamplesInto for FlowOnCpu {
    fn resample_into(&mut self, other: &mut Self) -> Result<()> {
        let grid = FieldView { size: self.size, field: &self.field };
        let (Some(level), Some(other_level)) = (&self.level, &mut other.level) else { return Err(no_level()) };
        if self.size != other.size {
            return Err(no_level());
        }
        level.resample_into(grid, other_level);
        Ok(())
    }
}
