//! Powell's direction set method (Powell 1964; Numerical Recipes, section 10.5): line searches along a set of
//! directions, which adapts to the ridges of the objective.

use super::search::{Halt, Point};
use super::{Problem, brent};
use crate::Result;

/// The most rounds over all directions.
const ROUNDS: usize = 20;

/// The value at a point.
type Value<'a> = dyn FnMut(&[f64]) -> Result<f64, Halt> + 'a;

/// Maximises from the start until a round moves no parameter by as much as the resolution.
pub fn climb(value: &mut Value, start: Point, problem: &Problem) -> Result<(), Halt> {
    let mut directions = axes(start.parameters.len(), problem.step);
    let mut here = start;
    for _ in 0..ROUNDS {
        let start = here.clone();
        let mut largest = (0, 0.0);
        for (number, direction) in directions.iter().enumerate() {
            let before = here.value;
            along(value, &mut here, direction, problem.resolution)?;
            if here.value - before > largest.1 {
                largest = (number, here.value - before);
            }
        }
        let pairs = || here.parameters.iter().zip(&start.parameters);
        let moved: Vec<f64> = pairs().map(|(now, then)| now - then).collect();
        if moved.iter().all(|moved| moved.abs() < problem.resolution) {
            return Ok(());
        }
        let beyond: Vec<f64> = pairs().map(|(now, then)| now + (now - then)).collect();
        if worth_replacing(start.value, here.value, value(&beyond)?, largest.1) {
            along(value, &mut here, &moved, problem.resolution)?;
            directions.remove(largest.0);
            directions.push(moved);
        }
    }
    Err(Halt::Exhausted)
}

/// One direction per parameter, with the length of the first step.
fn axes(count: usize, step: f64) -> Vec<Vec<f64>> {
    let axis = |i: usize| (0..count).map(|j| if i == j { step } else { 0.0 }).collect();
    (0..count).map(axis).collect()
}

/// Moves to the maximum along a direction.
fn along(value: &mut Value, here: &mut Point, direction: &[f64], resolution: f64) -> Result<(), Halt> {
    let at = |t: f64| -> Vec<f64> { here.parameters.iter().zip(direction).map(|(from, d)| from + t * d).collect() };
    // The shortest step along the direction that moves a parameter by the resolution.
    let tolerance = resolution / direction.iter().fold(0.0_f64, |most, d| most.max(d.abs()));
    let (t, best) = brent::maximise(|t| value(&at(t)), here.value, tolerance.max(1.0), tolerance)?;
    if best > here.value {
        *here = Point { parameters: at(t), value: best };
    }
    Ok(())
}

/// Powell's test of whether to replace a direction: whether the value still rises along the round's whole move, and its
/// gain is not mainly due to one direction.
fn worth_replacing(start: f64, end: f64, ahead: f64, largest: f64) -> bool {
    if ahead <= start {
        return false;
    }
    let (curve, gain) = (2.0 * end - start - ahead, end - start - largest);
    2.0 * curve * gain * gain < largest * (start - ahead) * (start - ahead)
}
