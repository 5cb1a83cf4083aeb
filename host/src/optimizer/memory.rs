//! Remembers evaluated points (Shams 2009, section 3.7). A point that is within the resolution of an earlier one in
//! every parameter is not evaluated, but gets the value of the earlier point.

use super::search::{Halt, Search};
use crate::Result;

/// A search that remembers the points it evaluated.
pub struct Memory<'a, 'b> {
    search: &'a mut Search<'b>,
    resolution: f64,
    points: Vec<(Vec<f64>, f64)>,
}

impl<'a, 'b> Memory<'a, 'b> {
    /// Remembers the best point so far, and all later points. `resolution` is the same for all parameters.
    pub fn new(search: &'a mut Search<'b>, resolution: f64) -> Self {
        let best = search.best();
        let points = vec![(best.parameters.clone(), best.value)];
        Self { search, resolution, points }
    }

    /// The value at a point, or at an earlier point within the resolution.
    ///
    /// # Errors
    /// [`Halt`] says why there is none.
    pub fn value(&mut self, point: &[f64]) -> Result<f64, Halt> {
        if let Some(value) = self.recall(point) {
            return Ok(value);
        }
        let value = self.search.value(point.to_vec())?.value;
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
