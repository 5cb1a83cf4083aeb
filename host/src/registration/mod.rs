//! The registration loop: a start, levels from coarse to fine, and the result.

mod level;
mod start;

use crate::backend::{self, Backend, BackendKind, HistogramMethod};
use crate::image::{Geometry, pyramid};
use crate::metric::{Evaluation, MetricKind};
use crate::optimizer::{Found, Optimizer, Powell, Problem};
use crate::transform::Rigid;
use crate::{Error, Observer, Result, Volume, threads};
use glam::{DAffine3, DVec3};
use gpu::math::interpolate::Interpolator;
use gpu::math::linear::REACH;
use level::{Metric, Range};
use start::Start;
use std::time::Instant;

pub use level::{Images, voxel_map};

/// What the user may choose.
#[derive(Debug, Clone)]
pub struct Options {
    /// What is maximised.
    pub metric: MetricKind,
    /// Bins a side of the joint histogram, 2 to 1024.
    pub bins: u32,
    /// How values between the moving image's voxels are made for the metric.
    pub interpolator: Interpolator,
    /// How the joint histogram is counted; all methods give the same counts.
    pub histogram: HistogramMethod,
    /// On the fixed image's grid: its voxels of less than 0.5 are not counted.
    pub fixed_mask: Option<Volume>,
    /// Where it runs.
    pub backend: BackendKind,
    /// CPU threads; 0 for one a core.
    pub threads: usize,
}

impl Default for Options {
    /// NMI at 64 bins, linear, on the fastest device there is.
    fn default() -> Self {
        Self {
            metric: MetricKind::Nmi,
            bins: 64,
            interpolator: Interpolator::Linear,
            histogram: HistogramMethod::Auto,
            fixed_mask: None,
            backend: BackendKind::Auto,
            threads: 0,
        }
    }
}

/// One level of the pyramid, for the report.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Level {
    /// Grid of this level of the fixed image, mm.
    pub spacing_mm: [f64; 3],
    /// Transforms at which the metric was evaluated.
    pub evaluations: usize,
    /// The metric at the level's end.
    pub value: f64,
}

/// Seconds spent in each part.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct Seconds {
    /// Opening the backend; on a GPU mostly the driver's start.
    pub open: f64,
    pub upload: f64,
    pub pyramid: f64,
    pub optimise: f64,
    pub resample: f64,
}

/// What a registration found.
#[derive(Debug, Clone)]
pub struct Registration {
    /// Fixed point to moving point, LPS mm.
    pub transform: Rigid,
    /// The moving image on the fixed image's grid; 0 outside.
    pub moved: Volume,
    /// The metric at full resolution with the headers as they are, and at the end.
    pub start: Evaluation,
    pub end: Evaluation,
    /// Which start won: "headers", "grid centres" or "centres of mass".
    pub started_from: &'static str,
    pub levels: Vec<Level>,
    pub seconds: Seconds,
    /// What counted the joint histograms at full resolution.
    pub histogram: &'static str,
    /// `cpu`, `cuda` or `emulated`.
    pub backend: &'static str,
    /// The device's own name.
    pub device: String,
}

/// Resolution of the search at the finest level: degrees about x, y and z, mm along x, y and z (Shams 2009, section 3.7).
const RESOLUTION: [f64; 6] = [0.05, 0.05, 0.05, 0.02, 0.02, 0.02];

/// Finds the rigid transform that maximises the metric.
///
/// # Errors
/// [`Error::Input`] for options or volumes that cannot be registered, [`Error::Device`] where the backend is not there,
/// [`Error::Untrusted`] where the volumes do not overlap.
pub fn register(fixed: &Volume, moving: &Volume, options: &Options, observer: &dyn Observer) -> Result<Registration> {
    threads::with(options.threads, || {
        let mut seconds = Seconds::default();
        let ranges = timed(&mut seconds.pyramid, || check(fixed, moving, options))?;
        let backend = timed(&mut seconds.open, || backend::open(options.backend, observer))?;
        let run = Run {
            fixed,
            moving,
            ranges,
            options,
            backend: &*backend,
            observer,
            centre: fixed.geometry.centre(),
            parameters: vec![0.0; 6],
            started_from: "",
            least_overlap: 0.0,
            levels: Vec::new(),
            seconds,
        };
        run.finish()
    })
}

/// The intensity ranges of the fixed and the moving image, unless they cannot be registered.
///
/// # Errors
/// [`Error::Input`] says why.
pub fn check(fixed: &Volume, moving: &Volume, options: &Options) -> Result<[Range; 2]> {
    let bins = options.bins;
    if !(2..=1024).contains(&bins) {
        return Err(Error::Input(format!("{bins} bins: the joint histogram takes 2 to 1024 bins a side")));
    }
    let range = |name: &str, volume: &Volume| {
        let [i, j, k] = volume.geometry.size;
        if i.checked_mul(j).and_then(|plane| plane.checked_mul(k)) != Some(volume.voxels.len()) {
            let voxels = volume.voxels.len();
            return Err(Error::Input(format!(
                "the {name} image has {voxels} voxels, which do not fill {i} x {j} x {k}"
            )));
        }
        // Voxels are numbered in 31 bits and positions in 15.
        if volume.voxels.len() + i * j + i >= 1 << 31 || i.max(j).max(k) > REACH {
            return Err(Error::Input(format!(
                "the {name} image of {i} x {j} x {k} voxels is too large: crop it or make it coarser, to 2^31 voxels and 32768 along an axis at most"
            )));
        }
        if volume.geometry.size.iter().any(|&n| n < 2) {
            return Err(Error::Input(format!(
                "the {name} image has an axis with a single voxel: two or more are needed"
            )));
        }
        let (low, high) = volume.range();
        if low == high {
            return Err(Error::Input(format!(
                "the {name} image is constant (every voxel is {low}): nothing to register"
            )));
        }
        Ok((low, high))
    };
    let ranges = [range("fixed", fixed)?, range("moving", moving)?];
    match &options.fixed_mask {
        Some(mask) if !mask.geometry.is_close(&fixed.geometry) => Err(Error::Input(
            "the fixed mask is not on the fixed image's grid: resample it, nearest, onto the fixed image".into(),
        )),
        Some(mask) if mask.voxels.len() != fixed.voxels.len() || mask.voxels.iter().all(|&voxel| voxel < 0.5) => {
            Err(Error::Input("the fixed mask has no voxel of 0.5 or more: nothing to register".into()))
        }
        _ => Ok(ranges),
    }
}

/// Levels from fine to coarse, in mm: the first is the fixed image's own grid, and each after it twice as coarse while at least 20
/// voxels remain along its shortest side.
fn level_spacings(fixed: &Geometry) -> Vec<f64> {
    let finest = fixed.spacing.min_element();
    let shortest = (0..3).map(|axis| fixed.size[axis] as f64 * fixed.spacing[axis]).fold(f64::INFINITY, f64::min);
    let mut spacings = vec![finest];
    while shortest / (spacings[spacings.len() - 1] * 2.0) >= 20.0 {
        spacings.push(spacings[spacings.len() - 1] * 2.0);
    }
    spacings
}

/// A registration under way.
struct Run<'a> {
    fixed: &'a Volume,
    moving: &'a Volume,
    /// Of the fixed and the moving image.
    ranges: [Range; 2],
    options: &'a Options,
    backend: &'a dyn Backend,
    observer: &'a dyn Observer,
    /// The centre of rotation, LPS mm.
    centre: DVec3,
    parameters: Vec<f64>,
    started_from: &'static str,
    /// Least fraction of the samples inside the moving image.
    least_overlap: f64,
    levels: Vec<Level>,
    seconds: Seconds,
}

impl Run<'_> {
    fn finish(mut self) -> Result<Registration> {
        let spacings = level_spacings(&self.fixed.geometry);
        let (fixed, moving) = timed(&mut self.seconds.pyramid, || {
            (pyramid::levels(self.fixed, &spacings), pyramid::levels(self.moving, &spacings))
        });
        let masks = self.options.fixed_mask.as_ref().map(|mask| pyramid::levels(mask, &spacings));
        let mut histogram = "";
        let (mut start, mut end) = (Evaluation::default(), Evaluation::default());
        for level in (0..spacings.len()).rev() {
            let [fixed_range, moving_range] = self.ranges;
            let images = timed(&mut self.seconds.pyramid, || {
                let mask = masks.as_ref().map(|masks| &*masks[level]);
                Images::new((&fixed[level], fixed_range), (&moving[level], moving_range), mask, self.options)
            })?;
            let mut evaluator = timed(&mut self.seconds.upload, || images.load(self.backend))?;
            histogram = evaluator.method();
            let clock = Instant::now();
            let spacing_mm = images.fixed_geometry.spacing.to_array();
            self.observer.level(spacings.len() - 1 - level, spacings.len(), spacing_mm);
            let mut metric = Metric::new(&images, &mut *evaluator, self.options.metric, self.centre, self.observer);
            if level + 1 == spacings.len() {
                self.choose_start(&mut metric, start::candidates(&fixed[level], &moving[level]))?;
            }
            metric.require_overlap(self.least_overlap);
            let found = self.climb(&mut metric, spacings[level], spacings[level] / spacings[0])?;
            self.levels.push(Level { spacing_mm, evaluations: found.evaluations, value: found.value });
            self.parameters = found.parameters;
            if level == 0 {
                let both = metric.evaluate(&[DAffine3::IDENTITY, self.transform().to_affine()])?;
                (start, end) = (both[0], both[1]);
            }
            self.seconds.optimise += clock.elapsed().as_secs_f64();
        }
        let moved = self.resample()?;
        Ok(Registration {
            transform: self.transform(),
            moved,
            start,
            end,
            started_from: self.started_from,
            histogram,
            levels: self.levels,
            seconds: self.seconds,
            backend: self.backend.name(),
            device: self.backend.device(),
        })
    }

    fn transform(&self) -> Rigid {
        level::rigid(&self.parameters, self.centre)
    }

    /// Takes the best of the starts that overlap well.
    fn choose_start(&mut self, metric: &mut Metric, starts: [Start; 3]) -> Result<()> {
        let scores = metric.evaluate(&starts.map(|start| DAffine3::from_translation(start.translation)))?;
        if scores[0].overlap == 0 {
            return Err(Error::Untrusted(format!(
                "the images do not overlap: their headers place their centres {:.0} mm apart; check the headers",
                self.fixed.geometry.centre().distance(self.moving.geometry.centre())
            )));
        }
        let most = scores.iter().map(|score| score.overlap).max().unwrap_or(0);
        let value = |i: &usize| scores[*i].value(self.options.metric);
        // The first of equals wins: the headers before anything guessed.
        let best = (0..starts.len()).rev().filter(|&i| scores[i].overlap >= most / 2);
        let best = best.max_by(|a, b| value(a).total_cmp(&value(b))).unwrap_or(0);
        self.started_from = starts[best].name;
        self.parameters[3..].copy_from_slice(&starts[best].translation.to_array());
        self.least_overlap = scores[best].overlap_fraction() / 4.0;
        Ok(())
    }

    /// Searches at a level of `mm`, which is `coarse` times the finest one.
    fn climb(&self, metric: &mut Metric, mm: f64, coarse: f64) -> Result<Found> {
        let resolution = RESOLUTION.map(|resolution| resolution * coarse).to_vec();
        // After the first level the maximum is near.
        let step = if self.levels.is_empty() { mm } else { mm / 4.0 };
        let problem = Problem { start: self.parameters.clone(), step: vec![step; 6], resolution };
        Powell::default().maximise(metric, &problem)
    }

    /// The moving image on the fixed image's grid.
    fn resample(&mut self) -> Result<Volume> {
        let map = voxel_map(&self.fixed.geometry, &self.moving.geometry, &self.transform().to_affine());
        let size = self.fixed.geometry.size;
        let resample = || self.backend.resample(self.moving, size, &map, Interpolator::Linear);
        let voxels = timed(&mut self.seconds.resample, resample)?;
        Ok(Volume { geometry: self.fixed.geometry, voxels, pixel: self.moving.pixel })
    }
}

/// Adds the time that `work` takes to `seconds`.
fn timed<T>(seconds: &mut f64, work: impl FnOnce() -> T) -> T {
    let clock = Instant::now();
    let out = work();
    *seconds += clock.elapsed().as_secs_f64();
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PixelType;

    fn volume(size: [usize; 3], voxels: Vec<f32>) -> Volume {
        Volume { geometry: Geometry::axis_aligned(size, DVec3::ONE, DVec3::ZERO), voxels, pixel: PixelType::F32 }
    }

    #[test]
    fn what_cannot_be_registered_is_refused_in_a_line() {
        let good = volume([2, 2, 2], (0..8_u8).map(f32::from).collect());
        let with = |bins, fixed_mask| Options { bins, fixed_mask, ..Options::default() };
        assert_eq!(check(&good, &good, &with(64, Some(good.clone()))).unwrap(), [(0.0, 7.0); 2]);
        let bad = [
            (volume([2, 2, 3], vec![1.0; 8]), 64, "do not fill"),
            (volume([usize::MAX, 2, 2], vec![1.0; 8]), 64, "do not fill"),
            (volume([8, 1, 1], good.voxels.clone()), 64, "single voxel"),
            (volume([2, 2, 2], vec![1.0; 8]), 64, "constant"),
            (good.clone(), 1025, "2 to 1024"),
        ];
        let refused = |moving: &Volume, options: &Options, says: &str| {
            let error = check(&good, moving, options).unwrap_err().to_string();
            assert!(error.contains(says) && error.lines().count() == 1, "{error}");
        };
        for (moving, bins, says) in bad {
            refused(&moving, &with(bins, None), says);
        }
        refused(&good, &with(64, Some(volume([2, 2, 2], vec![0.4; 8]))), "no voxel of 0.5");
        refused(&good, &with(64, Some(volume([2, 2, 3], vec![1.0; 12]))), "not on the fixed image's grid");
    }
}
