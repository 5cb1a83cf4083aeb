//! The way of a flow through its levels.

use super::climb::{Climbed, Plan, Term};
use super::flows::{Flows, Shared};
use super::middle::Middle;
use super::smoothing::Smoothing;
use super::{Level, Options, TermValues, levels, smallest};
use crate::backend::{Backend, Half};
use crate::image::{Geometry, StoredImage};
use crate::observer::go_on;
use crate::{Observer, Result};
use glam::DAffine3;

/// Iterations of the finest level at most, of the one before it, and of all that are coarser.
const ITERATIONS: [usize; 3] = [25, 50, 100];

/// The side of the blocks of a half, voxels of the finest level that fields are tried on.
const BLOCK: f64 = 4.0;

/// What a flow goes through.
pub struct Course<'a> {
    pub levels: &'a [levels::Level<'a>],
    /// Both images of each level's channels.
    pub stored: &'a [Vec<[StoredImage; 2]>],
    /// From the fixed to the moving image, LPS mm.
    pub start: &'a DAffine3,
    /// Where two flows meet, if they do.
    pub middle: Option<&'a Middle>,
    pub options: &'a Options,
    pub observer: &'a dyn Observer,
    pub backend: &'a dyn Backend,
}

impl Course<'_> {
    /// The number of levels that fields are tried on: all but the two finest, on which that takes too long.
    pub fn coarse(&self) -> usize {
        self.levels.len().saturating_sub(2).max(1)
    }

    pub fn plan(&self, number: usize) -> Plan {
        let finer = self.levels.len() - 1 - number;
        let iterations = match self.options.iterations.as_deref() {
            Some(all) => all.get(number).or(all.last()).copied().unwrap_or(1),
            None if self.levels.len() == 1 => ITERATIONS[2],
            None => ITERATIONS[finer.min(2)],
        };
        Plan {
            terms: self.terms(number),
            bins: self.options.bins,
            iterations,
            mm: self.mm(number),
            flows: 1 + u32::from(self.middle.is_some()),
        }
    }

    /// The metrics of each channel that pull on a level.
    fn terms(&self, number: usize) -> Vec<Term> {
        let Options { force, extra, .. } = self.options;
        let channels = std::iter::once(1.0).chain(extra.iter().map(|channel| channel.weight)).enumerate();
        let term = |(channel, of_channel): (usize, f64)| {
            let terms = force.all().iter().map(move |weighted| (weighted.force, weighted.weight(number)));
            let terms = terms.filter(|(_, weight)| *weight > 0.0);
            terms.map(move |(force, weight)| Term { channel, force, weight: weight * of_channel })
        };
        channels.flat_map(term).collect()
    }

    /// The distance between a level's voxels.
    pub fn mm(&self, number: usize) -> f64 {
        smallest(self.grid(number))
    }

    /// The grid of a level's fields.
    pub fn grid(&self, number: usize) -> &Geometry {
        self.middle.map_or_else(|| self.levels[number].grids()[0], |middle| &middle.grids[number])
    }

    /// Takes a flow to a level, with its field from another one or from the start.
    pub fn enter(&self, flow: &mut Flows, number: usize, before: Option<usize>) -> Result<()> {
        go_on(self.observer)?;
        let grid = self.grid(number);
        let shared = Shared {
            from: before.map(|before| levels::between(self.grid(before), grid)),
            compare: &self.plan(number).compare(),
            block_mm: BLOCK * self.mm(self.coarse() - 1),
        };
        flow.enter(&shared, (&self.levels[number], &self.stored[number]), grid, self.start)
    }

    /// Takes a flow to a level and climbs it, and sees that space is not folded.
    pub fn level(&self, flow: &mut Flows, number: usize, smoothing: Smoothing) -> Result<Level> {
        let grid = self.grid(number);
        let spacing_mm = grid.spacing.to_array();
        self.observer.level(number, self.levels.len(), spacing_mm);
        self.enter(flow, number, number.checked_sub(1))?;
        let plan = self.plan(number);
        let Climbed { values, terms, converged } = plan.climb(flow.climb(), Half::Both, smoothing, self.observer)?;
        go_on(self.observer)?;
        let mut jacobian_range = flow.climb().jacobian_range()?;
        let mut mm = 0.5 * smallest(grid);
        while jacobian_range[0] <= 0.0 && mm < 64.0 * smallest(grid) {
            go_on(self.observer)?;
            flow.climb().smooth(mm)?;
            go_on(self.observer)?;
            jacobian_range = flow.climb().jacobian_range()?;
            mm *= 2.0;
        }
        let stopped = if converged { "converged" } else { "iterations" };
        let smooth_mm = smoothing.sigmas_mm(self.mm(number));
        let terms = if self.options.several() { of_terms(&plan.terms, terms) } else { Vec::new() };
        Ok(Level { spacing_mm, size: grid.size, values, terms, stopped, smooth_mm, jacobian_range })
    }
}

/// What metrics were before and after.
fn of_terms(terms: &[Term], [before, after]: [Vec<f64>; 2]) -> Vec<TermValues> {
    let values = terms.iter().zip(before.into_iter().zip(after));
    values
        .map(|(&Term { channel, force, weight }, (before, after))| TermValues { channel, force, weight, before, after })
        .collect()
}
