//! Where and with how many threads a command computes.

use super::choice::choice;
use super::number::whole;
use clap::Args;
use mireg::backend::BackendKind;
use mireg::{Engine, Observer, Result};

#[derive(Args)]
pub struct Compute {
    /// Device to compute on; auto uses the CPU, or a GPU where that saves more time than opening it takes
    #[arg(long, value_parser = choice::<BackendKind>(), default_value_t = BackendKind::Auto, help_heading = "Computing")]
    pub backend: BackendKind,
    /// CPU threads, 1 to 1024 [default: one per core]; the result does not depend on their number
    #[arg(long, value_name = "N", help_heading = "Computing", allow_negative_numbers = true)]
    #[arg(value_parser = whole::<u32>(1..=1024))]
    pub threads: Option<u32>,
}

impl Compute {
    /// Opens the backend that was asked for.
    pub fn engine(&self, observer: &dyn Observer) -> Result<Engine> {
        self.engine_on(self.backend, observer)
    }

    /// As [`Compute::engine`], without waiting until a GPU is open.
    pub fn unopened(&self, observer: &dyn Observer) -> Result<Engine> {
        Engine::unopened(self.backend, self.count(), observer)
    }

    /// As [`Compute::engine`], with another backend.
    pub fn engine_on(&self, backend: BackendKind, observer: &dyn Observer) -> Result<Engine> {
        Engine::open(backend, self.count(), observer)
    }

    /// CPU threads, 0 for one per core.
    fn count(&self) -> usize {
        self.threads.unwrap_or(0) as usize
    }
}
