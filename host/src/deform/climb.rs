//! The flow at one level.

use super::Force;
use super::smoothing::Smoothing;
use crate::backend::{Agreement, Climb, Compare, FlowStep, Half, Measured, Relation, Score, Table, WeightedScore};
use crate::observer::go_on;
use crate::{Observer, Result};
use gpu::math::log;

/// No voxel moves further in an iteration, voxels.
const LIMIT: f32 = 0.5;

/// A level has converged when in so many iterations the value changed by less than this part of how far apart its values on the level
/// are.
const PATIENCE: usize = 20;
const LITTLE: f64 = 2e-3;

/// The window of local correlation, in voxels of a level.
const WINDOW: f64 = 2.5;

/// A metric of a channel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Term {
    pub channel: usize,
    pub force: Force,
    /// More than 0.
    pub weight: f64,
}

/// How a level is climbed.
pub struct Plan {
    /// By channels, which have the same forces.
    pub terms: Vec<Term>,
    pub bins: u32,
    pub iterations: usize,
    /// The distance between the level's voxels, mm.
    pub mm: f64,
    /// Two where both images flow to the middle, else one.
    pub flows: u32,
}

/// How the images agree, and what pulls.
struct Look {
    /// Of each term.
    measured: Vec<Measured>,
    scores: Vec<WeightedScore>,
}

/// The way that was climbed.
pub struct Climbed {
    /// Before each iteration and at the end.
    pub values: Vec<f64>,
    /// Of each term before and at the end.
    pub terms: [Vec<f64>; 2],
    pub converged: bool,
}

impl Plan {
    /// What the flow compares, by joint histograms and by local means.
    pub fn compare(&self) -> Vec<Compare> {
        let local = |term: &Term| term.force == Force::Lcc;
        let joint = self.terms.iter().any(|term| !local(term)).then_some(Compare::Joint { bins: self.bins });
        let by_means = self.terms.iter().any(local).then_some(Compare::Local { window_mm: WINDOW * self.mm });
        joint.into_iter().chain(by_means).collect()
    }

    fn look(&self, flow: &mut dyn Climb, half: Half) -> Result<Look> {
        let mut values = vec![0.0; self.terms.len()];
        let mut nats = values.clone();
        let mut scores = Vec::new();
        let (agreements, each) = (flow.agreement(half)?, self.compare().len());
        let channels = self.terms.last().map_or(1, |term| term.channel + 1);
        for (number, agreement) in agreements.iter().enumerate() {
            let channel = number / each % channels;
            let of_channel = self.terms.iter().enumerate().filter(|(_, term)| term.channel == channel);
            match agreement {
                Agreement::Local { correlation, .. } => {
                    for (term, Term { weight, .. }) in of_channel.filter(|(_, term)| term.force == Force::Lcc) {
                        values[term] += correlation;
                        nats[term] += -0.5 * log::of(1.0 - correlation);
                        scores.push((Score::Local, *weight));
                    }
                }
                Agreement::Joint(counts) => {
                    let mut tables = Vec::new();
                    for (term, Term { force, weight, .. }) in of_channel {
                        let Some(relation) = force.relation() else { continue };
                        let table = Table::new(relation, counts, self.bins as usize);
                        values[term] += table.value;
                        nats[term] += table.nats;
                        tables.push((table, *weight));
                    }
                    scores.push(Table::together(tables));
                }
            }
        }
        // Of two flows that meet each image is looked at from both.
        let sides = (agreements.len() / (each * channels)) as f64;
        let values = values.into_iter().zip(nats);
        let measured: Vec<_> =
            values.map(|(value, nats)| Measured { value: value / sides, nats: nats / sides }).collect();
        Ok(Look { measured, scores })
    }

    /// The value of the metric; of several the weighted sum of their information.
    fn together(&self, measured: &[Measured]) -> f64 {
        match measured {
            [alone] => alone.value,
            _ => self.sum(measured),
        }
    }

    fn sum(&self, measured: &[Measured]) -> f64 {
        self.terms.iter().zip(measured).map(|(term, of_term)| term.weight * of_term.nats).sum()
    }

    /// The information that the metrics over the voxels of a half stand for: their weighted sum, nats.
    pub fn nats(&self, flow: &mut dyn Climb, half: Half) -> Result<f64> {
        self.look(flow, half).map(|look| self.sum(&look.measured))
    }

    /// Climbs, pulled by the voxels of a half.
    pub fn climb(
        &self,
        flow: &mut dyn Climb,
        half: Half,
        smoothing: Smoothing,
        observer: &dyn Observer,
    ) -> Result<Climbed> {
        // Each of the flows that meet makes its part of the displacement that both know of.
        let share = 1.0 / f64::from(self.flows);
        let prior_mm = self.mm / share.sqrt();
        let smooth_mm = smoothing.sigmas_mm(self.mm);
        let step = FlowStep { half, prior_mm, smooth_mm, limit: LIMIT, share: share as f32 };
        let mut climbed = Climbed { values: Vec::new(), terms: [Vec::new(), Vec::new()], converged: false };
        let mut hear = |measured: &[Measured]| {
            let of_terms = measured.iter().map(|of_term| of_term.value).collect();
            climbed.goes_on(self.together(measured), of_terms, self.iterations, observer)
        };
        if let Some(relations) = self.relations()
            && flow.climb(&relations, &step, self.iterations, &mut hear)?
        {
            return Ok(climbed);
        }
        loop {
            go_on(observer)?;
            let look = self.look(flow, Half::Both)?;
            if !hear(&look.measured)? {
                return Ok(climbed);
            }
            flow.step(&look.scores, &step)?;
        }
    }

    /// The metric of each channel and its weight, if each has one, of a joint histogram.
    fn relations(&self) -> Option<Vec<(Relation, f64)>> {
        let relation = |(number, term): (usize, &Term)| match term {
            Term { channel, force, weight } if *channel == number => Some((force.relation()?, *weight)),
            _ => None,
        };
        self.terms.iter().enumerate().map(relation).collect()
    }
}

impl Climbed {
    /// Takes the value before a step, or at the end, and those of its terms; whether there is a step to be made.
    fn goes_on(&mut self, value: f64, terms: Vec<f64>, most: usize, observer: &dyn Observer) -> Result<bool> {
        go_on(observer)?;
        self.values.push(value);
        observer.evaluated(self.values.len(), value);
        let [before, after] = &mut self.terms;
        if before.is_empty() {
            before.clone_from(&terms);
        }
        *after = terms;
        let more = self.values.len() <= most;
        self.converged = more && converged(&self.values);
        Ok(more && !self.converged)
    }
}

fn converged(values: &[f64]) -> bool {
    let Some(before) = values.len().checked_sub(1 + PATIENCE) else { return false };
    let (low, high) =
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)));
    (values[values.len() - 1] - values[before]).abs() < LITTLE * (high - low)
}
