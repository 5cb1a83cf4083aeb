//! The end of the interpreter, beside daemon threads that run something here.
//!
//! A thread that comes back to an interpreter that is ending is unwound by it, through frames that do not bear that: the process crashes.
//! Asking beforehand is not enough, as the end may begin in between. So the interpreter first lets in whoever is on the way back, and whoever
//! comes later stays outside.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// How long the end waits for those on the way back: a callback of theirs may take as long as it likes.
const PATIENCE: Duration = Duration::from_secs(1);

// Not behind a lock: another thread may hold that when the process forks.
static ENDING: AtomicBool = AtomicBool::new(false);
static ATTACHING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether it is this thread that ends the interpreter: what else it runs at the end may well come back.
    static ENDS: Cell<bool> = const { Cell::new(false) };
}

/// The interpreter is there for this thread as long as it holds this.
pub struct Attaching(());

impl Attaching {
    /// Returns only if the interpreter is not ending.
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

/// The rest of a thread that may not come back.
pub fn stay() -> ! {
    loop {
        thread::park();
    }
}

/// What `atexit` calls: waits for those on the way back, and keeps out whoever comes later.
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

/// Has `end` called when the interpreter is about to end.
pub fn listen(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.py().import("atexit")?.call_method1("register", (wrap_pyfunction!(end, module)?,)).map(drop)
}
