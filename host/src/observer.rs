//! Observers, by which callers follow the progress of runs and stop them.

use crate::{Error, Result};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// The interval at which an observer is asked during a long step.
const ASKED: Duration = Duration::from_millis(10);

/// Follows the progress of a run, and can stop it. The library never prints.
pub trait Observer: Sync {
    /// Called when a part of a run starts, such as the mesh after its affine registration.
    fn stage(&self, _name: &str) {}
    /// Called when a level starts, with its number from 0, the number of levels, and the spacing of its grid in mm.
    fn level(&self, _number: usize, _of: usize, _spacing_mm: [f64; 3]) {}
    /// Called after evaluations of the metric. `best` is the best value so far on this level.
    fn evaluated(&self, _evaluations: usize, _best: f64) {}
    /// Called with a line of information, such as the choice of backend.
    fn note(&self, _text: &str) {}
    /// Returns whether the run is to continue. Called about a hundred times a second, from any thread. After the first
    /// `Break`, the run ends with [`Error::Stopped`].
    fn proceed(&self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// An observer that ignores everything and stops nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {}

/// Reports nothing, but lets the observer that it wraps stop the run.
pub(crate) struct Quiet<'a>(pub &'a dyn Observer);

impl Observer for Quiet<'_> {
    fn proceed(&self) -> ControlFlow<()> {
        self.0.proceed()
    }
}

/// Wraps an observer such that, after it has once stopped a run, it never lets the run continue. Incomplete work is
/// therefore never taken for complete.
pub(crate) struct LatchedObserver<'a> {
    observer: &'a dyn Observer,
    stopped: &'a AtomicBool,
}

impl<'a> LatchedObserver<'a> {
    /// `stopped` is set when the observer stops the run.
    pub fn new(observer: &'a dyn Observer, stopped: &'a AtomicBool) -> Self {
        Self { observer, stopped }
    }
}

impl Observer for LatchedObserver<'_> {
    fn stage(&self, name: &str) {
        self.observer.stage(name);
    }

    fn level(&self, number: usize, of: usize, spacing_mm: [f64; 3]) {
        self.observer.level(number, of, spacing_mm);
    }

    fn evaluated(&self, evaluations: usize, best: f64) {
        // After a stop, values may be of incomplete work.
        if !self.stopped.load(Ordering::Relaxed) {
            self.observer.evaluated(evaluations, best);
        }
    }

    fn note(&self, text: &str) {
        self.observer.note(text);
    }

    fn proceed(&self) -> ControlFlow<()> {
        if self.stopped.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        let answer = self.observer.proceed();
        if answer.is_break() {
            self.stopped.store(true, Ordering::Relaxed);
        }
        answer
    }
}

/// Does `work`, and meanwhile asks the observer regularly, from a thread of its own.
pub(crate) fn watched<T>(observer: &dyn Observer, work: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        let (_working, ended) = mpsc::channel::<()>();
        let watch = move || {
            while ended.recv_timeout(ASKED) == Err(RecvTimeoutError::Timeout) && observer.proceed().is_continue() {}
        };
        // If the operating system refuses the thread, the observer is asked only between steps.
        let _ = thread::Builder::new().spawn_scoped(scope, watch);
        work()
    })
}

/// Asks the observer whether to continue.
///
/// # Errors
/// [`Error::Stopped`] if the observer stops the run.
pub(crate) fn ask_observer(observer: &dyn Observer) -> Result<()> {
    match observer.proceed() {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Stopped),
    }
}
