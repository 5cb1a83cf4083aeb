//! All cores of this machine. Counts are integers, so that how the work is split cannot change them.

mod entropy;
mod flow;
pub mod gaussian;
mod mattes;
mod partial_volume;
mod rows;
pub(crate) mod simd;
mod values;
pub(super) mod viola;

pub use entropy::entropies;
pub(crate) use flow::of as flow_of;

use super::{
    Backend, Evaluator, Flow, HistogramMethod, MattesPair, Pair, SmoothEvaluator, ViolaEvaluator, ViolaPair, Wanted,
    per_sample,
};
use crate::error::{Setting, message};
use crate::image::CubicImage;
use crate::{Error, Result, Volume};
use gpu::math::entropy::Entropies;
use gpu::math::{affine, cubic, interpolate, interpolate::Interpolator};
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
            return Err(Error::option(
                Setting::Histogram,
                message!(Histogram, " {name} runs on a GPU and in the emulator"; "leave it at auto on the CPU"),
            ));
        }
        Ok(Box::new(Loaded { pair, unit: pair.unit()?, samples: rows::Samples::new(&pair)? }))
    }

    fn load_mattes<'a>(&'a self, pair: MattesPair<'a>) -> Result<Box<dyn SmoothEvaluator + 'a>> {
        Ok(Box::new(mattes::Loaded::new(pair)))
    }

    fn load_viola<'a>(&'a self, pair: ViolaPair<'a>) -> Result<Box<dyn ViolaEvaluator + 'a>> {
        Ok(Box::new(viola::Loaded::new(pair)?))
    }

    fn flow<'a>(&'a self) -> Result<Box<dyn Flow + 'a>> {
        Ok(Box::new(flow::Flow::default()))
    }

    fn resample(&self, moving: &Volume, size: [usize; 3], affine: &Affine, how: Interpolator) -> Result<Vec<f32>> {
        let samples = CubicImage::samples(moving, how)?;
        let moving_size = moving.geometry.size.map(|n| n as u32);
        let mut out = vec![0.0; size.iter().product()];
        let rows = out.par_chunks_mut(size[0]).enumerate();
        rows.for_each(|(row, out)| {
            let row = [row % size[1], row / size[1]].map(|n| n as u32);
            resample_row(&samples, moving_size, affine, how, row, out);
        });
        Ok(out)
    }

    fn smooth(&self, planes: &mut [f32], size: [usize; 3], sigmas: [f64; 3]) -> Result<()> {
        gaussian::smooth(planes, size, sigmas);
        Ok(())
    }
}

widest! {
    fn resample_row(
        samples: &[f32],
        size: [u32; 3],
        matrix: &Affine,
        how: Interpolator,
        row: [u32; 2],
        out: &mut [f32],
    ) {
        for (x, out) in out.iter_mut().enumerate() {
            let position = affine::position(matrix, [x as u32, row[0], row[1]]);
            // SAFETY: the samples fill the grid, and its padding where they are cubic.
            *out = unsafe {
                match how.is_cubic() {
                    true => cubic::at(samples, size, position, how),
                    false => interpolate::at(|i| samples[i], size, position, how),
                }
            };
        }
    }
}

struct Loaded<'a> {
    pair: Pair<'a>,
    /// What a sample counts.
    unit: u32,
    samples: rows::Samples<'a>,
}

impl Loaded<'_> {
    fn count(&self, transform: &Affine) -> Vec<u32> {
        let task = rows::Task::new(&self.pair, self.unit, &self.samples, transform);
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

    fn evaluate(&mut self, transforms: &[Affine], wanted: Wanted) -> Result<Vec<Entropies>> {
        let one = |transform| per_sample(entropies(&self.count(transform), self.pair.bins, wanted), self.unit);
        Ok(transforms.par_iter().map(one).collect())
    }

    fn histogram(&mut self, transform: &Affine) -> Result<Vec<u32>> {
        Ok(self.count(transform))
    }
}
