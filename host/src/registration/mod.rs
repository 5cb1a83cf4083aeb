//! The registration loop: start, levels from coarse to fine, and the result.

use crate::backend::BackendKind;
use crate::metric::{Evaluation, MetricKind};
use crate::transform::Rigid;
use crate::{Result, Volume};

/// What the user may choose.
#[derive(Debug, Clone)]
pub struct Options {
    /// What is maximised.
    pub metric: MetricKind,
    /// Bins a side of the joint histogram, 2 to 256.
    pub bins: u32,
    /// Where it runs.
    pub backend: BackendKind,
    /// CPU threads; 0 for one a core.
    pub threads: usize,
}

/// One level of the pyramid, for the report.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Level {
    /// Grid of this level of the fixed image, mm.
    pub spacing_mm: [f64; 3],
    /// Transforms at which the metric was evaluated.
    pub evaluations: usize,
    /// The metric at the level's end.
    pub value: f64,
}

/// Seconds spent in each part.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct Seconds {
    pub upload: f64,
    pub pyramid: f64,
    pub optimise: f64,
    pub resample: f64,
}

/// What a registration found.
#[derive(Debug, Clone)]
pub struct Registration {
    /// Fixed point to moving point, LPS mm.
    pub transform: Rigid,
    /// The moving image on the fixed image's grid; 0 outside.
    pub moved: Volume,
    /// The metric at full resolution before and after.
    pub start: Evaluation,
    pub end: Evaluation,
    /// Which start won: "header centres" or "centres of mass".
    pub started_from: &'static str,
    pub levels: Vec<Level>,
    pub seconds: Seconds,
    /// `cpu`, `cuda` or `emulated`.
    pub backend: &'static str,
    /// The device's own name.
    pub device: String,
}

/// Hears how far a registration is. The library never prints.
pub trait Observer: Sync {
    /// A level starts: its number from 0, how many there are, and its grid, mm.
    fn level(&self, _number: usize, _of: usize, _spacing_mm: [f64; 3]) {}
    /// The metric was evaluated; `best` is the best value so far on this level.
    fn evaluated(&self, _evaluations: usize, _best: f64) {}
    /// Something worth a line, such as the choice of backend.
    fn note(&self, _text: &str) {}
}

/// Hears nothing.
impl Observer for () {}

/// Finds the rigid transform that maximises the metric.
///
/// # Errors
/// [`crate::Error::Input`] for options or volumes that cannot be registered, [`crate::Error::Device`] where the backend is not
/// there, [`crate::Error::Untrusted`] where the volumes do not overlap.
pub fn register(
    _fixed: &Volume,
    _moving: &Volume,
    _options: &Options,
    _observer: &dyn Observer,
) -> Result<Registration> {
    Err(crate::Error::Input("registration is being written".into()))
}
