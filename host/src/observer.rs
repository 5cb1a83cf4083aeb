//! How callers hear what is going on, and how they stop it.

use crate::{Error, Result};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// How often an observer is asked while a long step goes on.
const ASKED: Duration = Duration::from_millis(10);

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
    /// Whether to go on, asked about a hundred times a second, from any thread. Once it breaks, the run ends with [`Error::Stopped`].
    fn proceed(&self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Hears nothing and stops nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {}

/// An observer that, once it wants a run to stop, keeps to it: work that it cut short is never taken for whole.
pub(crate) struct Steady<'a> {
    observer: &'a dyn Observer,
    stopped: &'a AtomicBool,
}

impl<'a> Steady<'a> {
    /// It sets `stopped` then.
    pub fn new(observer: &'a dyn Observer, stopped: &'a AtomicBool) -> Self {
        Self { observer, stopped }
    }
}

impl Observer for Steady<'_> {
    fn stage(&self, name: &str) {
        self.observer.stage(name);
    }

    fn level(&self, number: usize, of: usize, spacing_mm: [f64; 3]) {
        self.observer.level(number, of, spacing_mm);
    }

    fn evaluated(&self, evaluations: usize, best: f64) {
        // A value that was cut short means nothing.
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

/// Asks an observer again and again, from a thread of its own, while work is under way.
pub(crate) fn watched<T>(observer: &dyn Observer, work: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        let (_working, ended) = mpsc::channel::<()>();
        let watch = move || {
            while ended.recv_timeout(ASKED) == Err(RecvTimeoutError::Timeout) && observer.proceed().is_continue() {}
        };
        // Where the operating system refuses the thread, the observer is asked between steps alone.
        let _ = thread::Builder::new().spawn_scoped(scope, watch);
        work()
    })
}

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
