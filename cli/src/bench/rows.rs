//! What is measured: a row per case, as `--json` prints it.

use mireg::backend::Exponentials;
use serde::Serialize;

use super::choices::Data;
use crate::arguments::interpolation::Interpolation;

/// What an evaluation takes, in seconds by the wall clock.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Timing {
    /// A whole evaluation of one transform: the median of all.
    pub seconds: f64,
    /// Evaluations measured.
    pub repeats: usize,
    /// A transform of a batch of [`BATCH`]: the median.
    pub batch_seconds: f64,
    /// The histogram alone by the device's clock, where it has one: the mean.
    pub histogram_seconds: Option<f64>,
    /// NMI at the first transform, which every method must agree on.
    pub nmi: f64,
}

/// One method on one pair of images.
#[derive(Debug, Clone, Serialize)]
pub struct Counted {
    /// As asked for.
    pub method: &'static str,
    /// What counted: another where `auto` chose; none where the method cannot do this.
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

impl Counted {
    /// What a table calls the method: the CPU, which has but one, by its name.
    pub fn label(&self) -> &'static str {
        self.counted_by.filter(|&name| name == "rows").unwrap_or(self.method)
    }
}

/// A joint histogram from uniform random 16-bit numbers of pairs of bins.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Numbers {
    pub numbers: usize,
    /// Bins per side.
    pub bins: u32,
    pub seconds: f64,
}

/// One kind of windows on one pair of images.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Mattes {
    pub data: Data,
    /// Whether both images have cubic windows, or the moving one alone.
    pub both: bool,
    pub bins: u32,
    /// Voxels of the fixed image.
    pub fixed_size: [usize; 3],
    /// By the wall clock, the medians: a value, and one with its derivative.
    pub seconds: [f64; 2],
    /// The same by the device's clock, where it has one: the means.
    pub device_seconds: Option<[f64; 2]>,
}

/// Evaluations of two sets of samples of one size in one way.
#[derive(Debug, Clone, Serialize)]
pub struct Pairs {
    /// A backend's name, or `one core` of the CPU.
    pub place: &'static str,
    pub exponentials: Exponentials,
    /// Whether the derivative by the map is computed too.
    pub derivative: bool,
    /// Of each set; all lie inside the moving image.
    pub samples: u32,
    /// By the wall clock: the median.
    pub seconds: f64,
    /// By the device's own clock, where it has one: the mean.
    pub device_seconds: Option<f64>,
}

impl Pairs {
    /// Pairs of samples a second, for either clock's seconds.
    pub fn rate(&self, seconds: f64) -> f64 {
        f64::from(self.samples) * f64::from(self.samples) / seconds
    }
}

/// The mode as a table calls it.
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
    /// All axes by the wall clock, on a device with the way there and back: the median.
    pub seconds: f64,
    /// A pass along x, y and z by the device's clock, where it has one: the means.
    pub pass_seconds: Option<Vec<f64>>,
    /// A copy of the volumes, by the same clock.
    pub copy_seconds: Option<f64>,
}

impl Smoothed {
    /// How fast a pass reads and writes all samples, GB/s.
    pub fn rate(&self, seconds: f64) -> f64 {
        8e-9 * (self.volumes * self.size.iter().product::<usize>()) as f64 / seconds
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A row of random data, linear, as if it had been measured.
    pub fn row(method: &'static str, bins: u32, seconds: Option<f64>) -> Counted {
        let timing = |seconds| Timing {
            seconds,
            repeats: 3,
            batch_seconds: 0.5 * seconds,
            histogram_seconds: (method != "rows").then_some(0.25 * seconds),
            nmi: 1.0,
        };
        Counted {
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
