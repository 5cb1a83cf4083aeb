//! Joint histograms on the CPU. Counts are integers, so they do not depend on how the work is split.

mod entropy;
mod partial_volume;
mod rows;
mod task;

pub use entropy::entropies;

use super::{Evaluator, HistogramMethod, Pair, Wanted, per_sample};
use crate::backend::lanes::PIECE;
use crate::error::{Setting, message};
use crate::image::BinImage;
use crate::threads::should_continue;
use crate::{Error, Result};
use gpu::math::entropy::Entropies;
use gpu::params::Affine;
use rayon::prelude::*;
use rows::add_rows;
use task::{HistogramTask, Samples};

/// A pair of images whose joint histogram is counted on the CPU.
pub struct HistogramOnCpu<'a> {
    fixed: &'a BinImage,
    pair: Pair<'a>,
    /// The count of one sample: see [`Pair::unit`].
    unit: u32,
    samples: Samples<'a>,
}

impl<'a> HistogramOnCpu<'a> {
    /// # Errors
    /// [`Error::Option`] for a method other than `auto`, and for a pair that cannot be counted.
    pub fn new(pair: Pair<'a>, method: HistogramMethod) -> Result<Self> {
        if method != HistogramMethod::Auto {
            let name = method.name();
            return Err(Error::option(
                Setting::Histogram,
                message!(Histogram, " {name} runs on a GPU and in the emulator"; "leave it at auto on the CPU"),
            ));
        }
        Ok(Self { fixed: pair.fixed.bins(), pair, unit: pair.unit()?, samples: Samples::new(&pair)? })
    }

    fn count(&self, transform: &Affine) -> Vec<u32> {
        let task = HistogramTask::new(self.fixed, &self.pair, self.unit, &self.samples, transform);
        let all = task.rows();
        let piece = PIECE.div_ceil(self.fixed.size[0]);
        let add = |mut sum: Vec<u32>, other: Vec<u32>| {
            sum.iter_mut().zip(other).for_each(|(sum, other)| *sum += other);
            sum
        };
        let empty = || vec![0; task.counters()];
        let pieces = (0..all.div_ceil(piece)).into_par_iter().take_any_while(|_| should_continue());
        let mut counters = pieces
            .fold(empty, |mut counters, p| {
                add_rows(&task, p * piece..all.min((p + 1) * piece), &mut counters);
                counters
            })
            .reduce(empty, add);
        counters.pop();
        counters
    }
}

impl Evaluator for HistogramOnCpu<'_> {
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
