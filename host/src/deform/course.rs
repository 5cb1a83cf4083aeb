//! The way of a flow through its levels.

use super::climb::{Climb, Plan, Term};
use super::smoothing::Smoothing;
use super::{Level, Options, TermValues, levels, smallest};
use crate::backend::{Backend, Flow, FlowChannel, FlowLevel, Half};
use crate::image::{Geometry, StoredImage, voxel_map};
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
        Plan { terms: self.terms(number), bins: self.options.bins, iterations, mm: self.mm(number) }
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

    fn grid(&self, number: usize) -> &Geometry {
        self.levels[number].grids()[0]
    }

    /// Takes a flow to a level, with its field from another one or from the start.
    pub fn enter(&self, flow: &mut dyn Flow, number: usize, before: Option<usize>) -> Result<()> {
        go_on(self.observer)?;
        let level = &self.levels[number];
        let [grid, moving_grid] = level.grids();
        let channels = level.channels.iter().zip(&self.stored[number]).map(|(of, [fixed, moving])| {
            let masks = of.masks.each_ref().map(Vec::as_slice);
            FlowChannel { fixed, moving, masks }
        });
        flow.level(&FlowLevel {
            channels: &channels.collect::<Vec<_>>(),
            map: voxel_map(grid, moving_grid, self.start),
            spacing_mm: grid.spacing.to_array(),
            from: before.map(|before| levels::between(self.grid(before), grid)),
            compare: &self.plan(number).compare(),
            block_mm: BLOCK * self.mm(self.coarse() - 1),
        })
    }

    /// Takes a flow to a level and climbs it, and sees that space is not folded.
    pub fn level(&self, flow: &mut dyn Flow, number: usize, smoothing: Smoothing) -> Result<Level> {
        let grid = self.grid(number);
        let spacing_mm = grid.spacing.to_array();
        self.observer.level(number, self.levels.len(), spacing_mm);
        self.enter(flow, number, number.checked_sub(1))?;
        let plan = self.plan(number);
        let Climb { values, terms, converged } = plan.climb(flow, Half::Both, smoothing, self.observer)?;
        go_on(self.observer)?;
        let mut jacobian_range = flow.jacobian_range()?;
        let mut mm = 0.5 * smallest(grid);
        while jacobian_range[0] <= 0.0 && mm < 64.0 * smallest(grid) {
            go_on(self.observer)?;
            flow.smooth(mm)?;
            go_on(self.observer)?;
            jacobian_range = flow.jacobian_range()?;
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
