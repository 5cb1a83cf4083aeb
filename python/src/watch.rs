//! Runs work on a thread of its own, while the calling thread checks for signals and calls back into Python.

use std::any::Any;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use mireg::{Error, Observer, Result};
use pyo3::prelude::*;

use crate::ending::{Attaching, stay};
use crate::errors;

/// How often to check for signals.
const TICK: Duration = Duration::from_millis(20);

/// What a run reports.
enum Event {
    Stage(String),
    Level(usize, usize, [f64; 3]),
    Evaluated(usize, f64),
    Note(String),
}

/// Passes on what a run reports.
struct Forwarder<'a> {
    events: Sender<Event>,
    /// Whether each value of the metric is passed on.
    values: bool,
    stop: &'a AtomicBool,
}

impl Forwarder<'_> {
    fn send(&self, event: Event) {
        // This fails only if the receiver is gone, and then the run was stopped.
        let _ = self.events.send(event);
    }
}

impl Observer for Forwarder<'_> {
    fn stage(&self, name: &str) {
        self.send(Event::Stage(name.to_owned()));
    }

    fn level(&self, number: usize, of: usize, spacing_mm: [f64; 3]) {
        self.send(Event::Level(number, of, spacing_mm));
    }

    fn evaluated(&self, evaluations: usize, best: f64) {
        if self.values {
            self.send(Event::Evaluated(evaluations, best));
        }
    }

    fn note(&self, text: &str) {
        self.send(Event::Note(text.to_owned()));
    }

    fn proceed(&self) -> ControlFlow<()> {
        if self.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Runs `work` on another thread, without holding the interpreter. What it reports is passed to `listener` on the
/// calling thread, as `listener(kind, ...)`; values of the metric only if `values` is true. An exception in `listener`,
/// or a signal such as Ctrl-C, stops the work and is raised once the work has ended. If the interpreter ends, a daemon
/// thread does not return from here: see [`crate::ending`].
pub fn run<T: Send>(
    py: Python<'_>,
    listener: Option<&Bound<'_, PyAny>>,
    values: bool,
    work: impl FnOnce(&dyn Observer) -> Result<T> + Send,
) -> PyResult<T> {
    let listener = listener.map(|listener| listener.clone().unbind());
    let stop = &AtomicBool::new(false);
    let (events, heard) = mpsc::channel();
    let forwarder = Forwarder { events, values, stop };
    let (ended, attaching) = py.detach(move || {
        let ended = thread::scope(|scope| {
            // The forwarder is dropped with the thread, so the channel closes when the work is done.
            let work = move || {
                let forwarder = forwarder;
                catch_unwind(AssertUnwindSafe(|| work(&forwarder)))
            };
            let worker = thread::Builder::new()
                .spawn_scoped(scope, work)
                .map_err(|e| Ended::Failed(Error::device("cpu", format!("cannot start a thread: {e}"))))?;
            let mut raised = None;
            loop {
                let first = match heard.recv_timeout(TICK) {
                    Ok(event) => Some(event),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                let _attaching = Attaching::new();
                let answer = Python::try_attach(|py| {
                    py.check_signals()?;
                    first.into_iter().chain(heard.try_iter()).try_for_each(|event| match &listener {
                        Some(listener) => event.notify(py, listener),
                        None => Ok(()),
                    })
                });
                if let Err(error) = answer.unwrap_or_else(|| stay()) {
                    stop.store(true, Ordering::Relaxed);
                    raised.get_or_insert(error);
                }
            }
            let done = worker.join().unwrap_or_else(Err);
            match (raised, done) {
                (Some(error), _) => Err(Ended::Raised(error)),
                (None, Ok(done)) => done.map_err(Ended::Failed),
                (None, Err(panic)) => Err(Ended::Fault(panic)),
            }
        });
        (ended, Attaching::new())
    });
    drop(attaching);
    ended.map_err(|ended| match ended {
        Ended::Raised(error) => error,
        Ended::Failed(error) => errors::raise(py, &error),
        Ended::Fault(panic) => errors::fault(py, &*panic),
    })
}

/// The ways in which a run may fail.
enum Ended {
    Raised(PyErr),
    Failed(Error),
    Fault(Box<dyn Any + Send>),
}

impl Event {
    fn notify(self, py: Python<'_>, listener: &Py<PyAny>) -> PyResult<()> {
        match self {
            Self::Stage(name) => listener.call1(py, ("stage", name)),
            Self::Level(number, of, spacing) => listener.call1(py, ("level", number, of, spacing)),
            Self::Evaluated(evaluations, best) => listener.call1(py, ("value", evaluations, best)),
            Self::Note(text) => listener.call1(py, ("note", text)),
        }
        .map(drop)
    }
}
