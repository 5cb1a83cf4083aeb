//! The end of the interpreter while daemon threads run something here.
//!
//! If a thread attaches to an interpreter that is ending, the interpreter unwinds the thread through frames that do not
//! support it, and the process crashes. Asking beforehand is not enough, as the end may begin in between. So the
//! interpreter first waits for threads that are about to attach, and threads that come later do not attach at all.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// The longest time that the end waits for threads that are attaching: their callbacks may take any time.
const PATIENCE: Duration = Duration::from_secs(1);

// Atomics, as a lock may be held by another thread when the process forks.
static ENDING: AtomicBool = AtomicBool::new(false);
static ATTACHING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this thread ends the interpreter. What else it runs at the end may still attach.
    static ENDS: Cell<bool> = const { Cell::new(false) };
}

/// A thread may attach to the interpreter as long as it holds this.
pub struct Attaching(());

impl Attaching {
    /// Returns only if the interpreter is not ending. Otherwise the thread is parked for ever.
    pub fn new() -> Self {
        ATTACHING.fetch_add(1, Ordering::SeqCst);
        let attaching = Self(());
        if ENDING.load(Ordering::SeqCst) && !ENDS.get() {
            drop(attaching);
            stay();
        }
        attaching
    }
}

impl Drop for Attaching {
    fn drop(&mut self) {
        ATTACHING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Parks a thread for ever that may not attach to the interpreter any more.
pub fn stay() -> ! {
    loop {
        thread::park();
    }
}

/// Called by `atexit`. Waits for threads that are attaching, and keeps out those that come later.
#[pyfunction]
fn end(py: Python<'_>) {
    ENDS.set(true);
    ENDING.store(true, Ordering::SeqCst);
    py.detach(|| {
        let begun = Instant::now();
        while ATTACHING.load(Ordering::SeqCst) > 0 && begun.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(1));
        }
    });
}

/// Registers [`end`] to be called when the interpreter is about to end.
pub fn listen(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.py().import("atexit")?.call_method1("register", (wrap_pyfunction!(end, module)?,)).map(drop)
}
