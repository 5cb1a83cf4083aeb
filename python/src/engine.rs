//! Engines, also in processes that were forked.

use std::mem;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mireg::backend::BackendKind;
use mireg::{Error, Observer, Result};
use pyo3::prelude::*;

use crate::{errors, watch};

/// An opened device with its threads, for any number of runs, from any thread.
///
/// Threads and a GPU do not survive a fork. In a child the first use opens them anew.
#[pyclass(frozen, module = "mireg._mireg")]
pub struct Engine {
    kind: BackendKind,
    threads: usize,
    /// Locked only by a thread that holds the interpreter. A thread that forks holds it, too, so this is never locked
    /// during a fork.
    opened: Mutex<Option<Opened>>,
}

struct Opened {
    /// The id of the process that opened it.
    by: u32,
    engine: Arc<mireg::Engine>,
}

/// The engines that the functions of the package share, by backend and number of threads.
static SHARED: Mutex<Vec<(BackendKind, usize, Py<Engine>)>> = Mutex::new(Vec::new());

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (backend, threads, listener))]
    fn new(py: Python<'_>, backend: &str, threads: usize, listener: &Bound<'_, PyAny>) -> PyResult<Self> {
        let kind = backend.parse().map_err(|_| {
            errors::input(py, &format!("{backend} is no backend; auto, cpu, cuda and emulated are possible"))
        })?;
        if threads > 1024 {
            return Err(errors::input(py, &format!("{threads} threads are too many; at most 1024 are possible")));
        }
        let engine = Self::unopened(kind, threads);
        engine.get(py, Some(listener))?;
        Ok(engine)
    }

    /// The backend that is used: `cpu`, `cuda` or `emulated`.
    fn backend(&self, py: Python<'_>, listener: &Bound<'_, PyAny>) -> PyResult<&'static str> {
        let engine = self.get(py, Some(listener))?;
        engine.backend().map(|backend| backend.name()).map_err(|error| errors::raise(py, &error))
    }

    /// The device's own name.
    fn device(&self, py: Python<'_>, listener: &Bound<'_, PyAny>) -> PyResult<String> {
        let engine = self.get(py, Some(listener))?;
        watch::run(py, None, false, |_| engine.install(|| Ok(engine.backend()?.device())))
    }
}

impl Engine {
    fn unopened(kind: BackendKind, threads: usize) -> Self {
        Self { kind, threads, opened: Mutex::new(None) }
    }

    /// Returns the engine of this backend and number of threads that the functions of the package share.
    pub fn shared(py: Python<'_>, kind: BackendKind, threads: usize) -> PyResult<Py<Self>> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., engine)) = shared.iter().find(|known| (known.0, known.1) == (kind, threads)) {
            return Ok(engine.clone_ref(py));
        }
        let engine = Py::new(py, Self::unopened(kind, threads))?;
        shared.push((kind, threads, engine.clone_ref(py)));
        Ok(engine)
    }

    /// Returns the library's engine, and opens it if this process has not done so.
    pub fn get(&self, py: Python<'_>, listener: Option<&Bound<'_, PyAny>>) -> PyResult<Arc<mireg::Engine>> {
        let (mut kind, by) = (self.kind, process::id());
        match &*self.locked() {
            Some(opened) if opened.by == by => return Ok(Arc::clone(&opened.engine)),
            Some(opened) if opened.engine.has_gpu() => {
                if kind == BackendKind::Cuda {
                    let wrong =
                        "a GPU that was opened before a fork cannot be used after it; start processes with spawn";
                    return Err(errors::raise(py, &Error::device("cuda", wrong)));
                }
                kind = BackendKind::Cpu;
            }
            _ => {}
        }
        let threads = self.threads;
        let open = |observer: &dyn Observer| mireg::Engine::open(kind, threads, observer).map(Arc::new);
        let engine = watch::run(py, listener, false, open)?;
        let mut opened = self.locked();
        // Another thread may have been quicker.
        if let Some(opened) = opened.as_ref().filter(|opened| opened.by == by) {
            return Ok(Arc::clone(&opened.engine));
        }
        leave(opened.replace(Opened { by, engine: Arc::clone(&engine) }));
        Ok(engine)
    }

    fn locked(&self) -> MutexGuard<'_, Option<Opened>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs work that is no command, such as checking and converting images, with the threads of an engine on the CPU. All
/// parallel work needs an engine: in a process that was forked, the threads that rayon starts by itself would be
/// missing, and waited for without end.
pub fn with_threads<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    let engine = Engine::shared(py, BackendKind::Cpu, 0)?.get().get(py, None)?;
    watch::run(py, None, false, |_| engine.install(work))
}

/// Drops an engine, unless another process opened it. Such an engine is leaked: its threads are not in this process and
/// cannot be ended, and its locks may be held for ever.
fn leave(opened: Option<Opened>) {
    if let Some(opened) = opened.filter(|opened| opened.by != process::id()) {
        mem::forget(opened);
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        leave(self.locked().take());
    }
}
