//! All cores of this machine. Counts are integers, so that how the work is split cannot change them.

mod entropy;
mod partial_volume;
mod rows;
mod simd;

pub use entropy::entropies;

use super::{Backend, Evaluator, HistogramMethod, Pair, per_sample};
use crate::{Error, Result, Volume};
use gpu::math::entropy::Entropies;
use gpu::math::{affine, interpolate, interpolate::Interpolator};
use gpu::params::Affine;
use rayon::prelude::*;
use simd::widest;

/// Samples a piece of work has at least: below, starting it costs more than doing it.
const PIECE: usize = 1 << 15;

/// The CPU backend; it works on the threads that it is called from (see [`crate::threads`]).
pub struct Cpu;

impl Backend for Cpu {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn device(&self) -> String {
        match rayon::current_num_threads() {
            1 => "1 thread".into(),
            n => format!("{n} threads"),
        }
    }

    fn load<'a>(&'a self, pair: Pair<'a>, method: HistogramMethod) -> Result<Box<dyn Evaluator + 'a>> {
        if method != HistogramMethod::Auto {
            let name = method.name();
            return Err(Error::Input(format!(
                "--histogram {name} runs on a GPU and in the emulator: on the CPU leave it at auto"
            )));
        }
        Ok(Box::new(Loaded { pair, unit: pair.unit()? }))
    }

    fn resample(&self, moving: &Volume, size: [usize; 3], affine: &Affine, how: Interpolator) -> Result<Vec<f32>> {
        let mut out = vec![0.0; size.iter().product()];
        let rows = out.par_chunks_mut(size[0]).enumerate();
        rows.for_each(|(row, out)| resample_row(moving, size, affine, how, row, out));
        Ok(out)
    }
}

widest! {
    fn resample_row(moving: &Volume, size: [usize; 3], matrix: &Affine, how: Interpolator, row: usize, out: &mut [f32]) {
        let moving_size = moving.geometry.size.map(|n| n as u32);
        let [y, z] = [row % size[1], row / size[1]].map(|n| n as u32);
        for (x, out) in out.iter_mut().enumerate() {
            let position = affine::position(matrix, [x as u32, y, z]);
            // SAFETY: the voxels fill the grid.
            *out = unsafe { interpolate::at(|i| moving.voxels[i], moving_size, position, how) };
        }
    }
}

struct Loaded<'a> {
    pair: Pair<'a>,
    /// What a sample counts.
    unit: u32,
}

impl Loaded<'_> {
    fn count(&self, transform: &Affine) -> Vec<u32> {
        let task = rows::Task::new(&self.pair, self.unit, transform);
        let all = task.rows();
        let piece = PIECE.div_ceil(self.pair.fixed.size[0]);
        let add = |mut sum: Vec<u32>, other: Vec<u32>| {
            sum.iter_mut().zip(other).for_each(|(sum, other)| *sum += other);
            sum
        };
        let empty = || vec![0; task.counters()];
        let pieces = (0..all.div_ceil(piece)).into_par_iter();
        let mut counters = pieces
            .fold(empty, |mut counters, p| {
                task.count(p * piece..all.min((p + 1) * piece), &mut counters);
                counters
            })
            .reduce(empty, add);
        counters.pop();
        counters
    }
}

impl Evaluator for Loaded<'_> {
    fn method(&self) -> &'static str {
        "rows"
    }

    fn evaluate(&mut self, transforms: &[Affine]) -> Result<Vec<Entropies>> {
        let one = |transform| per_sample(entropies(&self.count(transform), self.pair.bins), self.unit);
        Ok(transforms.par_iter().map(one).collect())
    }

    fn histogram(&mut self, transform: &Affine) -> Result<Vec<u32>> {
        Ok(self.count(transform))
    }
}
