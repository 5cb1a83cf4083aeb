//! Steepest ascent with the step search of Lin & Medioni, sections 4 and 5: along the gradient, with a first step of
//! 0.1, "and double it until the mutual information cannot increase", 50 times.
//!
//! The paper does not give the unit of a step. Here it is [`Problem::step`], whatever the length of the gradient. If
//! the value does not rise by the first step, shorter steps are tried, down to the resolution.

use super::search::{Halt, Search};
use super::{Maximum, Objective, Optimizer, Problem, vectors};
use crate::Result;

/// The first step along a gradient, in units of [`Problem::step`].
const FIRST: f64 = 0.1;
/// The most gradients that are followed.
const ITERATIONS: usize = 50;

/// Follows one gradient after the other, each as long as the value rises. Values along a gradient are evaluated one at
/// a time, because most of a batch would lie beyond the last point needed.
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
        let Some(direction) = vectors::direction(&gradient) else { return Ok(()) };
        if !follow(search, &direction, problem)? {
            return Ok(());
        }
        let here = search.best().parameters.clone();
        gradient = search.slope(&here)?.by;
    }
    Err(Halt::Exhausted)
}

/// Moves from the best point along a direction as long as the value rises. Returns whether it rose at all.
fn follow(search: &mut Search, direction: &[f64], problem: &Problem) -> Result<bool, Halt> {
    let start = search.best().parameters.clone();
    let mut rises = |distance: f64| {
        let before = search.best().value;
        Ok(search.value(vectors::along(&start, direction, distance))?.value > before)
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
