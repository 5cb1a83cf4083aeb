//! Searches for the parameters that maximise a function of them. An optimizer sees only parameter vectors and values; a unit of any
//! parameter is 1 mm (see [`crate::transform::Steps`]).

mod batch;
mod brent;
mod directions;
mod gradient_ascent;
mod hill_climbing;
mod lbfgs;
mod memory;
mod powell;
mod quadratic;
mod regular_step;
mod search;
mod simplex;
mod standard_powell;
#[cfg(test)]
mod tests;
mod uphill;

pub use batch::Batch;
pub use gradient_ascent::GradientAscent;
pub use hill_climbing::HillClimbing;
pub use lbfgs::Lbfgs;
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
    /// Whatever evaluating them brings; the search ends with it.
    fn values(&mut self, points: &[Vec<f64>]) -> Result<Vec<f64>>;

    /// The value and its derivatives at a point.
    ///
    /// # Errors
    /// [`Error::Option`] where the function has no derivatives; else whatever evaluating them brings. The search ends with it.
    fn slope(&mut self, _point: &[f64]) -> Result<Slope> {
        Err(Error::option(
            Setting::Optimizer,
            message!(
                Optimizer, " gradient-ascent, regular-step and lbfgs need a metric with a gradient";
                "use ", Metric, " mattes or viola, or another ", Optimizer
            ),
        ))
    }
}

/// A value and its derivatives by each parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Slope {
    pub value: f64,
    pub by: Vec<f64>,
}

/// Where a search starts, how far it first steps along any parameter, what counts as no step at all, and how long it may go on.
#[derive(Debug, Clone)]
pub struct Problem {
    pub start: Vec<f64>,
    pub step: f64,
    pub resolution: f64,
    /// Evaluations at most; a search may end a batch later.
    pub evaluations: usize,
    /// What an earlier search for a similar maximum learnt.
    pub shape: Option<Quadratic>,
}

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stopped {
    /// It would step by less than the resolution.
    Converged,
    /// It had its evaluations, or rounds.
    Exhausted,
}

/// Where a search ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Maximum {
    pub parameters: Vec<f64>,
    pub value: f64,
    /// Points at which the objective was evaluated.
    pub evaluations: usize,
    pub stopped: Stopped,
    /// The hill around the maximum, for an optimizer that models it.
    pub shape: Option<Quadratic>,
}

/// A way to search.
pub trait Optimizer {
    /// Climbs from the start to a maximum, never to a point below the start.
    ///
    /// # Errors
    /// What the objective returns.
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
    /// Limited-memory quasi-Newton steps (BFGS) along the gradient
    Lbfgs,
}

impl OptimizerKind {
    /// Whether it asks for [`Objective::slope`].
    pub fn needs_gradient(self) -> bool {
        matches!(self, Self::GradientAscent | Self::RegularStep | Self::Lbfgs)
    }

    /// The optimizer itself.
    pub fn optimizer(self) -> Box<dyn Optimizer> {
        match self {
            Self::Batch => Box::new(Batch),
            Self::Powell => Box::new(Powell),
            Self::StandardPowell => Box::new(StandardPowell),
            Self::Simplex => Box::new(Simplex),
            Self::HillClimbing => Box::new(HillClimbing),
            Self::GradientAscent => Box::new(GradientAscent),
            Self::RegularStep => Box::new(RegularStep),
            Self::Lbfgs => Box::new(Lbfgs),
        }
    }
}
