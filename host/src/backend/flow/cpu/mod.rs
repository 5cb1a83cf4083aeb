//! A displacement field on the CPU: see [`gpu::math::flow`].

mod compose;
mod finish;
mod joint;
mod local;
mod relax;
mod task;

use super::{Agreement, Compare, Flow, FlowInverse, FlowLevel, FlowStep, Half, Score, no_level, other_metric};
use crate::backend::gaussian::cpu as gaussian;
use crate::image::StoredImage;
use crate::{Result, Volume};
use gpu::math::{flow, interpolate};
use gpu::params::Affine;
use local::Means;
use task::{FieldView, FlowTask, pieces};

/// A field under way.
#[derive(Default)]
pub struct FlowOnCpu {
    size: [u32; 3],
    spacing_mm: [f64; 3],
    /// Three planes and their padding.
    field: Vec<f32>,
    /// Three planes of force or of the update field, or local means; then one of precision.
    step: Vec<f32>,
    /// The field after a step, with padding.
    next: Vec<f32>,
    level: Option<LevelOnCpu>,
}

/// The images of a level, and how they are compared.
struct LevelOnCpu {
    fixed: StoredImage,
    moving: StoredImage,
    masks: [Vec<u8>; 2],
    map: Affine,
    blocks: [f32; 3],
    compare: Compare,
    /// The fixed image's local mean and variance, where it is compared by them.
    of_fixed: Vec<f32>,
}

/// A field from its three planes.
pub fn of(planes: &[f32], size: [usize; 3], spacing_mm: [f64; 3]) -> Box<dyn Flow> {
    let mut flow = FlowOnCpu::default();
    flow.resize(size, spacing_mm, None);
    flow.field[..planes.len()].copy_from_slice(planes);
    Box::new(flow)
}

/// The planes of a field with their padding.
fn padded(planes: &[f32], size: [usize; 3]) -> Vec<f32> {
    let mut field = planes[..3 * size.iter().product::<usize>()].to_vec();
    field.resize(field.len() + interpolate::padding(size.map(|n| n as u32)), 0.0);
    field
}

impl FlowOnCpu {
    fn grid(&self) -> FieldView<'_> {
        FieldView { size: self.size, field: &self.field }
    }

    fn voxels(&self) -> usize {
        self.size.iter().map(|&n| n as usize).product()
    }

    fn sizes(&self) -> [usize; 3] {
        self.size.map(|n| n as usize)
    }

    /// What a Gaussian of so many mm is in voxels; 0 along an axis of one voxel.
    fn sigmas(&self, mm: f64) -> [f64; 3] {
        [0, 1, 2].map(|axis: usize| if self.size[axis] > 1 { mm / self.spacing_mm[axis] } else { 0.0 })
    }

    /// Makes room for a grid, and takes the field there.
    fn resize(&mut self, size: [usize; 3], spacing_mm: [f64; 3], from: Option<[[f32; 3]; 2]>) {
        let size = size.map(|n| n as u32);
        let planes = 3 * size.iter().map(|&n| n as usize).product::<usize>();
        let mut field = vec![0.0; planes + interpolate::padding(size)];
        if let Some(from) = from.filter(|_| !self.field.is_empty()) {
            compose::refine(&self.grid(), from, size, &mut field[..planes]);
        }
        (self.size, self.spacing_mm) = (size, spacing_mm);
        self.next = vec![0.0; field.len()];
        self.step = vec![0.0; planes / 3 * 4];
        self.field = field;
    }

    /// The level, and it with the field.
    fn task(&self, half: Half) -> Result<(&LevelOnCpu, FlowTask<'_>)> {
        let level = self.level.as_ref().ok_or_else(no_level)?;
        let LevelOnCpu { fixed, moving, masks, map, blocks, .. } = level;
        let task = FlowTask {
            grid: self.grid(),
            fixed: fixed.voxels(),
            moving: &moving.values,
            moving_size: moving.size.map(|n| n as u32),
            masks: masks.each_ref().map(Vec::as_slice),
            halves: half.number(),
            blocks: *blocks,
            map: *map,
        };
        Ok((level, task))
    }

    /// Writes what pulls.
    fn pull(&self, score: &Score, half: Half, planes: &mut [f32]) -> Result<()> {
        let (level, task) = self.task(half)?;
        let per_square = self.spacing_mm.map(|mm| (1.0 / (mm * mm)) as f32);
        let width = self.sizes()[0];
        match (score, level.compare) {
            (Score::Joint { scores, information }, Compare::Joint { bins }) => {
                let tables = joint::Tables { bins, scores, information, per_square };
                pieces(planes, width, |first, planes| joint::pull(&task, &tables, first, planes));
            }
            (Score::Local, Compare::Local { .. }) => pieces(planes, width, |first, planes| {
                local::pull(&task, &level.of_fixed, per_square, first, planes);
            }),
            _ => return Err(other_metric()),
        }
        Ok(())
    }
}

impl Flow for FlowOnCpu {
    fn level(&mut self, level: &FlowLevel) -> Result<()> {
        self.resize(level.fixed.size, level.spacing_mm, level.from);
        let of_fixed = match level.compare {
            Compare::Local { window_mm } => {
                local::of_fixed(level.fixed.voxels(), level.fixed.size, self.sigmas(window_mm))
            }
            Compare::Joint { .. } => Vec::new(),
        };
        self.level = Some(LevelOnCpu {
            fixed: level.fixed.clone(),
            moving: level.moving.clone(),
            masks: level.masks.map(<[u8]>::to_vec),
            map: level.map,
            blocks: level.blocks(),
            compare: level.compare,
            of_fixed,
        });
        Ok(())
    }

    fn take(&mut self, planes: &[f32], size: [usize; 3], from: [[f32; 3]; 2]) -> Result<()> {
        let field = padded(planes, size);
        let old = FieldView { size: size.map(|n| n as u32), field: &field };
        let (size, own) = (self.size, 3 * self.voxels());
        compose::refine(&old, from, size, &mut self.field[..own]);
        Ok(())
    }

    fn agreement(&mut self, half: Half) -> Result<Agreement> {
        let (level, task) = self.task(half)?;
        let window_mm = match level.compare {
            Compare::Joint { bins } => return Ok(Agreement::Joint(joint::count(&task, bins))),
            Compare::Local { window_mm } => window_mm,
        };
        let mut planes = std::mem::take(&mut self.step);
        let (level, task) = self.task(half)?;
        let (size, means) = (self.sizes(), &mut planes[..3 * self.voxels()]);
        pieces(means, size[0], |first, planes| local::products(&task, first, planes));
        gaussian::smooth(means, size, self.sigmas(window_mm));
        let (sum, overlap) = local::correlation(&task, &Means { fixed: &level.of_fixed, moving: &planes });
        self.step = planes;
        Ok(Agreement::Local { correlation: flow::mean(sum, flow::CORRELATION_UNIT, overlap), overlap })
    }

    fn step(&mut self, score: &Score, step: &FlowStep) -> Result<()> {
        let mut force = std::mem::take(&mut self.step);
        let pulled = self.pull(score, step.half, &mut force);
        self.step = force;
        pulled?;
        let (size, planes) = (self.sizes(), 3 * self.voxels());
        let [of_step, of_field] = step.smooth_mm.map(|mm| self.sigmas(mm));
        gaussian::smooth(&mut self.step, size, of_step);
        let largest = compose::update(&mut self.step, step.prior());
        let mut next = std::mem::take(&mut self.next);
        compose::compose(&self.grid(), &self.step, (largest, step.limit), &mut next[..planes]);
        gaussian::smooth(&mut next[..planes], size, of_field);
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
        Ok(finish::range(&finish::jacobians(&self.grid())))
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
        Ok(finish::jacobians(&self.grid()))
    }

    fn moved(&mut self, image: &Volume, map: &Affine) -> Result<Vec<f32>> {
        Ok(finish::moved(&self.grid(), image, map))
    }

    fn inverse(&mut self, size: [usize; 3], there: &Affine, back: &Affine) -> Result<FlowInverse> {
        let spacing_mm = self.spacing_mm.map(|mm| mm as f32);
        Ok(finish::inverse(&self.grid(), spacing_mm, size.map(|n| n as u32), [there, back]))
    }
}
