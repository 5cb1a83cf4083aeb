//! Climbs a level: gradient ascent of the metric by steps of the displacement field.

use super::Force;
use super::smoothing::Smoothing;
use crate::backend::{
    Agreement, Compare, FieldOptimizer, FlowStep, Halves, Measured, Relation, Score, Table, WeightedScore,
};
use crate::observer::ask_observer;
use crate::{Observer, Result};
use gpu::math::log;

/// The largest step of a voxel in an iteration, voxels.
const LIMIT: f32 = 0.5;

/// A level has converged when its value changed, over this many iterations, by less than the fraction `LITTLE` of the
/// range of its values at this level.
const PATIENCE: usize = 20;
const LITTLE: f64 = 2e-3;

/// The standard deviation of the window of local correlation, in voxels of the level.
const WINDOW: f64 = 2.5;

/// One metric of one channel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Term {
    pub channel: usize,
    pub force: Force,
    /// Above 0.
    pub weight: f64,
}

/// How a level is climbed.
pub struct Plan {
    /// In the order of the channels; each channel has the same metrics.
    pub terms: Vec<Term>,
    pub bins: u32,
    pub iterations: usize,
    /// The smallest distance between the level's voxels, mm.
    pub mm: f64,
    /// 2 in symmetric mode, else 1.
    pub flows: u32,
}

/// How well the images agree, and the scores that drive the next step.
struct Measurement {
    /// One for each term.
    measured: Vec<Measured>,
    scores: Vec<WeightedScore>,
}

/// The result of climbing a level.
pub struct LevelTrace {
    /// The value before each iteration and at the end.
    pub values: Vec<f64>,
    /// The value of each term before the first iteration and at the end.
    pub terms: [Vec<f64>; 2],
    pub converged: bool,
}

impl Plan {
    /// Returns how the flow has to compare the images for these terms: by joint histograms, by local means, or both.
    pub fn compare(&self) -> Vec<Compare> {
        let local = |term: &Term| term.force == Force::Lcc;
        let joint = self.terms.iter().any(|term| !local(term)).then_some(Compare::Joint { bins: self.bins });
        let by_means = self.terms.iter().any(local).then_some(Compare::Local { window_mm: WINDOW * self.mm });
        joint.into_iter().chain(by_means).collect()
    }

    fn measure(&self, flow: &mut dyn FieldOptimizer, half: Halves) -> Result<Measurement> {
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
        // In symmetric mode, there are agreements from both sides, whose mean is used.
        let sides = (agreements.len() / (each * channels)) as f64;
        let values = values.into_iter().zip(nats);
        let measured: Vec<_> =
            values.map(|(value, nats)| Measured { value: value / sides, nats: nats / sides }).collect();
        Ok(Measurement { measured, scores })
    }

    /// Returns the value of the level: that of a single term, or the weighted sum of the information of several, nats.
    fn together(&self, measured: &[Measured]) -> f64 {
        match measured {
            [alone] => alone.value,
            _ => self.sum(measured),
        }
    }

    fn sum(&self, measured: &[Measured]) -> f64 {
        self.terms.iter().zip(measured).map(|(term, of_term)| term.weight * of_term.nats).sum()
    }

    /// Returns the weighted sum of the information of all terms over the voxels of a half, nats.
    pub fn nats(&self, flow: &mut dyn FieldOptimizer, half: Halves) -> Result<f64> {
        self.measure(flow, half).map(|look| self.sum(&look.measured))
    }

    /// Climbs the level. The voxels of `half` drive the field; the values are those over all voxels.
    pub fn climb(
        &self,
        flow: &mut dyn FieldOptimizer,
        half: Halves,
        smoothing: Smoothing,
        observer: &dyn Observer,
    ) -> Result<LevelTrace> {
        // In symmetric mode, both flows estimate the same displacement, and each makes half of it.
        let share = 1.0 / f64::from(self.flows);
        let prior_mm = self.mm / share.sqrt();
        let smooth_mm = smoothing.sigmas_mm(self.mm);
        let step = FlowStep { half, prior_mm, smooth_mm, limit: LIMIT, share: share as f32 };
        let mut trace = LevelTrace { values: Vec::new(), terms: [Vec::new(), Vec::new()], converged: false };
        let mut record = |measured: &[Measured]| {
            let of_terms = measured.iter().map(|of_term| of_term.value).collect();
            trace.record(self.together(measured), of_terms, self.iterations, observer)
        };
        if let Some(relations) = self.relations()
            && flow.maximise(&relations, &step, self.iterations, &mut record)?
        {
            return Ok(trace);
        }
        loop {
            ask_observer(observer)?;
            let measurement = self.measure(flow, Halves::Both)?;
            if !record(&measurement.measured)? {
                return Ok(trace);
            }
            flow.step(&measurement.scores, &step)?;
        }
    }

    /// Returns the metric and the weight of each channel. Returns `None` unless every channel has exactly one metric,
    /// computed from a joint histogram.
    fn relations(&self) -> Option<Vec<(Relation, f64)>> {
        let relation = |(number, term): (usize, &Term)| match term {
            Term { channel, force, weight } if *channel == number => Some((force.relation()?, *weight)),
            _ => None,
        };
        self.terms.iter().enumerate().map(relation).collect()
    }
}

impl LevelTrace {
    /// Records the value before a step, or at the end, and those of its terms. Returns whether a step is to be made.
    fn record(&mut self, value: f64, terms: Vec<f64>, most: usize, observer: &dyn Observer) -> Result<bool> {
        ask_observer(observer)?;
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
