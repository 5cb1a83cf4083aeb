//! Mattes mutual information on the CPU: see [`gpu::math::mattes`]. One pass counts the joint histogram. A second pass
//! sums the derivative.

mod count;
mod slope;
mod table;
mod task;

use super::{MattesPair, Smooth, SmoothEvaluator, SmoothSlope};
use crate::Result;
use crate::backend::lanes::PIECE;
use crate::image::{BinImage, StoredImage};
use crate::threads::should_continue;
use count::WindowCounters;
use gpu::math::{interpolate, mattes};
use gpu::params::Affine;
use rayon::prelude::*;
use table::JointTable;
use task::MattesTask;

/// A pair of images that is loaded on the CPU.
pub struct MattesOnCpu<'a> {
    fixed: &'a BinImage,
    moving: &'a StoredImage,
    pair: MattesPair<'a>,
}

impl<'a> MattesOnCpu<'a> {
    pub fn new(pair: MattesPair<'a>) -> Result<Self> {
        let (fixed, moving) = (pair.fixed.bins(), pair.moving.values()?);
        assert!(fixed.bins.len() == fixed.size.iter().product::<usize>());
        let padding = interpolate::padding(moving.size.map(|n| n as u32));
        assert!(moving.values.len() == moving.size.iter().product::<usize>() + padding);
        assert!(pair.bins.iter().all(|bins| (mattes::LEAST_BINS..=1024).contains(bins)));
        Ok(Self { fixed, moving, pair })
    }

    fn task(&self, map: &Affine) -> MattesTask<'a> {
        MattesTask::new((self.fixed, self.moving), &self.pair, map)
    }

    /// Counts the joint histogram for a map.
    fn count(&self, map: &Affine) -> JointTable {
        let task = self.task(map);
        let all = task.rows();
        let piece = PIECE.div_ceil(task.fixed_size[0]);
        let empty = || WindowCounters::new(&task);
        let pieces = (0..all.div_ceil(piece)).into_par_iter().take_any_while(|_| should_continue());
        let counters = pieces
            .fold(empty, |mut counters, p| {
                counters.add_rows(&task, p * piece..all.min((p + 1) * piece));
                counters
            })
            .reduce(empty, WindowCounters::add);
        JointTable::new(counters.joint(&task), self.pair.bins)
    }
}

impl SmoothEvaluator for MattesOnCpu<'_> {
    fn values(&mut self, maps: &[Affine]) -> Result<Vec<Smooth>> {
        Ok(maps.par_iter().map(|map| self.count(map).smooth()).collect())
    }

    fn slope(&mut self, map: &Affine) -> Result<SmoothSlope> {
        let table = self.count(map);
        let task = self.task(map);
        Ok(SmoothSlope { at: table.smooth(), by_map: slope::by_map(&task, &table) })
    }
}
