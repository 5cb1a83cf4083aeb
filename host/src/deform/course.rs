//! The way of a flow through its levels.

use super::climb::Plan;
use super::smoothing::Smoothing;
use super::{Level, Options, doubts, levels, smallest};
use crate::backend::{Backend, Flow, FlowLevel, Half};
use crate::image::{Geometry, StoredImage, voxel_map};
use crate::observer::go_on;
use crate::{Observer, Result};
use glam::DAffine3;

/// Iterations of the finest level at most, of the one before it, and of all that are coarser.
const ITERATIONS: [usize; 3] = [25, 50, 100];

/// The side of the blocks of a half, voxels of the finest level that fields are tried on.
const BLOCK: f64 = 4.0;

/// How often a field is relaxed at most where it changes volumes too much.
const ROUNDS: u32 = 500;

/// How many times the start may change volumes for the field to make up for it.
const MOST_STRETCH: f64 = 2.0;

/// What a flow goes through.
pub struct Course<'a> {
    pub levels: &'a [levels::Level<'a>],
    /// Both images of each level.
    pub stored: &'a [[StoredImage; 2]],
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
        let Options { force, bins, .. } = *self.options;
        Plan { force, bins, iterations, mm: self.mm(number) }
    }

    /// The distance between a level's voxels.
    pub fn mm(&self, number: usize) -> f64 {
        smallest(self.grid(number))
    }

    fn grid(&self, number: usize) -> &Geometry {
        &self.levels[number].fixed.geometry
    }

    /// Takes a flow to a level, with its field from another one or from the start.
    pub fn enter(&self, flow: &mut dyn Flow, number: usize, before: Option<usize>) -> Result<()> {
        go_on(self.observer)?;
        let (level, [fixed, moving]) = (&self.levels[number], &self.stored[number]);
        let grid = &level.fixed.geometry;
        flow.level(&FlowLevel {
            fixed,
            moving,
            masks: level.masks.each_ref().map(Vec::as_slice),
            map: voxel_map(grid, &level.moving.geometry, self.start),
            spacing_mm: grid.spacing.to_array(),
            from: before.map(|before| levels::between(self.grid(before), grid)),
            compare: self.plan(number).compare(),
            block_mm: BLOCK * self.mm(self.coarse() - 1),
        })
    }

    /// Relaxes the field where it changes volumes more than tissue does, the start included; the range of the flow's Jacobian then.
    pub fn usual(&self, flow: &mut dyn Flow) -> Result<[f32; 2]> {
        let [low, high] = doubts::UNUSUAL;
        // A start that itself changes volumes much cannot be undone by the field.
        let stretch = self.start.matrix3.determinant().abs().clamp(1.0 / MOST_STRETCH, MOST_STRETCH);
        let limits = [low * (1.0 / stretch).max(1.0) * 1.01, high * (1.0 / stretch).min(1.0) * 0.99];
        flow.relax(limits.map(|limit| limit as f32), ROUNDS)?;
        flow.jacobian_range()
    }

    /// Takes a flow to a level and climbs it, and sees that space is not folded.
    pub fn level(&self, flow: &mut dyn Flow, number: usize, smoothing: Smoothing) -> Result<Level> {
        let grid = self.grid(number);
        let spacing_mm = grid.spacing.to_array();
        self.observer.level(number, self.levels.len(), spacing_mm);
        self.enter(flow, number, number.checked_sub(1))?;
        let (values, converged) = self.plan(number).climb(flow, Half::Both, smoothing, self.observer)?;
        go_on(self.observer)?;
        let mut jacobian_range = self.usual(flow)?;
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
        Ok(Level { spacing_mm, size: grid.size, values, stopped, smooth_mm, jacobian_range })
    }
}
