//! Estimates the memory that a registration needs, and refuses to begin if it is not free: an error message is better
//! than a killed process.

use super::Options;
use super::levels;
use crate::backend::BATCH;
use crate::error::message;
use crate::metric::{Histogram, Sampled, Sampling};
use crate::{Error, Geometry, Result};
use sysinfo::{MemoryRefreshKind, RefreshKind, System};

/// Bytes needed besides the images themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Need {
    host: u64,
    /// Of a GPU.
    device: u64,
}

/// Refuses images for which memory is short. `on_device` is the number of free bytes on a device with memory of its
/// own.
///
/// # Errors
/// [`Error::Device`] names what is needed and what is free.
pub fn check(fixed: &Geometry, moving: &Geometry, options: &Options, on_device: Option<u64>) -> Result<()> {
    let need = need(fixed, moving, options);
    require_free(need.host, free(), MemoryOf::Host)?;
    require_free(need.device, on_device, MemoryOf::Device)
}

/// Estimates the most that is needed at one time: the pyramids and the images of one level, then the images of the
/// final comparison, then the result.
fn need(fixed: &Geometry, moving: &Geometry, options: &Options) -> Need {
    let [f, m] = [fixed, moving].map(|grid| grid.voxels() as u64);
    let (sampled, interpolated) = match levels::sampled(fixed, moving) {
        Sampled::Fixed => (f, m),
        Sampled::Moving => (m, f),
    };
    let samples = match options.sampling {
        Sampling::Full => sampled,
        Sampling::Grid { samples } | Sampling::Random { samples, .. } => sampled.min(samples as u64),
    };
    let Histogram { bins, interpolator, .. } = options.metric.histogram();
    // Bytes per voxel: a word of four 8-bit levels; or a 16-bit value, and an f32 coefficient with an f32 it is made
    // from.
    let stored = if interpolator.is_cubic() { 2 + 8 } else { 4 };
    // All coarser levels of both images, f32.
    let pyramids = 4 * (f + m) / 7;
    // Samples as f32 and as bins; a mask; the other image, and the same smoothed to the samples' slice thickness.
    let level = 7 * samples + (stored + 4) * interpolated;
    // Bins; the other image, which may be reduced to a coarser grid first.
    let compared = 2 * f + (stored + 1) * m;
    let moved = 4 * f;
    // 2-D images are smoothed first: the results along one axis and along both, f32.
    let smoothed = if fixed.is_flat() { 8 * f.max(m) } else { 0 };
    let histograms = 4 * u64::from(bins).pow(2) * BATCH as u64;
    // Both images stay on the device as f32. Besides, there are either samples, words, and the results of smoothing
    // along one axis and along both; or the moving image with its outliers and the moved one.
    let device = 4 * (f + m) + (2 * samples + 12 * interpolated).max(4 * (f + m)) + 2 * histograms;
    Need { host: (pyramids + level + smoothed).max(compared).max(moved) + histograms + options.metric.bytes(), device }
}

/// Refuses to go on if less memory is free than is needed.
///
/// # Errors
/// [`Error::Device`] names what is needed and what is free.
pub fn require_free(need: u64, free: Option<u64>, memory_of: MemoryOf) -> Result<()> {
    let Some(free) = free.filter(|&free| free < need) else { return Ok(()) };
    let [need, free] = [need, free].map(|bytes| bytes as f64 / 1e9);
    Err(match memory_of {
        MemoryOf::Host => Error::device(
            "cpu",
            message!(
                "registering these images needs about {need:.2} GB of memory, and {free:.2} GB are free";
                "crop the images, make them coarser, or end other programs"
            ),
        ),
        MemoryOf::Device => Error::device(
            "cuda",
            message!(
                "registering these images needs about {need:.2} GB of the GPU's memory, and {free:.2} GB are free";
                "crop the images, make them coarser, or use ", Backend, " cpu"
            ),
        ),
    })
}

/// Whose memory is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryOf {
    Host,
    /// A GPU.
    Device,
}

/// Returns the bytes that this process may still allocate on the host, if the operating system tells.
pub fn free() -> Option<u64> {
    let memory = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = System::new_with_specifics(memory).ok()?;
    // The page cache counts against a container's limit but is freed on demand, so only resident memory is subtracted.
    let container = system.cgroup_limits().map(|limits| limits.total_memory.saturating_sub(limits.rss));
    Some(system.available_memory().min(container.unwrap_or(u64::MAX))).filter(|&free| free > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::{Counted, Mattes, Metric, Viola};
    use glam::DVec3;
    use gpu::math::interpolate::Interpolator;

    fn grid(size: [usize; 3], spacing: [f64; 3]) -> Geometry {
        Geometry::axis_aligned(size, DVec3::from_array(spacing), DVec3::ZERO)
    }

    /// Returns the estimate with the images themselves, megabytes.
    fn megabytes(fixed: Geometry, moving: Geometry, interpolator: Interpolator) -> f64 {
        let images = 4 * (fixed.voxels() + moving.voxels()) as u64;
        let metric = Metric::Counted(Counted { interpolator, ..Counted::default() });
        (need(&fixed, &moving, &Options { metric, ..Options::default() }).host + images) as f64 / 1e6
    }

    /// Measured is the maximum resident set size of `mireg register` with 2 threads, by `/usr/bin/time`.
    #[test]
    fn the_estimate_is_between_what_was_measured_and_twice_that() {
        let [head, thick] = [grid([181, 217, 180], [1.0; 3]), grid([192, 208, 52], [1.25, 1.25, 4.0])];
        let [large, body] = [grid([512, 512, 300], [0.5, 0.5, 1.0]), grid([512, 512, 1200], [0.98, 0.98, 1.0])];
        let measured = [
            (head, thick, Interpolator::Linear, 112.0),
            (head, thick, Interpolator::BSpline, 128.0),
            (large, large, Interpolator::Linear, 1114.0),
            (large, large, Interpolator::CatmullRom, 1602.0),
            (body, body, Interpolator::Linear, 4428.0),
        ];
        for (fixed, moving, how, measured) in measured {
            let found = megabytes(fixed, moving, how);
            assert!(found > measured && found < 2.0 * measured, "{found} MB are said for {measured} MB");
        }
    }

    #[test]
    fn windows_on_many_bins_need_memory_for_every_thread() {
        let small = grid([64; 3], [1.0; 3]);
        let host = |metric| need(&small, &small, &Options { metric, ..Options::default() }).host;
        let counted = host(Metric::Counted(Counted { bins: 1024, ..Counted::default() }));
        assert!(host(Metric::Mattes(Mattes { bins: 1024, ..Mattes::default() })) > counted + (48 << 20));
        assert_eq!(host(Metric::Viola(Viola { bins: 1024, ..Viola::default() })), counted);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_both_numbers() {
        assert!(require_free(2_000_000_000, None, MemoryOf::Host).is_ok());
        assert!(require_free(2_000_000_000, Some(2_000_000_000), MemoryOf::Host).is_ok());
        let refused = require_free(3_100_000_000, Some(2_000_000_000), MemoryOf::Host).unwrap_err();
        assert!(matches!(refused, Error::Device { backend: "cpu", .. }));
        let message = refused.to_string();
        assert!(
            message.contains("3.10 GB of memory") && message.contains("2.00 GB") && message.contains("crop the images"),
            "{message}"
        );
    }

    #[test]
    fn this_machine_says_what_is_free() {
        assert!(free().is_none_or(|free| free > 1 << 20));
    }

    #[test]
    fn a_gpu_is_asked_too() {
        let small = grid([16; 3], [1.0; 3]);
        let message = check(&small, &small, &Options::default(), Some(1000)).unwrap_err().to_string();
        assert!(message.contains("GPU") && message.contains("`backend` cpu"), "{message}");
    }
}
