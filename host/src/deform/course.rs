//! The way of a flow through its levels.

use super::climb::{Climbed, Plan, Term};
use super::flows::{Flows, Shared};
use super::middle::Middle;
use super::searched::Searched;
use super::smoothing::Smoothing;
use super::{Compared, Level, Options, TermValues, doubts, levels, smallest};
use crate::backend::{Backend, Climb, Half, RELAXED_ROUNDS};
use crate::image::{Geometry, Intensities, StoredImage};
use crate::observer::go_on;
use crate::{Observer, Result};
use glam::DAffine3;

/// Iterations of the finest level at most, of the one before it, and of all that are coarser.
const ITERATIONS: [usize; 3] = [12, 50, 100];

/// The side of the blocks of a half, voxels of the finest level that fields are tried on, unless what is compared reaches further.
const BLOCK: f64 = 4.0;

/// Voxels at most of the level before the finest where fields are tried on it, too. A head has 90,000 at 4 mm.
const FEW: usize = 1 << 17;

/// Voxels at most of a finer level that is searched, too: two threads take three seconds.
const MOST: usize = 1 << 20;

/// Fields are relaxed until they are so far within the limits.
const MARGIN: f64 = 1.01;

/// How many times the start may change volumes for the field to make up for it.
const MOST_STRETCH: f64 = 2.0;

/// Where the field of a level comes from.
pub enum Before<'a> {
    /// It is 0.
    Start,
    /// From the level of this number, where the flow is.
    Level(usize),
    Searched(&'a Searched),
}

/// What a flow goes through.
pub struct Course<'a> {
    pub levels: &'a [levels::Level<'a>],
    /// Both images of each level's channels.
    pub stored: &'a [Vec<[StoredImage; 2]>],
    /// From the fixed to the moving image, LPS mm.
    pub start: DAffine3,
    pub intensities: [Intensities; 2],
    /// Where two flows meet, if they do.
    pub middle: Option<&'a Middle>,
    pub options: &'a Options,
    pub compared: Compared,
    pub observer: &'a dyn Observer,
    pub backend: &'a dyn Backend,
}

impl Course<'_> {
    /// The number of levels that fields are tried on: all but the two finest, on which that takes too long. Small volumes are tried on the
    /// level before the finest, too: coarser ones show so little of them that the stiffest field looks best.
    pub fn coarse(&self) -> usize {
        let grids = (0..self.finest()).map(|number| self.grid(number));
        let few = grids.take_while(|grid| !grid.is_flat() && grid.voxels() <= FEW).count();
        few.max(self.levels.len().saturating_sub(2)).max(1)
    }

    /// Whether the level after the coarse ones is searched, too: that of a volume, unless it is the finest, two flows meet or it is large.
    pub fn searches_further(&self) -> bool {
        let number = self.coarse();
        self.middle.is_none() && number < self.finest() && {
            let grid = self.grid(number);
            !grid.is_flat() && grid.voxels() <= MOST
        }
    }

    /// What smooths a level where `coarse` smooths the coarse ones.
    pub fn smoothing(&self, number: usize, coarse: Smoothing) -> Smoothing {
        if number < self.coarse() { coarse } else { coarse.finer() }
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
        let force = &self.options.force;
        let channels = self.options.weights(self.compared).into_iter().enumerate();
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

    pub fn finest(&self) -> usize {
        self.levels.len() - 1
    }

    pub fn finest_mm(&self) -> f64 {
        self.mm(self.finest())
    }

    /// Where the field of a level comes from.
    pub fn before<'s>(&self, number: usize, searched: Option<&'s Searched>) -> Before<'s> {
        match searched {
            Some(searched) if number == searched.level => Before::Searched(searched),
            _ => number.checked_sub(1).map_or(Before::Start, Before::Level),
        }
    }

    /// Takes a flow to a level.
    pub fn enter(&self, flow: &mut Flows, number: usize, before: Before) -> Result<()> {
        go_on(self.observer)?;
        let grid = self.grid(number);
        let from = match before {
            Before::Level(before) => Some(levels::between(self.grid(before), grid)),
            Before::Start | Before::Searched(_) => None,
        };
        let plan = self.plan(number);
        let landmarks = self.options.landmarks.as_ref();
        let landmarks = landmarks.map(|landmarks| landmarks.on(grid, self.finest_mm(), &self.start, self.middle));
        let landmarks = landmarks.unwrap_or_default();
        let block_mm = (BLOCK * self.mm(self.coarse() - 1)).max(self.compared.far_mm(self.grid(self.finest())));
        let shared =
            Shared { from, compare: &plan.compare(), block_mm, landmarks: landmarks.each_ref().map(Vec::as_slice) };
        flow.enter(&shared, (&self.levels[number], &self.stored[number]), grid, &self.start)?;
        match before {
            Before::Searched(searched) => {
                let (planes, size, from) = searched.on(grid);
                flow.take(planes, size, from)
            }
            Before::Start | Before::Level(_) => Ok(()),
        }
    }

    /// Relaxes the field where it changes volumes more than tissue does, the start included.
    pub fn relax(&self, flow: &mut dyn Climb) -> Result<()> {
        // Two fields that meet share what volumes change.
        let share = |limit: f32| if self.middle.is_some() { limit.sqrt() } else { limit };
        flow.relax(self.limits()[0].map(share), RELAXED_ROUNDS)
    }

    /// By what factors the field from the fixed to the moving image may change volumes, after the start, and the way back.
    pub fn limits(&self) -> [[f32; 2]; 2] {
        // A start that itself changes volumes much cannot be undone by the field.
        let stretch = self.start.matrix3.determinant().abs().clamp(1.0 / MOST_STRETCH, MOST_STRETCH);
        let [low, high] = doubts::UNUSUAL;
        [stretch, 1.0 / stretch].map(|stretch| {
            let within = [low * (1.0 / stretch).max(1.0) * MARGIN, high * (1.0 / stretch).min(1.0) / MARGIN];
            within.map(|limit| limit as f32)
        })
    }

    /// Takes a flow to a level and climbs it, and sees that space is not folded.
    pub fn level(&self, flow: &mut Flows, number: usize, before: Before, smoothing: Smoothing) -> Result<Level> {
        let searched = matches!(before, Before::Searched(_));
        let grid = self.grid(number);
        let spacing_mm = grid.spacing.to_array();
        self.observer.level(number, self.levels.len(), spacing_mm);
        self.enter(flow, number, before)?;
        let plan = self.plan(number);
        let Climbed { values, terms, converged } = plan.climb(flow.climb(), Half::Both, smoothing, self.observer)?;
        go_on(self.observer)?;
        self.relax(flow.climb())?;
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
        let terms = if self.options.several(self.compared) { of_terms(&plan.terms, terms) } else { Vec::new() };
        Ok(Level { spacing_mm, size: grid.size, searched, values, terms, stopped, smooth_mm, jacobian_range })
    }
}

/// What metrics were before and after.
fn of_terms(terms: &[Term], [before, after]: [Vec<f64>; 2]) -> Vec<TermValues> {
    let values = terms.iter().zip(before.into_iter().zip(after));
    values
        .map(|(&Term { channel, force, weight }, (before, after))| TermValues { channel, force, weight, before, after })
        .collect()
}
