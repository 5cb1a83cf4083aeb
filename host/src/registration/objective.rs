//! The metric at one level as a function of steps away from a transform.

use super::{Images, Rise};
use crate::backend::Evaluator;
use crate::metric::{Evaluation, MetricKind};
use crate::optimizer::{Found, Objective, Optimizer, Problem};
use crate::transform::Steps;
use crate::{Observer, Result};
use glam::DAffine3;

/// With less than this part of the most samples that any start had inside the other image, a high metric means nothing.
const LEAST_OVERLAP: f64 = 0.3;

/// The metric of one level.
pub struct Metric<'a> {
    images: &'a Images,
    evaluator: &'a mut dyn Evaluator,
    kind: MetricKind,
    observer: &'a dyn Observer,
    /// Samples inside the other image below which a transform counts as the worst there is.
    least_overlap: u64,
    pub evaluations: usize,
    /// Where the best value rose.
    pub trace: Vec<Rise>,
}

impl<'a> Metric<'a> {
    pub fn new(
        images: &'a Images,
        evaluator: &'a mut dyn Evaluator,
        kind: MetricKind,
        observer: &'a dyn Observer,
    ) -> Self {
        Self { images, evaluator, kind, observer, least_overlap: 1, evaluations: 0, trace: Vec::new() }
    }

    /// The metric at each map of points in LPS mm, 0 where little overlaps; what is little follows from the most that overlaps here.
    pub fn scores(&mut self, transforms: &[DAffine3]) -> Result<Vec<f64>> {
        let found = self.evaluate(transforms)?;
        let most = found.iter().map(|evaluation| evaluation.overlap).max().unwrap_or(0);
        self.least_overlap = ((LEAST_OVERLAP * most as f64) as u64).max(1);
        Ok(self.values(&found))
    }

    /// Climbs from a transform with an optimizer.
    pub fn climb(
        &mut self,
        optimizer: &dyn Optimizer,
        base: DAffine3,
        steps: &Steps,
        problem: &Problem,
    ) -> Result<Found> {
        optimizer.maximise(&mut Away { metric: self, base, steps }, problem)
    }

    fn evaluate(&mut self, transforms: &[DAffine3]) -> Result<Vec<Evaluation>> {
        self.images.evaluate(self.evaluator, transforms, self.kind.wanted())
    }

    /// The values, which the observer and the trace hear of.
    fn values(&mut self, found: &[Evaluation]) -> Vec<f64> {
        let value = |e: &Evaluation| if e.overlap < self.least_overlap { 0.0 } else { e.value(self.kind) };
        let values: Vec<f64> = found.iter().map(value).collect();
        self.evaluations += values.len();
        let before = self.trace.last().map_or(f64::NEG_INFINITY, |rise| rise.value);
        let best = values.iter().copied().fold(before, f64::max);
        if best > before {
            self.trace.push(Rise { evaluations: self.evaluations, value: best });
        }
        self.observer.evaluated(self.evaluations, best);
        values
    }
}

/// The metric as an optimizer sees it: a function of steps away from a transform.
struct Away<'m, 'a> {
    metric: &'m mut Metric<'a>,
    base: DAffine3,
    steps: &'m Steps,
}

impl Objective for Away<'_, '_> {
    fn values(&mut self, points: &[Vec<f64>]) -> Result<Vec<f64>> {
        let transforms: Vec<_> = points.iter().map(|mm| self.base * self.steps.map(mm)).collect();
        let found = self.metric.evaluate(&transforms)?;
        Ok(self.metric.values(&found))
    }
}
