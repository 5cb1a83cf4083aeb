//! All that was measured, as `--json` prints it.

use serde::Serialize;

use super::choices::Axis;
use super::compare::Reduction;
use super::papers::Quote;
use super::rows::{Counted, Mattes, Numbers, Pairs, Registered, Smoothed};

/// Everything.
#[derive(Debug, Serialize)]
pub struct Results {
    pub version: &'static str,
    pub backend: &'static str,
    pub device: String,
    /// Of the CPU.
    pub threads: usize,
    pub axis: Axis,
    /// The rotation about it.
    pub radians: f64,
    /// Transforms of a batch.
    pub batch: usize,
    /// Whether only the times that a user waits for were measured.
    pub overview: bool,
    pub rows: Vec<Counted>,
    pub mattes: Vec<Mattes>,
    /// Counting alone, where the device has a clock.
    pub numbers: Option<Numbers>,
    pub viola: Vec<Pairs>,
    pub gaussian: Vec<Smoothed>,
    /// Of an overview.
    pub registration: Option<Registered>,
    pub reductions: Vec<Reduction>,
    pub papers: Vec<Quote>,
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::bench::choices::{BATCH, Paper, TURN};
    use crate::bench::{compare, papers};

    pub fn results(rows: Vec<Counted>) -> Results {
        Results {
            version: "0",
            backend: "cpu",
            device: "2 threads".into(),
            threads: 2,
            axis: Axis::Oblique,
            radians: TURN,
            batch: BATCH,
            overview: false,
            numbers: None,
            viola: Vec::new(),
            gaussian: Vec::new(),
            registration: None,
            reductions: compare::reductions(&rows),
            papers: papers::quotes(Paper::ShamsFigure7),
            rows,
            mattes: Vec::new(),
        }
    }
}
