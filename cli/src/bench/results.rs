//! All that was measured, as `--json` prints it.

use serde::Serialize;

use super::choices::Axis;
use super::compare::Reduction;
use super::papers::Quote;
use super::rows::{HistogramRow, Mattes, Numbers, Registered, Smoothed, ViolaRow};

/// Everything.
#[derive(Debug, Serialize)]
pub struct Results {
    pub version: &'static str,
    pub backend: &'static str,
    pub device: String,
    /// CPU threads.
    pub threads: usize,
    pub axis: Axis,
    /// The angle of the rotation about this axis.
    pub radians: f64,
    /// Transforms of a batch.
    pub batch: usize,
    /// Whether only what users wait for was measured.
    pub overview: bool,
    pub rows: Vec<HistogramRow>,
    pub mattes: Vec<Mattes>,
    /// Counting alone, where the device has a clock.
    pub numbers: Option<Numbers>,
    pub viola: Vec<ViolaRow>,
    pub gaussian: Vec<Smoothed>,
    /// The registration of an overview.
    pub registration: Option<Registered>,
    pub reductions: Vec<Reduction>,
    pub papers: Vec<Quote>,
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::bench::choices::{BATCH, Paper, TURN};
    use crate::bench::{compare, papers};

    pub fn results(rows: Vec<HistogramRow>) -> Results {
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
