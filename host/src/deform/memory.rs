//! Whether a flow fits into memory, before it starts.

use super::smallest;
use crate::backend::{Backend, BackendKind, FlowLoad, cpu::Cpu, flow_bytes};
use crate::error::message;
use crate::image::Geometry;
use crate::registration::memory::{self, Place};
use crate::{Error, Observer, Result};

/// Refuses images for whose deformation the host's memory is short.
///
/// # Errors
/// [`Error::Device`] names what is needed and what is there.
pub fn check(backend: &dyn Backend, fixed: &Geometry, moving: &Geometry, load: FlowLoad) -> Result<()> {
    let need = host_bytes([fixed, moving], load, backend.free_memory().is_some());
    memory::enough(need, memory::free(), Place::Host)
}

/// Bytes of the host's memory beside the images themselves.
fn host_bytes(grids: [&Geometry; 2], load: FlowLoad, on_device: bool) -> u64 {
    let [f, m] = grids.map(|grid| grid.voxels() as u64);
    // Three fields, unless a device has them, and where several forces pull their sum, local means and the images of 16 bits once more;
    // images of 16 bits and coarser ones, and at the end both fields as planes and as vectors, the moved image and the Jacobian.
    let several = if load.several() { 16 * f + load.channels * (26 * f + 2 * m) } else { 0 };
    let fields = if on_device { 0 } else { 36 * f + several };
    fields + 36 * f + 36 * m + 8 * (load.channels - 1) * (f + m)
}

/// Whether a flow between images on these grids fits into a backend's own memory.
pub fn fits(backend: &dyn Backend, fixed: &Geometry, moving: &Geometry, load: FlowLoad) -> bool {
    backend.free_memory().is_none_or(|free| flow_bytes(fixed.size, moving.size, load) <= free)
}

/// The backend, if the finest level, on these grids, fits into its memory; where it does not and any backend will do, the CPU, which
/// gives the same bits.
///
/// # Errors
/// [`Error::Device`] says what would fit.
pub fn choose<'a>(
    backend: &'a dyn Backend,
    asked: BackendKind,
    [fixed, moving]: [&Geometry; 2],
    load: FlowLoad,
    observer: &dyn Observer,
) -> Result<&'a dyn Backend> {
    let free = backend.free_memory().unwrap_or(u64::MAX);
    match short(flow_bytes(fixed.size, moving.size, load), free, asked, smallest(fixed))? {
        None => Ok(backend),
        Some(note) => {
            observer.note(&note);
            Ok(&Cpu)
        }
    }
}

/// What to say where a flow on a grid of `mm` needs more than is free, and the CPU is to do it; the error where that was not asked for.
fn short(need: u64, free: u64, asked: BackendKind, mm: f64) -> Result<Option<String>> {
    if need <= free {
        return Ok(None);
    }
    let short = format!("the field needs {:.2} GB of the GPU's memory, and {:.2} GB are free", gb(need), gb(free));
    if asked == BackendKind::Auto {
        return Ok(Some(format!("{short}: using the CPU, which gives the same result")));
    }
    let mm = (10.0 * mm * (need as f64 / free.max(1) as f64).cbrt()).ceil() / 10.0;
    Err(Error::device(
        "cuda",
        message!("{short}"; "use ", Levels, " that end at {mm} mm or more, or ", Backend, " cpu"),
    ))
}

fn gb(bytes: u64) -> f64 {
    bytes as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    #[test]
    fn a_field_too_large_for_a_gpu_goes_to_the_cpu_or_is_told_what_would_fit() {
        assert_eq!(short(8_000_000, 8_000_000, BackendKind::Cuda, 1.0).unwrap(), None);
        let note = short(8_000_000_000, 1_000_000_000, BackendKind::Auto, 1.0).unwrap().unwrap();
        assert!(note.contains("8.00 GB") && note.contains("1.00 GB") && note.contains("CPU"), "{note}");
        let told = short(8_000_000_000, 1_000_000_000, BackendKind::Cuda, 1.0).unwrap_err().to_string();
        assert!(told.contains("end at 2 mm or more") && told.contains("`backend` cpu"), "{told}");
    }

    /// Measured as the most that `mireg deform` had resident, with 2 threads: 700 MB by joint histograms and 763 MB by local correlation.
    #[test]
    fn the_estimate_is_between_what_was_measured_and_twice_that() {
        let head = Geometry::axis_aligned([181, 217, 180], DVec3::ONE, DVec3::ZERO);
        let one = FlowLoad { channels: 1, compare: 1 };
        let megabytes = (host_bytes([&head; 2], one, false) + 8 * head.voxels() as u64) as f64 / 1e6;
        assert!((763.0..1400.0).contains(&megabytes), "{megabytes} MB");
        assert!(host_bytes([&head; 2], one, true) < host_bytes([&head; 2], one, false));
        let two = FlowLoad { channels: 2, compare: 1 };
        assert!(host_bytes([&head; 2], one, false) < host_bytes([&head; 2], two, false));
    }
}
