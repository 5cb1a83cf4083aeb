//! Regular-step gradient ascent, as in ITK's `RegularStepGradientDescentOptimizerv4`: steps of fixed length along the
//! gradient, which are halved when the gradient reverses.

use super::search::{Halt, Search};
use super::{Maximum, Objective, Optimizer, Problem, vectors};
use crate::Result;

/// The factor of the step when the gradient reverses. This is ITK's default.
const RELAXATION: f64 = 0.5;

/// Steps along the gradient, whether the value rises or not, with step lengths from [`Problem::step`] down to the
/// resolution. The result is the best point visited.
#[derive(Debug, Clone, Copy)]
pub struct RegularStep;

impl Optimizer for RegularStep {
    fn maximise(&self, objective: &mut dyn Objective, problem: &Problem) -> Result<Maximum> {
        let (mut search, slope) = Search::on_slope(objective, problem)?;
        let outcome = climb(&mut search, slope.by, problem);
        search.end(outcome)
    }
}

fn climb(search: &mut Search, mut gradient: Vec<f64>, problem: &Problem) -> Result<(), Halt> {
    let mut point = problem.start.clone();
    let mut step = problem.step;
    while let Some(direction) = vectors::direction(&gradient) {
        point = vectors::along(&point, &direction, step);
        let next = search.slope(&point)?.by;
        if vectors::dot(&gradient, &next) < 0.0 {
            step *= RELAXATION;
        }
        if step < problem.resolution {
            break;
        }
        gradient = next;
    }
    Ok(())
}
