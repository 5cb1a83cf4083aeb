//! Hill climbing: steps to the best neighbour as long as one is better, then steps of half the length. Ledig &
//! Chefd'hotel, section 3.2, name the method without details.

use super::search::{Halt, Search};
use super::{Maximum, Objective, Optimizer, Problem};
use crate::Result;

/// Moves along one parameter at a time. The neighbours, a step up and a step down along each parameter, are evaluated
/// in one batch.
#[derive(Debug, Clone, Copy)]
pub struct HillClimbing;

impl Optimizer for HillClimbing {
    fn maximise(&self, objective: &mut dyn Objective, problem: &Problem) -> Result<Maximum> {
        let mut search = Search::new(objective, problem)?;
        let outcome = climb(&mut search, problem);
        search.end(outcome)
    }
}

fn climb(search: &mut Search, problem: &Problem) -> Result<(), Halt> {
    let mut step = problem.step;
    while step >= problem.resolution {
        let before = search.best().value;
        search.values(neighbours(&search.best().parameters, step))?;
        if search.best().value == before {
            step *= 0.5;
        }
    }
    Ok(())
}

/// The points one step up and one step down along each parameter.
fn neighbours(point: &[f64], step: f64) -> Vec<Vec<f64>> {
    let stepped = |i: usize, step: f64| {
        let mut neighbour = point.to_vec();
        neighbour[i] += step;
        neighbour
    };
    (0..point.len()).flat_map(|i| [stepped(i, step), stepped(i, -step)]).collect()
}
