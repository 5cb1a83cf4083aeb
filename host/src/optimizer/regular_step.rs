//! Regular-step gradient ascent, as ITK's `RegularStepGradientDescentOptimizerv4`: a step of fixed length along the gradient, half as
//! long from where the gradient has turned back.

use super::search::{Halt, Search};
use super::{Maximum, Objective, Optimizer, Problem, uphill};
use crate::Result;

/// What a step is multiplied by where the gradient turns back; ITK's default.
const RELAXATION: f64 = 0.5;

/// Steps along the gradient whatever the value there, from [`Problem::step`] to the resolution; ends at the best point it met.
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
    while let Some(direction) = uphill::direction(&gradient) {
        point = uphill::along(&point, &direction, step);
        let next = search.slope(&point)?.by;
        if uphill::dot(&gradient, &next) < 0.0 {
            step *= RELAXATION;
        }
        if step < problem.resolution {
            break;
        }
        gradient = next;
    }
    Ok(())
}
