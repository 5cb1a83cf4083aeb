//! The metric at one level as a function of steps away from a transform.

use super::chain::Chain;
use super::measure::{At, Measure};
use super::{Images, Rise};
use crate::optimizer::{Found, Objective, Optimizer, Problem, Slope};
use crate::transform::Steps;
use crate::{Observer, Result};
use glam::DAffine3;

/// With less than this part of the most samples that any start had inside the other image, a high metric means nothing.
const LEAST_OVERLAP: f64 = 0.3;
/// What counts as the worst there is. Only Viola's metric falls below 0, by chance and by far less.
const WORST: f64 = 0.0;
const WORST_OF_SMOOTH: f64 = -1.0;

/// The metric of one level.
pub struct Metric<'a> {
    images: &'a Images,
    measure: Measure<'a>,
    worst: f64,
    observer: &'a dyn Observer,
    /// Samples inside the other image below which a transform counts as the worst there is.
    least_overlap: u64,
    pub evaluations: usize,
    /// Where the best value rose.
    pub trace: Vec<Rise>,
}

impl<'a> Metric<'a> {
    pub fn new(images: &'a Images, measure: Measure<'a>, smooth: bool, observer: &'a dyn Observer) -> Self {
        let worst = if smooth { WORST_OF_SMOOTH } else { WORST };
        Self { images, measure, worst, observer, least_overlap: 1, evaluations: 0, trace: Vec::new() }
    }

    /// The metric at each map of points in LPS mm, none where little overlaps; what is little follows from the most that overlaps here.
    pub fn scores(&mut self, transforms: &[DAffine3]) -> Result<Vec<Option<f64>>> {
        let found = self.measure.values(transforms)?;
        let most = found.iter().map(|at| at.overlap).max().unwrap_or(0);
        self.least_overlap = ((LEAST_OVERLAP * most as f64) as u64).max(1);
        let values = self.values(&found);
        Ok(values.into_iter().zip(found).map(|(value, at)| self.overlaps(&at).then_some(value)).collect())
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

    fn overlaps(&self, at: &At) -> bool {
        at.overlap >= self.least_overlap
    }

    /// The values, which the observer and the trace hear of.
    fn values(&mut self, found: &[At]) -> Vec<f64> {
        let values: Vec<f64> = found.iter().map(|at| if self.overlaps(at) { at.value } else { self.worst }).collect();
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
        let found = self.metric.measure.values(&transforms)?;
        Ok(self.metric.values(&found))
    }

    fn slope(&mut self, point: &[f64]) -> Result<Slope> {
        let (at, by_map) = self.metric.measure.slope(&(self.base * self.steps.map(point)))?;
        let value = self.metric.values(&[at])[0];
        let by = match self.metric.overlaps(&at) {
            true => self.metric.images.chain(&self.base, self.steps).by_parameters(&by_map, point),
            false => vec![0.0; point.len()],
        };
        Ok(Slope { value, by })
    }
}
