//! Opens a device in a thread of its own while files are read.

use std::thread::{self, JoinHandle};

use mireg::backend::BackendKind;
use mireg::{Engine, Observer, Result};

use crate::arguments::compute::Compute;

/// An engine whose GPU, if one was asked for, is opened by a thread of its own.
pub struct Opening {
    pub engine: &'static Engine,
    thread: Option<JoinHandle<()>>,
}

impl Opening {
    /// Creates the engine and starts to open its GPU, if one was asked for.
    ///
    /// # Errors
    /// Those of [`Engine::unopened`].
    pub fn begin(compute: &Compute, observer: &dyn Observer) -> Result<Self> {
        // Leaked on purpose: at the end of the process, a driver frees a device faster than buffer by buffer.
        let engine: &Engine = Box::leak(Box::new(compute.unopened(observer)?));
        // If the GPU cannot be opened, the run reports it. If no thread can be started, the run opens the GPU itself.
        let open = || _ = engine.backend();
        let thread = (compute.backend == BackendKind::Cuda).then(|| thread::Builder::new().spawn(open));
        Ok(Self { engine, thread: thread.and_then(std::io::Result::ok) })
    }
}

impl Drop for Opening {
    /// Waits for the thread: a process must not end while a driver starts.
    fn drop(&mut self) {
        self.thread.take().map(JoinHandle::join);
    }
}
