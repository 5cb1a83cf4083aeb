//! Checks before a deformation starts whether it fits into memory.

use super::contrasts::may_compare_contrast;
use super::levels::Level;
use super::middle::Middle;
use super::{Compared, Options, smallest};
use crate::backend::{Backend, BackendKind, FlowLoad, cpu::Cpu, flow_bytes};
use crate::error::message;
use crate::image::Geometry;
use crate::registration::memory::{self, MemoryOf};
use crate::{Error, Observer, Result};

/// The memory that a deformation needs.
pub struct Need {
    /// Bytes of the device's memory at the finest level.
    device: u64,
    /// Bytes of the host's memory beside the images themselves: if the host computes, and if a device does.
    host: [u64; 2],
    /// The spacing of the finest level, mm.
    mm: f64,
    /// Whether the images are 2-D.
    flat: bool,
}

impl Need {
    /// Estimates the memory for a deformation between images on two grids. `finest` is their finest level. In symmetric
    /// mode, `middles` are those of all starts, of which the largest counts.
    pub fn new<'a>(
        images: [&Geometry; 2],
        finest: Option<&Level>,
        middles: impl Iterator<Item = &'a Middle>,
        load: FlowLoad,
    ) -> Self {
        let level = finest.map_or(images, Level::grids);
        let middle = middles.filter_map(|middle| middle.grids.last()).max_by_key(|grid| grid.voxels());
        let host = |on_device| host_bytes(images, middle, load, on_device);
        let host = [host(false), host(true)];
        let bytes = |grid: &Geometry, moving: &Geometry| flow_bytes(grid.size, moving.size, load);
        let (grid, device) = match middle {
            None => (level[0], bytes(level[0], level[1])),
            Some(grid) => (grid, level.iter().map(|image| bytes(grid, image)).sum()),
        };
        Self { device, host, mm: smallest(grid), flat: grid.is_flat() }
    }
}

/// Refuses a deformation for which the host's memory is too small.
///
/// # Errors
/// [`Error::Device`] names the memory that is needed and that is free.
pub fn check(backend: &dyn Backend, need: &Need) -> Result<()> {
    let [here, on_device] = need.host;
    let need = if backend.free_memory().is_some() { on_device } else { here };
    memory::require_free(need, memory::free(), MemoryOf::Host)
}

/// Estimates the bytes of the host's memory that a deformation needs beside the images themselves, before its start is
/// known. In symmetric mode, the grid in the middle is taken to be that of the fixed image.
pub fn expected(images: [&Geometry; 2], options: &Options, on_device: bool) -> u64 {
    let compared = if may_compare_contrast(images[0], &options.force) { Compared::Both } else { Compared::Intensities };
    host_bytes(images, options.symmetric.then_some(images[0]), options.load(compared), on_device)
}

/// Estimates the bytes of the host's memory beside the images themselves. `middle` is the grid in the middle, in
/// symmetric mode.
fn host_bytes([fixed, moving]: [&Geometry; 2], middle: Option<&Geometry>, load: FlowLoad, on_device: bool) -> u64 {
    let [f, m] = [fixed, moving].map(|grid| grid.voxels() as u64);
    // 16-bit images and coarser levels; at the end both fields as planes and as vectors, the moved image, and the
    // Jacobian.
    let images = 36 * f + 36 * m + 8 * (load.channels - 1) * (f + m);
    // Three fields, unless a device has them; for each channel its local means, and its 16-bit images once more.
    let flow = |grid: u64, moving: u64| 36 * grid + load.channels * ((2 + load.means()) * grid + 2 * moving);
    match middle.map(|grid| grid.voxels() as u64) {
        None => images + if on_device { 0 } else { flow(f, m) },
        // The two flows are composed on the host.
        Some(grid) => images + 36 * f + if on_device { 24 * grid } else { flow(grid, f) + flow(grid, m) },
    }
}

/// Returns whether a flow between images on these grids fits into a backend's own memory.
pub fn fits(backend: &dyn Backend, [fixed, moving]: [&Geometry; 2], load: FlowLoad) -> bool {
    backend.free_memory().is_none_or(|free| flow_bytes(fixed.size, moving.size, load) <= free)
}

/// Returns the backend if the finest level fits into its memory. If it does not, and the user left the choice open,
/// returns the CPU, which gives the same bits.
///
/// # Errors
/// [`Error::Device`] if it does not fit and this backend was asked for; the message says what would fit.
pub fn choose<'a>(
    backend: &'a dyn Backend,
    asked: BackendKind,
    need: &Need,
    observer: &dyn Observer,
) -> Result<&'a dyn Backend> {
    let free = backend.free_memory().unwrap_or(u64::MAX);
    match short(need, free, asked)? {
        None => Ok(backend),
        Some(note) => {
            observer.note(&note);
            Ok(&Cpu)
        }
    }
}

/// Returns `None` if a flow fits into what is free, and a note if the CPU is to do it instead.
///
/// # Errors
/// [`Error::Device`] if it does not fit and this backend was asked for.
fn short(need: &Need, free: u64, asked: BackendKind) -> Result<Option<String>> {
    let &Need { device, mm, flat, .. } = need;
    if device <= free {
        return Ok(None);
    }
    let short = format!("the field needs {:.2} GB of the GPU's memory, and {:.2} GB are free", gb(device), gb(free));
    if asked == BackendKind::Auto {
        return Ok(Some(format!("{short}: using the CPU, which gives the same result")));
    }
    let times = device as f64 / free.max(1) as f64;
    let mm = (10.0 * mm * if flat { times.sqrt() } else { times.cbrt() }).ceil() / 10.0;
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
        let need = |device, flat| Need { device, host: [0; 2], mm: 1.0, flat };
        assert_eq!(short(&need(8_000_000, false), 8_000_000, BackendKind::Cuda).unwrap(), None);
        let large = need(8_000_000_000, false);
        let note = short(&large, 1_000_000_000, BackendKind::Auto).unwrap().unwrap();
        assert!(note.contains("8.00 GB") && note.contains("1.00 GB") && note.contains("CPU"), "{note}");
        let refusal = |need: &Need| short(need, 1_000_000_000, BackendKind::Cuda).unwrap_err().to_string();
        let of_large = refusal(&large);
        assert!(of_large.contains("end at 2 mm or more") && of_large.contains("`backend` cpu"), "{of_large}");
        // Pixels twice as wide are a quarter as many.
        let of_picture = refusal(&need(4_000_000_000, true));
        assert!(of_picture.contains("end at 2 mm or more"), "{of_picture}");
    }

    /// The measured numbers are the maximum resident set size of `mireg deform` with 2 threads, as `/usr/bin/time`
    /// prints it.
    #[test]
    fn the_estimate_is_between_what_was_measured_and_twice_that() {
        let head = Geometry::axis_aligned([181, 217, 180], DVec3::ONE, DVec3::ZERO);
        let one = FlowLoad { channels: 1, joint: true, local: false };
        let lcc = FlowLoad { joint: false, local: true, ..one };
        let two = FlowLoad { channels: 2, ..one };
        for (load, measured) in [(one, 753.0), (lcc, 818.0), (two, 899.0)] {
            let megabytes = (host_bytes([&head; 2], None, load, false) + 8 * head.voxels() as u64) as f64 / 1e6;
            assert!(megabytes > measured && megabytes < 2.0 * measured, "{megabytes} MB are said for {measured} MB");
        }
        assert!(host_bytes([&head; 2], None, one, true) < host_bytes([&head; 2], None, one, false));
        assert!(host_bytes([&head; 2], None, one, false) < host_bytes([&head; 2], Some(&head), one, false));
        assert!(host_bytes([&head; 2], None, one, false) < host_bytes([&head; 2], None, two, false));
    }
}
