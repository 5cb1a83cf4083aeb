//! What every optimizer needs of an objective: a count, a limit, and the best point so far.

use super::{Maximum, Objective, Problem, Slope, Stopped};
use crate::{Error, Result};

/// A point and the value there.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    pub parameters: Vec<f64>,
    pub value: f64,
}

/// Why a search goes no further.
#[derive(Debug)]
pub enum Halt {
    /// It had its evaluations, or rounds.
    Exhausted,
    /// The objective failed.
    Failed(Error),
}

/// An objective under a limit.
pub struct Search<'a> {
    objective: &'a mut dyn Objective,
    limit: usize,
    evaluations: usize,
    best: Point,
}

impl<'a> Search<'a> {
    /// Evaluates the start.
    ///
    /// # Errors
    /// What the objective returns.
    pub fn new(objective: &'a mut dyn Objective, problem: &Problem) -> Result<Self> {
        let parameters = problem.start.clone();
        let value = objective.values(std::slice::from_ref(&parameters))?[0];
        Ok(Self { objective, limit: problem.evaluations, evaluations: 1, best: Point { parameters, value } })
    }

    /// Evaluates the start with its derivatives.
    ///
    /// # Errors
    /// What the objective returns.
    pub fn on_slope(objective: &'a mut dyn Objective, problem: &Problem) -> Result<(Self, Slope)> {
        let parameters = problem.start.clone();
        let slope = objective.slope(&parameters)?;
        let best = Point { parameters, value: slope.value };
        Ok((Self { objective, limit: problem.evaluations, evaluations: 1, best }, slope))
    }

    /// The best of all points so far; of equals the first.
    pub fn best(&self) -> &Point {
        &self.best
    }

    /// The points of a batch with their values. Once the limit is reached there is no further batch.
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

    /// A point with its value.
    ///
    /// # Errors
    /// [`Halt`] says why there is none.
    pub fn value(&mut self, parameters: Vec<f64>) -> Result<Point, Halt> {
        Ok(self.values(vec![parameters])?.swap_remove(0))
    }

    /// The value and the derivatives at a point, which count as one evaluation.
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

    /// The best point, and how the search ended.
    ///
    /// # Errors
    /// What the objective returned.
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
