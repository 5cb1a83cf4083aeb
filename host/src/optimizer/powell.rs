//! Powell's direction set method with a resolution for each parameter (Shams 2009, section 3.7).

use super::memory::Memory;
use super::{Found, Objective, Optimizer, Problem, Stopped, brent};
use crate::Result;

/// Powell's method with Brent's line search.
#[derive(Debug, Clone, Copy)]
pub struct Powell {
    /// Rounds over all directions at most.
    pub rounds: usize,
}

impl Default for Powell {
    fn default() -> Self {
        Self { rounds: 20 }
    }
}

impl Optimizer for Powell {
    fn maximise(&self, objective: &mut dyn Objective, problem: &Problem) -> Result<Found> {
        let mut memory = Memory::new(objective, problem.resolution);
        let mut point = problem.start.clone();
        let mut value = memory.value(&point)?;
        let mut directions = axes(problem.start.len(), problem.step);
        let mut stopped = Stopped::Exhausted;
        for _ in 0..self.rounds {
            let start = (point.clone(), value);
            let mut largest = (0, 0.0);
            for (number, direction) in directions.iter().enumerate() {
                let before = value;
                value = climb(&mut memory, &mut point, value, direction, problem.resolution)?;
                if value - before > largest.1 {
                    largest = (number, value - before);
                }
            }
            let moved: Vec<f64> = point.iter().zip(&start.0).map(|(now, then)| now - then).collect();
            if moved.iter().all(|moved| moved.abs() < problem.resolution) {
                stopped = Stopped::Converged;
                break;
            }
            if memory.evaluations() >= problem.evaluations {
                break;
            }
            let beyond: Vec<f64> = point.iter().zip(&moved).map(|(point, moved)| point + moved).collect();
            let ahead = memory.value(&beyond)?;
            if worth_replacing(start.1, value, ahead, largest.1) {
                value = climb(&mut memory, &mut point, value, &moved, problem.resolution)?;
                directions.remove(largest.0);
                directions.push(moved);
            }
        }
        Ok(Found { parameters: point, value, evaluations: memory.evaluations(), stopped, shape: None })
    }
}

/// One direction a parameter, as long as its first step.
fn axes(count: usize, step: f64) -> Vec<Vec<f64>> {
    let axis = |i: usize| (0..count).map(|j| if i == j { step } else { 0.0 }).collect();
    (0..count).map(axis).collect()
}

/// Moves the point to the maximum along a direction and returns the value there.
fn climb(memory: &mut Memory, point: &mut Vec<f64>, value: f64, direction: &[f64], resolution: f64) -> Result<f64> {
    let at = |t: f64| -> Vec<f64> { point.iter().zip(direction).map(|(point, d)| point + t * d).collect() };
    // The shortest step along the direction that moves some parameter by its resolution.
    let tolerance = resolution / direction.iter().fold(0.0_f64, |most, d| most.max(d.abs()));
    let (t, best) = brent::maximise(|t| memory.value(&at(t)), value, tolerance.max(1.0), tolerance)?;
    if best > value {
        *point = at(t);
    }
    Ok(best.max(value))
}

/// Powell's test: whether the round's whole move goes on paying and is not mostly the work of one direction.
fn worth_replacing(start: f64, end: f64, ahead: f64, largest: f64) -> bool {
    if ahead <= start {
        return false;
    }
    let (curve, gain) = (2.0 * end - start - ahead, end - start - largest);
    2.0 * curve * gain * gain < largest * (start - ahead) * (start - ahead)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Hill(Vec<Vec<f64>>);

    impl Objective for Hill {
        /// A long ridge, turned against the axes, with its top at (3, -2, 1).
        fn values(&mut self, points: &[Vec<f64>]) -> Result<Vec<f64>> {
            self.0.extend_from_slice(points);
            let value = |p: &Vec<f64>| {
                let [x, y, z] = [p[0] - 3.0, p[1] + 2.0, p[2] - 1.0];
                -(x + y + z).powi(2) * 10.0 - (x - y).powi(2) - 0.1 * (x + y - 2.0 * z).powi(2)
            };
            Ok(points.iter().map(value).collect())
        }
    }

    #[test]
    fn finds_the_top_without_asking_twice() {
        let mut hill = Hill(Vec::new());
        let problem = Problem { start: vec![0.0; 3], step: 1.0, resolution: 0.01, evaluations: 1000, shape: None };
        let found = Powell::default().maximise(&mut hill, &problem).unwrap();
        for (found, top) in found.parameters.iter().zip([3.0, -2.0, 1.0]) {
            assert!((found - top).abs() < 0.1, "{found} is not {top}");
        }
        assert_eq!(found.evaluations, hill.0.len());
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 0.01);
        for (i, a) in hill.0.iter().enumerate() {
            assert!(hill.0[..i].iter().all(|b| !near(a, b)), "{a:?} was evaluated again");
        }
    }
}
