//! The registration loop: a start, levels from coarse to fine, and the result.

mod check;
mod found;
mod level;
mod options;
mod start;
mod trust;

use crate::backend::{self, Backend};
use crate::image::{Geometry, pyramid};
use crate::metric::Evaluation;
use crate::optimizer::{Found, Problem};
use crate::transform::{Dimension, Linear, Steps};
use crate::{Error, Observer, Result, Volume, threads};
use glam::DAffine3;
use gpu::math::interpolate::Interpolator;
use level::{Metric, Range};
use start::Start;
use std::time::Instant;

pub use check::check;
pub use found::{Level, Registration, Rise, Seconds, Started};
pub use level::{Images, voxel_map};
pub use options::{Init, Options, Sampling};
pub use trust::Doubt;

/// Resolution of the search at the finest level, mm (Shams 2009, section 3.7).
const RESOLUTION: f64 = 0.02;

/// Finds the transform that maximises the metric.
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
            transform: DAffine3::IDENTITY,
            started: Started { from: "header", distance_mm: 0.0, candidates: 1 },
            least_overlap: 0.0,
            levels: Vec::new(),
            seconds,
        };
        run.finish()
    })
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
    /// The best so far, fixed point to moving point, LPS mm.
    transform: DAffine3,
    started: Started,
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
        let mut histograms = [Vec::new(), Vec::new()];
        let steps = Steps::new(self.options.dof, Dimension::Three, &self.fixed.geometry);
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
            let mut metric = Metric::new(&images, &mut *evaluator, self.options.metric, &steps, self.observer);
            if level + 1 == spacings.len() {
                self.choose_start(&mut metric, start::candidates(&fixed[level], &moving[level]))?;
            }
            metric.require_overlap(self.least_overlap);
            metric.start_from(self.transform);
            let found = self.climb(&mut metric, &steps, spacings[level], spacings[level] / spacings[0])?;
            self.levels.push(Level {
                spacing_mm,
                samples: images.samples(),
                evaluations: found.evaluations,
                value: found.value,
                stopped: found.stopped,
                trace: metric.trace(),
            });
            self.transform = self.transform * steps.map(&found.parameters);
            if level == 0 {
                self.transform = self.linear().to_affine();
                let both = [DAffine3::IDENTITY, self.transform];
                let values = metric.evaluate(&both)?;
                (start, end) = (values[0], values[1]);
                let [before, after] = both.map(|map| images.histogram(&mut *evaluator, &map));
                histograms = [before?, after?];
            }
            self.seconds.optimise += clock.elapsed().as_secs_f64();
        }
        let moved = self.resample()?;
        Ok(Registration {
            transform: self.linear(),
            moved,
            doubts: trust::doubts(&start, &end, self.options.metric),
            start,
            end,
            histograms,
            started: self.started,
            histogram,
            levels: self.levels,
            seconds: self.seconds,
            backend: self.backend.name(),
            device: self.backend.device(),
        })
    }

    fn linear(&self) -> Linear {
        Linear::new(self.options.dof, Dimension::Three, self.fixed.geometry.centre(), &self.transform)
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
        self.started.from = starts[best].name;
        self.transform = DAffine3::from_translation(starts[best].translation);
        self.least_overlap = scores[best].overlap_fraction() / 4.0;
        Ok(())
    }

    /// Searches at a level of `mm`, which is `coarse` times the finest one.
    fn climb(&self, metric: &mut Metric, steps: &Steps, mm: f64, coarse: f64) -> Result<Found> {
        // After the first level the maximum is near.
        let step = if self.levels.is_empty() { mm } else { mm / 4.0 };
        let problem =
            Problem { start: vec![0.0; steps.count()], step, resolution: RESOLUTION * coarse, evaluations: 2000 };
        self.options.optimizer.optimizer().maximise(metric, &problem)
    }

    /// The moving image on the fixed image's grid.
    fn resample(&mut self) -> Result<Volume> {
        let map = voxel_map(&self.fixed.geometry, &self.moving.geometry, &self.transform);
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
