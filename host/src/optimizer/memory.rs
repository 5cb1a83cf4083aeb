//! The memory of evaluated points of Shams 2009, section 3.7: a point within the resolution of an earlier one, in every parameter,
//! has that one's value and is not evaluated again.

use super::search::{Halt, Search};
use crate::Result;

/// A search that remembers.
pub struct Memory<'a, 'b> {
    search: &'a mut Search<'b>,
    resolution: f64,
    points: Vec<(Vec<f64>, f64)>,
}

impl<'a, 'b> Memory<'a, 'b> {
    /// Remembers the best point so far, and from now on all, at a resolution that is the same for each parameter.
    pub fn new(search: &'a mut Search<'b>, resolution: f64) -> Self {
        let best = search.best();
        let points = vec![(best.parameters.clone(), best.value)];
        Self { search, resolution, points }
    }

    /// The value at a point or at an earlier one that stands for it.
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
