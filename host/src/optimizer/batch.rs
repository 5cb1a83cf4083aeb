//! Newton steps from batches of evaluations: the optimizer for backends that evaluate many transforms at once.
//!
//! Each round evaluates both neighbours along every parameter in one batch, which gives the gradient and the diagonal of the second
//! derivatives; the first round also evaluates pairs of parameters, which gives the rest of them. Later rounds keep the correlations
//! of the second derivatives and only renew the diagonal. Then a batch of lengths of the Newton step, limited to a trust region, is
//! tried, and the search goes on from the best point that was seen.

use super::quadratic::Quadratic;
use super::{Found, Objective, Optimizer, Problem, Stopped};
use crate::Result;

/// Lengths of the Newton step that are tried.
const LENGTHS: [f64; 4] = [0.5, 1.0, 1.5, 2.0];

/// The optimizer; it has nothing to set.
#[derive(Debug, Clone, Copy, Default)]
pub struct Batch;

impl Optimizer for Batch {
    fn maximise(&self, objective: &mut dyn Objective, problem: &Problem) -> Result<Found> {
        let start = problem.start.clone();
        let value = objective.values(std::slice::from_ref(&start))?[0];
        let mut search = Search { objective, best: (start, value), evaluations: 1, shape: problem.shape.clone() };
        let mut step = problem.step;
        let stopped = loop {
            if search.evaluations >= problem.evaluations {
                break Stopped::Exhausted;
            }
            let moved = search.round(step)?;
            if moved < problem.resolution || step < problem.resolution {
                break Stopped::Converged;
            }
            // The neighbours are to be about as far away as the maximum is.
            step = moved.clamp(0.25 * step, step);
        };
        let (parameters, value) = search.best;
        Ok(Found { parameters, value, evaluations: search.evaluations, stopped, shape: search.shape })
    }
}

struct Search<'a> {
    objective: &'a mut dyn Objective,
    best: (Vec<f64>, f64),
    evaluations: usize,
    /// The hill as the round before saw it.
    shape: Option<Quadratic>,
}

impl Search<'_> {
    /// Goes to the best point of a round, and returns how far that is.
    fn round(&mut self, step: f64) -> Result<f64> {
        let start = self.best.clone();
        let model = self.model(step)?;
        let newton = model.step(2.0 * step);
        let points = LENGTHS.map(|length| offset(&start.0, &newton, length));
        self.evaluate(&points)?;
        self.shape = Some(model);
        Ok(distance(&start.0, &self.best.0))
    }

    /// A quadratic through the neighbours of the best point at a distance of `step`.
    fn model(&mut self, step: f64) -> Result<Quadratic> {
        let (centre, value) = self.best.clone();
        let count = centre.len();
        let neighbours: Vec<_> = (0..count).flat_map(|i| [step, -step].map(|s| moved(&centre, &[(i, s)]))).collect();
        let pairs: Vec<_> = match self.shape {
            Some(_) => Vec::new(),
            None => (0..count).flat_map(|i| (0..i).map(move |j| (i, j))).collect(),
        };
        let corners = pairs.iter().map(|&(i, j)| moved(&centre, &[(i, step), (j, step)]));
        let points: Vec<_> = neighbours.into_iter().chain(corners).collect();
        let values = self.evaluate(&points)?;
        let (beside, across) = values.split_at(2 * count);
        let gradient = beside.chunks(2).map(|pair| (pair[0] - pair[1]) / (2.0 * step)).collect();
        let diagonal = beside.chunks(2).map(|pair| (pair[0] + pair[1] - 2.0 * value) / (step * step)).collect();
        Ok(match &self.shape {
            Some(before) => before.renewed(gradient, diagonal),
            None => {
                let mixed = |(&(i, j), corner): (&(usize, usize), &f64)| {
                    let cross = (corner - beside[2 * i] - beside[2 * j] + value) / (step * step);
                    ((i, j), cross)
                };
                Quadratic::new(gradient, diagonal, pairs.iter().zip(across).map(mixed))
            }
        })
    }

    /// Values at points; the best point so far is kept.
    fn evaluate(&mut self, points: &[Vec<f64>]) -> Result<Vec<f64>> {
        let values = self.objective.values(points)?;
        self.evaluations += values.len();
        for (point, &value) in points.iter().zip(&values) {
            if value > self.best.1 {
                self.best = (point.clone(), value);
            }
        }
        Ok(values)
    }
}

/// A point with some coordinates moved.
fn moved(point: &[f64], by: &[(usize, f64)]) -> Vec<f64> {
    let mut point = point.to_vec();
    by.iter().for_each(|&(i, step)| point[i] += step);
    point
}

fn offset(point: &[f64], step: &[f64], length: f64) -> Vec<f64> {
    point.iter().zip(step).map(|(point, step)| point + length * step).collect()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}
