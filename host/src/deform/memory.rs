//! Whether a flow fits into a device's memory, before it starts.

use super::{Options, smallest};
use crate::backend::{Backend, BackendKind, cpu::Cpu, flow_bytes};
use crate::image::Geometry;
use crate::{Error, Observer, Result};

/// Whether a flow between images on these grids fits into a backend's own memory.
pub fn fits(backend: &dyn Backend, fixed: &Geometry, moving: &Geometry) -> bool {
    backend.free_memory().is_none_or(|free| bytes(fixed, moving) <= free)
}

/// The backend, if the finest level, on these grids, fits into its memory; where it does not and any backend will do, the CPU, which
/// gives the same bits.
///
/// # Errors
/// [`Error::Device`] says what would fit.
pub fn choose(
    backend: Box<dyn Backend>,
    [fixed, moving]: [&Geometry; 2],
    options: &Options,
    observer: &dyn Observer,
) -> Result<Box<dyn Backend>> {
    if fits(&*backend, fixed, moving) {
        return Ok(backend);
    }
    let (need, free) = (bytes(fixed, moving), backend.free_memory().unwrap_or(0));
    let short = format!("the field needs {:.2} GB of the GPU's memory, and {:.2} GB are free", gb(need), gb(free));
    if options.backend == BackendKind::Auto {
        observer.note(&format!("{short}: using the CPU, which gives the same result"));
        return Ok(Box::new(Cpu));
    }
    let mm = smallest(fixed) * (need as f64 / free.max(1) as f64).cbrt();
    let mm = (mm * 10.0).ceil() / 10.0;
    Err(Error::Device(format!("{short}: use --levels that end at {mm} mm or more, or --backend cpu")))
}

fn bytes(fixed: &Geometry, moving: &Geometry) -> u64 {
    flow_bytes(fixed.size, moving.size)
}

fn gb(bytes: u64) -> f64 {
    bytes as f64 / 1e9
}
