//! How callers hear what is going on, and how they stop it.

use crate::{Error, Result};
use std::ops::ControlFlow;

/// Hears how far a run is, and may stop it. The library never prints.
pub trait Observer: Sync {
    /// A part of a run starts, such as the mesh after its affine start.
    fn stage(&self, _name: &str) {}
    /// A level starts: its number from 0, how many there are, and its grid, mm.
    fn level(&self, _number: usize, _of: usize, _spacing_mm: [f64; 3]) {}
    /// The metric was evaluated; `best` is the best value so far on this level.
    fn evaluated(&self, _evaluations: usize, _best: f64) {}
    /// Something worth a line, such as the choice of backend.
    fn note(&self, _text: &str) {}
    /// Whether to go on, asked many times a second, from any thread. Once it breaks, the run ends with [`Error::Stopped`].
    fn proceed(&self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Hears nothing and stops nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {}

/// Ends a run whose observer wants it to stop.
///
/// # Errors
/// [`Error::Stopped`]
pub(crate) fn go_on(observer: &dyn Observer) -> Result<()> {
    match observer.proceed() {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Stopped),
    }
}
