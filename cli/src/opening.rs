//! A device that is opened while files are read.

use std::thread::{self, JoinHandle};

use mireg::backend::BackendKind;
use mireg::{Engine, Observer, Result};

use crate::arguments::compute::Compute;

/// An engine whose GPU, where one was asked for, is opened by a thread of its own.
pub struct Opening {
    pub engine: &'static Engine,
    thread: Option<JoinHandle<()>>,
}

impl Opening {
    /// Begins to open what was asked for.
    ///
    /// # Errors
    /// Those of [`Engine::unopened`].
    pub fn begin(compute: &Compute, observer: &dyn Observer) -> Result<Self> {
        // Left to the end of the process: a driver frees a device faster then than buffer by buffer.
        let engine: &Engine = Box::leak(Box::new(compute.unopened(observer)?));
        // What cannot be opened is told by the run. Where no thread can be had, the run opens it.
        let open = || _ = engine.backend();
        let thread = (compute.backend == BackendKind::Cuda).then(|| thread::Builder::new().spawn(open));
        Ok(Self { engine, thread: thread.and_then(std::io::Result::ok) })
    }
}

impl Drop for Opening {
    /// A process must not end while a driver starts.
    fn drop(&mut self) {
        self.thread.take().map(JoinHandle::join);
    }
}
