//! Optimizers, which search for the parameters that maximise an objective. An optimizer sees only parameter vectors and
//! values. The unit of all parameters is 1 mm (see [`crate::transform::Steps`]).

mod batch;
mod bfgs;
mod brent;
mod directions;
mod gradient_ascent;
mod hill_climbing;
mod memory;
mod powell;
mod quadratic;
mod regular_step;
mod search;
mod simplex;
mod standard_powell;
#[cfg(test)]
mod tests;
mod vectors;

pub use batch::Batch;
pub use bfgs::Bfgs;
pub use gradient_ascent::GradientAscent;
pub use hill_climbing::HillClimbing;
pub use powell::Powell;
pub use quadratic::Quadratic;
pub use regular_step::RegularStep;
pub use simplex::Simplex;
pub use standard_powell::StandardPowell;

use crate::error::{Setting, message};
use crate::{Error, Result};
use serde::Serialize;
use strum::{Display, EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// A function of parameters, to be maximised.
pub trait Objective {
    /// Values at a batch of points.
    ///
    /// # Errors
    /// Any error of the evaluation, which ends the search.
    fn values(&mut self, points: &[Vec<f64>]) -> Result<Vec<f64>>;

    /// The value and its derivatives at a point.
    ///
    /// # Errors
    /// [`Error::Option`] if the function has no derivatives, or any error of the evaluation, which ends the search.
    fn slope(&mut self, _point: &[f64]) -> Result<Slope> {
        Err(Error::option(
            Setting::Optimizer,
            message!(
                Optimizer, " gradient-ascent, regular-step and bfgs need a metric with a gradient";
                "use ", Metric, " mattes or viola, or another ", Optimizer
            ),
        ))
    }
}

/// A value and its derivative by each parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Slope {
    pub value: f64,
    pub by: Vec<f64>,
}

/// A search to be made: its start, its first step along any parameter, the step below which it has converged
/// (`resolution`), and its limit.
#[derive(Debug, Clone)]
pub struct Problem {
    pub start: Vec<f64>,
    pub step: f64,
    pub resolution: f64,
    /// The most evaluations. A search may exceed them by a batch.
    pub evaluations: usize,
    /// The model around the maximum that an earlier, similar search found.
    pub shape: Option<Quadratic>,
}

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stopped {
    /// The next step would be shorter than the resolution.
    Converged,
    /// It reached its limit of evaluations or rounds.
    Exhausted,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Maximum {
    pub parameters: Vec<f64>,
    pub value: f64,
    /// The number of points at which the objective was evaluated.
    pub evaluations: usize,
    pub stopped: Stopped,
    /// The model around the maximum, from an optimizer that makes one.
    pub shape: Option<Quadratic>,
}

/// A search method.
pub trait Optimizer {
    /// Searches from the start for a maximum. The result is never worse than the start.
    ///
    /// # Errors
    /// Those of the objective.
    fn maximise(&self, objective: &mut dyn Objective, problem: &Problem) -> Result<Maximum>;
}

/// The optimizers by name.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Display, EnumMessage, EnumString, IntoStaticStr, VariantArray, Serialize,
)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum OptimizerKind {
    /// Newton steps from batches of evaluations
    Batch,
    /// Powell's directions, with the memory of Shams 2009, section 3.7
    Powell,
    /// Powell's directions without the memory
    StandardPowell,
    /// Downhill simplex, as in Jung & Wesarg
    Simplex,
    /// Steps to the best neighbour; the step length is halved if none is better (Ledig & Chefd'hotel, section 3.2)
    HillClimbing,
    /// Along the gradient, the step doubled while the metric rises, as Lin & Medioni, sections 4 and 5
    GradientAscent,
    /// Along the gradient by steps that are halved where it turns back, as in ITK
    RegularStep,
    /// Quasi-Newton steps (BFGS) from gradients, in a trust region
    Bfgs,
}

impl OptimizerKind {
    /// Whether it asks for [`Objective::slope`].
    pub fn needs_gradient(self) -> bool {
        matches!(self, Self::GradientAscent | Self::RegularStep | Self::Bfgs)
    }

    /// Makes the optimizer.
    pub fn optimizer(self) -> Box<dyn Optimizer> {
        match self {
            Self::Batch => Box::new(Batch::default()),
            Self::Powell => Box::new(Powell),
            Self::StandardPowell => Box::new(StandardPowell),
            Self::Simplex => Box::new(Simplex),
            Self::HillClimbing => Box::new(HillClimbing),
            Self::GradientAscent => Box::new(GradientAscent),
            Self::RegularStep => Box::new(RegularStep),
            Self::Bfgs => Box::new(Bfgs),
        }
    }
}
