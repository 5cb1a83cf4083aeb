//! Counts evaluations for all optimizers, enforces their limit, and keeps the best point.

use super::{Maximum, Objective, Problem, Slope, Stopped};
use crate::{Error, Result};

/// A point and the value there.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    pub parameters: Vec<f64>,
    pub value: f64,
}

/// Why a search ends before convergence.
#[derive(Debug)]
pub enum Halt {
    /// It reached its limit of evaluations or rounds.
    Exhausted,
    /// The objective failed.
    Failed(Error),
}

/// An objective with a limit of evaluations.
pub struct Search<'a> {
    objective: &'a mut dyn Objective,
    limit: usize,
    evaluations: usize,
    best: Point,
}

impl<'a> Search<'a> {
    /// Starts a search, and evaluates the start.
    ///
    /// # Errors
    /// Those of the objective.
    pub fn new(objective: &'a mut dyn Objective, problem: &Problem) -> Result<Self> {
        let parameters = problem.start.clone();
        let value = objective.values(std::slice::from_ref(&parameters))?[0];
        Ok(Self { objective, limit: problem.evaluations, evaluations: 1, best: Point { parameters, value } })
    }

    /// Starts a search, and evaluates the start with its derivatives.
    ///
    /// # Errors
    /// Those of the objective.
    pub fn on_slope(objective: &'a mut dyn Objective, problem: &Problem) -> Result<(Self, Slope)> {
        let parameters = problem.start.clone();
        let slope = objective.slope(&parameters)?;
        let best = Point { parameters, value: slope.value };
        Ok((Self { objective, limit: problem.evaluations, evaluations: 1, best }, slope))
    }

    /// The best of all points so far; of several, the first.
    pub fn best(&self) -> &Point {
        &self.best
    }

    /// Evaluates a batch, and returns its points with their values. After the limit is reached, no further batch is
    /// evaluated.
    ///
    /// # Errors
    /// [`Halt`] says why there are none.
    pub fn values(&mut self, batch: Vec<Vec<f64>>) -> Result<Vec<Point>, Halt> {
        if self.evaluations >= self.limit {
            return Err(Halt::Exhausted);
        }
        let values = self.objective.values(&batch).map_err(Halt::Failed)?;
        self.evaluations += batch.len();
        let pairs = batch.into_iter().zip(values);
        let points: Vec<Point> = pairs.map(|(parameters, value)| Point { parameters, value }).collect();
        points.iter().for_each(|point| self.compare(&point.parameters, point.value));
        Ok(points)
    }

    /// Evaluates a point, and returns it with its value.
    ///
    /// # Errors
    /// [`Halt`] says why there is none.
    pub fn value(&mut self, parameters: Vec<f64>) -> Result<Point, Halt> {
        Ok(self.values(vec![parameters])?.swap_remove(0))
    }

    /// Evaluates a point with its derivatives, which counts as one evaluation.
    ///
    /// # Errors
    /// [`Halt`] says why there are none.
    pub fn slope(&mut self, parameters: &[f64]) -> Result<Slope, Halt> {
        if self.evaluations >= self.limit {
            return Err(Halt::Exhausted);
        }
        let slope = self.objective.slope(parameters).map_err(Halt::Failed)?;
        self.evaluations += 1;
        self.compare(parameters, slope.value);
        Ok(slope)
    }

    fn compare(&mut self, parameters: &[f64], value: f64) {
        if value > self.best.value {
            self.best = Point { parameters: parameters.to_vec(), value };
        }
    }

    /// Ends the search, and returns the best point and how the search ended.
    ///
    /// # Errors
    /// That of the objective, if it failed.
    pub fn end(self, outcome: Result<(), Halt>) -> Result<Maximum> {
        let stopped = match outcome {
            Ok(()) => Stopped::Converged,
            Err(Halt::Exhausted) => Stopped::Exhausted,
            Err(Halt::Failed(error)) => return Err(error),
        };
        let Point { parameters, value } = self.best;
        Ok(Maximum { parameters, value, evaluations: self.evaluations, stopped, shape: None })
    }
}
