//! The levels that a flow passes from one start, and how each of them is climbed.

use super::climb::{LevelTrace, Plan, Term};
use super::flows::{Flows, Shared};
use super::middle::Middle;
use super::searched::Searched;
use super::smoothing::Smoothing;
use super::{Compared, Level, Options, TermValues, doubts, levels, smallest};
use crate::backend::{Backend, FieldOptimizer, FlowReference, Halves, RELAXED_ROUNDS};
use crate::image::{Geometry, Intensities, StoredImage};
use crate::observer::ask_observer;
use crate::{Observer, Result};
use glam::DAffine3;

/// The maximum number of iterations at the finest level, at the one before it, and at all coarser ones.
const ITERATIONS: [usize; 3] = [12, 50, 100];

/// The most voxels of the finest level for it to have as many iterations as the one before it, if parts move by
/// themselves: coarse levels leave them off by a fraction of their voxels.
const MOST_FOLLOWED_VOXELS: usize = 1 << 20;

/// The side of the blocks of the chessboard that splits voxels into a fitted and a held-out half, in voxels of the last
/// coarse level. Blocks are larger if the neighbourhoods of local contrast are.
const BLOCK: f64 = 4.0;

/// A level of a volume with no more voxels than this is a coarse level, unless it is the finest. A head has 90,000
/// voxels at 4 mm.
const MOST_TRIAL_VOXELS: usize = 1 << 17;

/// The most voxels of the level after the coarse ones for it to be searched, too: for as many, two threads take three
/// seconds.
const MOST_SEARCH_VOXELS: usize = 1 << 20;

/// The margin, as a factor, by which relaxed fields are kept within the limits of volume change.
const MARGIN: f64 = 1.01;

/// The largest change of volume by the start, as a factor, that the limits on the field take into account.
const MOST_STRETCH: f64 = 2.0;

/// The field that a level begins with.
pub enum Before<'a> {
    /// The field is 0: the level begins at the linear start.
    Start,
    /// The field of the level of this number, on which the flow currently is.
    Level(usize),
    /// The result of the search for large displacements.
    Searched(&'a Searched),
}

/// The levels of a flow from one start, and all that it needs to climb them.
#[derive(Clone, Copy)]
pub struct Course<'a> {
    pub levels: &'a [levels::Level<'a>],
    /// The stored images, fixed and moving, of each level's channels.
    pub stored: &'a [Vec<[StoredImage; 2]>],
    /// The linear start: fixed point to moving point, LPS mm.
    pub start: DAffine3,
    pub intensities: [Intensities; 2],
    /// In symmetric mode, the middle between the images, where the two flows meet.
    pub middle: Option<&'a Middle>,
    pub options: &'a Options,
    pub compared: Compared,
    pub observer: &'a dyn Observer,
    pub backend: &'a dyn Backend,
}

impl Course<'_> {
    /// Returns the number of coarse levels, on which candidate fields are tried: all but the two finest, on which
    /// trials would take too long. For small volumes the level before the finest is one of them, too: coarser ones show
    /// so little of them that the stiffest field looks best.
    pub fn coarse(&self) -> usize {
        let grids = (0..self.finest()).map(|number| self.grid(number));
        let small = grids.take_while(|grid| !grid.is_flat() && grid.voxels() <= MOST_TRIAL_VOXELS).count();
        small.max(self.levels.len().saturating_sub(2)).max(1)
    }

    /// Returns the number of the last coarse level, which may begin with displacements.
    pub fn last_coarse(&self) -> usize {
        self.coarse() - 1
    }

    /// Returns whether the level after the coarse ones is searched, too. It is for volumes, unless it is the finest
    /// level, it has too many voxels, or the mode is symmetric.
    pub fn searches_further(&self) -> bool {
        let number = self.coarse();
        self.middle.is_none() && number < self.finest() && {
            let grid = self.grid(number);
            !grid.is_flat() && grid.voxels() <= MOST_SEARCH_VOXELS
        }
    }

    /// Returns the smoothing of a level, given that of the coarse levels.
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

    /// Returns the terms of a level: each metric with a weight above 0, for each channel.
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

    /// Returns the smallest distance between neighbouring voxels of a level, mm.
    pub fn mm(&self, number: usize) -> f64 {
        smallest(self.grid(number))
    }

    /// Returns the grid of a level's displacement fields.
    pub fn grid(&self, number: usize) -> &Geometry {
        self.middle.map_or_else(|| self.levels[number].grids()[0], |middle| &middle.grids[number])
    }

    pub fn finest(&self) -> usize {
        self.levels.len() - 1
    }

    pub fn finest_mm(&self) -> f64 {
        self.mm(self.finest())
    }

    /// Returns the field that a level begins with: `searched` if it is of this level, else the field of the level
    /// before.
    pub fn before<'s>(&self, number: usize, searched: Option<&'s Searched>) -> Before<'s> {
        match searched {
            Some(searched) if number == searched.level => Before::Searched(searched),
            _ => number.checked_sub(1).map_or(Before::Start, Before::Level),
        }
    }

    /// Moves a flow to a level, with the field that it begins with.
    pub fn enter(&self, flow: &mut Flows, number: usize, before: Before) -> Result<()> {
        ask_observer(self.observer)?;
        let grid = self.grid(number);
        let from = match before {
            Before::Level(before) => Some(levels::between(self.grid(before), grid)),
            Before::Start | Before::Searched(_) => None,
        };
        let plan = self.plan(number);
        let landmarks = self.options.landmarks.as_ref();
        let landmarks = landmarks.map(|landmarks| landmarks.on(grid, self.finest_mm(), &self.start, self.middle));
        let landmarks = landmarks.unwrap_or_default();
        let block_mm = (BLOCK * self.mm(self.last_coarse())).max(self.compared.influence_mm(self.grid(self.finest())));
        let shared =
            Shared { from, compare: &plan.compare(), block_mm, landmarks: landmarks.each_ref().map(Vec::as_slice) };
        flow.enter(&shared, (&self.levels[number], &self.stored[number]), grid, &self.start)?;
        match before {
            Before::Searched(searched) => {
                let (planes, size, from) = searched.displacements.on(grid);
                flow.take(planes, size, from)
            }
            Before::Start | Before::Level(_) => Ok(()),
        }
    }

    /// Relaxes the field where it and the start together change volumes more than tissue does.
    pub fn relax(&self, flow: &mut dyn FieldOptimizer) -> Result<()> {
        // In symmetric mode, each of the two fields may make half of the change, on a logarithmic scale.
        let share = |limit: f32| if self.middle.is_some() { limit.sqrt() } else { limit };
        flow.relax(self.limits()[0].map(share), RELAXED_ROUNDS)
    }

    /// Returns the smallest and the largest factor by which a field without its linear start may change volumes: for
    /// the field from the fixed to the moving image, and for its inverse.
    pub fn limits(&self) -> [[f32; 2]; 2] {
        // A start that changes volumes by more than this cannot be undone by the field.
        let stretch = self.start.matrix3.determinant().abs().clamp(1.0 / MOST_STRETCH, MOST_STRETCH);
        let [low, high] = doubts::UNUSUAL;
        [stretch, 1.0 / stretch].map(|stretch| {
            let within = [low * (1.0 / stretch).max(1.0) * MARGIN, high * (1.0 / stretch).min(1.0) / MARGIN];
            within.map(|limit| limit as f32)
        })
    }

    /// Climbs a level that a flow is on: see [`Plan::climb`]. `searched` are the displacements that the flow began with:
    /// smoothing the field leaves their reference as it is.
    pub fn climb(
        &self,
        flow: &mut Flows,
        (number, plan): (usize, &Plan),
        half: Halves,
        smoothing: Smoothing,
        searched: Option<&Searched>,
        observer: &dyn Observer,
    ) -> Result<LevelTrace> {
        let reference = searched.and_then(|searched| searched.reference.as_deref());
        if let Some(reference) = reference {
            let [_, field_mm] = smoothing.sigmas_mm(self.mm(number));
            let (planes, size, from) = reference.on(self.grid(number));
            flow.refer_to(Some(&FlowReference { planes, size, from, smooth_mm: field_mm }))?;
        }
        let trace = plan.climb(flow.as_optimizer(), half, smoothing, observer)?;
        if reference.is_some() {
            // This frees the memory that the end of a deformation needs.
            flow.refer_to(None)?;
        }
        Ok(trace)
    }

    /// Returns the plan of a level of a flow that begins with `searched`.
    fn plan_from(&self, searched: Option<&Searched>, number: usize) -> Plan {
        let mut plan = self.plan(number);
        let of_parts = searched.is_some_and(|searched| searched.reference.is_some());
        if of_parts && self.options.iterations.is_none() && self.grid(number).voxels() <= MOST_FOLLOWED_VOXELS {
            plan.iterations = plan.iterations.max(ITERATIONS[1]);
        }
        plan
    }

    /// Moves a flow that begins with `searched` to a level, climbs it, and relaxes the field. If the field still folds, smooths it until it does
    /// not.
    pub fn level(
        &self,
        flow: &mut Flows,
        number: usize,
        searched: Option<&Searched>,
        smoothing: Smoothing,
    ) -> Result<Level> {
        let before = self.before(number, searched);
        let is_searched = matches!(before, Before::Searched(_));
        let grid = self.grid(number);
        let spacing_mm = grid.spacing.to_array();
        self.observer.level(number, self.levels.len(), spacing_mm);
        self.enter(flow, number, before)?;
        let plan = self.plan_from(searched, number);
        let LevelTrace { values, terms, converged } =
            self.climb(flow, (number, &plan), Halves::Both, smoothing, searched, self.observer)?;
        ask_observer(self.observer)?;
        self.relax(flow.as_optimizer())?;
        let mut jacobian_range = flow.as_optimizer().jacobian_range()?;
        let mut mm = 0.5 * smallest(grid);
        while jacobian_range[0] <= 0.0 && mm < 64.0 * smallest(grid) {
            ask_observer(self.observer)?;
            flow.as_optimizer().smooth(mm)?;
            ask_observer(self.observer)?;
            jacobian_range = flow.as_optimizer().jacobian_range()?;
            mm *= 2.0;
        }
        let stopped = if converged { "converged" } else { "iterations" };
        let smooth_mm = smoothing.sigmas_mm(self.mm(number));
        let terms = if self.options.several(self.compared) { of_terms(&plan.terms, terms) } else { Vec::new() };
        Ok(Level {
            spacing_mm,
            size: grid.size,
            searched: is_searched,
            values,
            terms,
            stopped,
            smooth_mm,
            jacobian_range,
        })
    }
}

/// Pairs terms with their values before and after a level.
fn of_terms(terms: &[Term], [before, after]: [Vec<f64>; 2]) -> Vec<TermValues> {
    let values = terms.iter().zip(before.into_iter().zip(after));
    values
        .map(|(&Term { channel, force, weight }, (before, after))| TermValues { channel, force, weight, before, after })
        .collect()
}
