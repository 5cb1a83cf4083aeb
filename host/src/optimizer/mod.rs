//! Searches for the parameters that maximise a function of them. An optimizer sees only parameter vectors and values.

mod brent;
mod memory;
mod powell;

pub use powell::Powell;

use crate::Result;

/// A function of parameters, to be maximised.
pub trait Objective {
    /// Values at a batch of points.
    ///
    /// # Errors
    /// Whatever evaluating them brings; the search ends with it.
    fn values(&mut self, points: &[Vec<f64>]) -> Result<Vec<f64>>;
}

/// Where a search starts, how far it first steps, and what counts as no step at all, each a number a parameter.
#[derive(Debug, Clone)]
pub struct Problem {
    pub start: Vec<f64>,
    pub step: Vec<f64>,
    pub resolution: Vec<f64>,
}

/// Where a search ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub parameters: Vec<f64>,
    pub value: f64,
    /// Points at which the objective was evaluated.
    pub evaluations: usize,
}

/// A way to search.
pub trait Optimizer {
    /// Climbs from the start to a maximum.
    ///
    /// # Errors
    /// What the objective returns.
    fn maximise(&self, objective: &mut dyn Objective, problem: &Problem) -> Result<Found>;
}
