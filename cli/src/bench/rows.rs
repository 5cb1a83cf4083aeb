//! What is measured: a row per case, as `--json` prints it.

use mireg::backend::Exponentials;
use serde::Serialize;

use super::choices::Data;
use crate::arguments::interpolation::Interpolation;

/// The time of an evaluation, in seconds by the wall clock.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Timing {
    /// A whole evaluation of one transform: the median.
    pub seconds: f64,
    /// Evaluations that were measured.
    pub repeats: usize,
    /// One transform of a batch of [`BATCH`](super::choices::BATCH): the median.
    pub batch_seconds: f64,
    /// The histogram alone by the device's clock, where it has one: the mean.
    pub histogram_seconds: Option<f64>,
    /// NMI at the first transform, which every method must agree on.
    pub nmi: f64,
}

/// One method on one pair of images.
#[derive(Debug, Clone, Serialize)]
pub struct HistogramRow {
    /// The method that was asked for.
    pub method: &'static str,
    /// The method that counted, which is another one for `auto`; `None` if the method cannot do this case.
    pub counted_by: Option<&'static str>,
    pub bins: u32,
    pub interpolation: Interpolation,
    pub data: Data,
    /// Voxels of the fixed and of the moving image.
    pub fixed_size: [usize; 3],
    pub moving_size: [usize; 3],
    #[serde(flatten)]
    pub timing: Option<Timing>,
    /// Why there is no timing.
    pub reason: Option<String>,
}

impl HistogramRow {
    /// Returns the name of the method in a table. The CPU has only one method, which is called by its own name.
    pub fn label(&self) -> &'static str {
        self.counted_by.filter(|&name| name == "rows").unwrap_or(self.method)
    }
}

/// A joint histogram counted from uniform random 16-bit numbers, each of which stands for a pair of bins.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Numbers {
    pub numbers: usize,
    /// Bins per side.
    pub bins: u32,
    pub seconds: f64,
}

/// Mattes mutual information with one kind of windows on one pair of images.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Mattes {
    pub data: Data,
    /// Whether both images have cubic windows, or only the moving one.
    pub both: bool,
    pub bins: u32,
    /// Voxels of the fixed image.
    pub fixed_size: [usize; 3],
    /// Seconds of a value, and of a value with its derivative, by the wall clock: the medians.
    pub seconds: [f64; 2],
    /// The same by the device's clock, where it has one: the means.
    pub device_seconds: Option<[f64; 2]>,
}

/// Viola's mutual information of two sets of samples, computed in one way.
#[derive(Debug, Clone, Serialize)]
pub struct ViolaRow {
    /// A backend's name, or `one core` of the CPU.
    pub place: &'static str,
    pub exponentials: Exponentials,
    /// Whether the derivative with respect to the map is computed, too.
    pub derivative: bool,
    /// Samples of each set. All lie inside the moving image.
    pub samples: u32,
    /// By the wall clock: the median.
    pub seconds: f64,
    /// By the device's own clock, where it has one: the mean.
    pub device_seconds: Option<f64>,
}

impl ViolaRow {
    /// Returns the pairs of samples per second, for the seconds of either clock.
    pub fn rate(&self, seconds: f64) -> f64 {
        f64::from(self.samples) * f64::from(self.samples) / seconds
    }
}

/// Returns the name of a mode in a table.
pub fn mode_name(mode: Exponentials) -> &'static str {
    match mode {
        Exponentials::Exact => "exact",
        Exponentials::Fast => "fast",
        Exponentials::Quantised => "quantised",
    }
}

/// A rigid registration from images in memory, with the device open.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Registered {
    /// Voxels of the fixed and of the moving image.
    pub fixed_size: [usize; 3],
    pub moving_size: [usize; 3],
    /// By the wall clock: the median.
    pub seconds: f64,
}

/// Volumes smoothed together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Smoothed {
    pub volumes: usize,
    /// Voxels of each.
    pub size: [usize; 3],
    /// All axes by the wall clock, on a GPU including the transfers there and back: the median.
    pub seconds: f64,
    /// A pass along each of x, y and z by the device's clock, if it has one: the means.
    pub pass_seconds: Option<Vec<f64>>,
    /// A copy of the volumes, by the same clock.
    pub copy_seconds: Option<f64>,
}

impl Smoothed {
    /// Returns the rate at which a pass reads and writes all samples, GB/s.
    pub fn rate(&self, seconds: f64) -> f64 {
        8e-9 * (self.volumes * self.size.iter().product::<usize>()) as f64 / seconds
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Returns a row of random images with linear interpolation, as if it had been measured.
    pub fn row(method: &'static str, bins: u32, seconds: Option<f64>) -> HistogramRow {
        let timing = |seconds| Timing {
            seconds,
            repeats: 3,
            batch_seconds: 0.5 * seconds,
            histogram_seconds: (method != "rows").then_some(0.25 * seconds),
            nmi: 1.0,
        };
        HistogramRow {
            method,
            counted_by: seconds.map(|_| method),
            bins,
            interpolation: Interpolation::Linear,
            data: Data::Random,
            fixed_size: [8; 3],
            moving_size: [8; 3],
            timing: seconds.map(timing),
            reason: seconds.is_none().then(|| "it cannot".into()),
        }
    }
}
