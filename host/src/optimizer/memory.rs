//! The memory of evaluated points of Shams 2009, section 3.7: a point within the resolution of an earlier one, in every parameter,
//! has that one's value and is not evaluated again.

use super::Objective;
use crate::Result;

/// An objective that remembers.
pub struct Memory<'a> {
    objective: &'a mut dyn Objective,
    resolution: f64,
    points: Vec<(Vec<f64>, f64)>,
}

impl<'a> Memory<'a> {
    /// Remembers at a resolution, the same for each parameter.
    pub fn new(objective: &'a mut dyn Objective, resolution: f64) -> Self {
        Self { objective, resolution, points: Vec::new() }
    }

    /// Points evaluated, not counting those remembered.
    pub fn evaluations(&self) -> usize {
        self.points.len()
    }

    /// The value at a point or at an earlier one that stands for it.
    pub fn value(&mut self, point: &[f64]) -> Result<f64> {
        if let Some(value) = self.recall(point) {
            return Ok(value);
        }
        let value = self.objective.values(&[point.to_vec()])?[0];
        self.points.push((point.to_vec(), value));
        Ok(value)
    }

    fn recall(&self, point: &[f64]) -> Option<f64> {
        let near = |known: &[f64]| {
            let mut pairs = known.iter().zip(point);
            pairs.all(|(a, b)| (a - b).abs() < self.resolution)
        };
        self.points.iter().rev().find(|(known, _)| near(known)).map(|(_, value)| *value)
    }
}
