//! Steepest ascent with the step search of Lin & Medioni, sections 4 and 5: along the gradient, from a step of 0.1, "and double it until
//! the mutual information cannot increase", 50 times.
//!
//! Their unit of a step is not given; here it is [`Problem::step`], whatever the gradient's length. Where not even the first step rises,
//! shorter ones are tried, down to the resolution.

use super::search::{Halt, Search};
use super::{Maximum, Objective, Optimizer, Problem, uphill};
use crate::Result;

/// The first step of a line, in units of [`Problem::step`].
const FIRST: f64 = 0.1;
/// Gradients that are followed at most.
const ITERATIONS: usize = 50;

/// Follows one gradient after the other, each as far as it rises. The values along it are asked for one at a time, as a batch would
/// mostly lie beyond the last that counts.
#[derive(Debug, Clone, Copy)]
pub struct GradientAscent;

impl Optimizer for GradientAscent {
    fn maximise(&self, objective: &mut dyn Objective, problem: &Problem) -> Result<Maximum> {
        let (mut search, slope) = Search::on_slope(objective, problem)?;
        let outcome = climb(&mut search, slope.by, problem);
        search.end(outcome)
    }
}

fn climb(search: &mut Search, mut gradient: Vec<f64>, problem: &Problem) -> Result<(), Halt> {
    for _ in 0..ITERATIONS {
        let Some(direction) = uphill::direction(&gradient) else { return Ok(()) };
        if !follow(search, &direction, problem)? {
            return Ok(());
        }
        let here = search.best().parameters.clone();
        gradient = search.slope(&here)?.by;
    }
    Err(Halt::Exhausted)
}

/// Goes from the best point as far as it rises; whether it rose at all.
fn follow(search: &mut Search, direction: &[f64], problem: &Problem) -> Result<bool, Halt> {
    let start = search.best().parameters.clone();
    let mut rises = |distance: f64| {
        let before = search.best().value;
        Ok(search.value(uphill::along(&start, direction, distance))?.value > before)
    };
    let mut distance = (FIRST * problem.step).max(problem.resolution);
    while !rises(distance)? {
        distance *= 0.5;
        if distance < problem.resolution {
            return Ok(false);
        }
    }
    while rises(2.0 * distance)? {
        distance *= 2.0;
    }
    Ok(true)
}
