//! A GPU that is opened when it is first needed.

use super::queue::cuda::Cuda;
use crate::{Error, Result};
use std::sync::OnceLock;
use std::time::Instant;

/// A GPU that is opened by the first thread that asks for it. Also holds the seconds that opening took.
#[derive(Default)]
pub(crate) struct Gpu(OnceLock<(Result<Cuda>, f64)>);

impl Gpu {
    /// Returns the GPU, after opening it if no thread has. Waits while another thread opens it.
    ///
    /// # Errors
    /// [`Error::Device`] if there is none, on each call.
    pub fn open(&self) -> Result<&Cuda> {
        let open = || {
            let clock = Instant::now();
            (Cuda::open(), clock.elapsed().as_secs_f64())
        };
        let (cuda, _) = self.0.get_or_init(open);
        cuda.as_ref().map_err(|error| error.message().map_or(Error::Stopped, |why| Error::device("cuda", why.clone())))
    }

    /// Returns the GPU if it is open.
    pub fn opened(&self) -> Option<&Cuda> {
        self.0.get()?.0.as_ref().ok()
    }

    /// Whether opening it has succeeded or failed already.
    pub fn was_tried(&self) -> bool {
        self.0.get().is_some()
    }

    /// Seconds that opening it took; 0 before that.
    pub fn seconds(&self) -> f64 {
        self.0.get().map_or(0.0, |(_, seconds)| *seconds)
    }
}
