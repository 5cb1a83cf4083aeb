//! The registration loop: a start, levels from coarse to fine, and the result.

mod check;
mod found;
mod levels;
pub(crate) mod memory;
mod moments;
mod objective;
mod options;
mod race;
mod start;
mod trust;

use crate::backend::{Backend, cpu};
use crate::image::{Range, voxel_map};
use crate::metric::{Evaluation, Measure, Samples};
use crate::observer::go_on;
use crate::transform::{Dimension, Kind, Linear, Steps, distance};
use crate::{Geometry, Observer, Result, Volume};
use glam::DAffine3;
use gpu::math::interpolate::Interpolator;
use levels::Levels;
use objective::Metric;
use race::Race;
use std::time::Instant;
use trust::Evidence;

pub use crate::metric::Sampling;
pub use check::check;
pub use found::{Level, LinearStart, Registration, Rise, Seconds, Started};
pub use options::{Init, Options, ViolaOptions};
pub use trust::Doubt;

/// Finds the transform that maximises the metric: see [`Engine::register`](crate::Engine::register).
pub(crate) fn register(
    fixed: &Volume,
    moving: &Volume,
    options: &Options,
    backend: &dyn Backend,
    observer: &dyn Observer,
) -> Result<Registration> {
    let mut seconds = Seconds::default();
    let ranges = timed(&mut seconds.pyramid, || check(fixed, moving, options))?;
    memory::check(&fixed.geometry, &moving.geometry, options, backend.free_memory())?;
    let dimension = Dimension::of(&fixed.geometry);
    let run = Run {
        fixed,
        moving,
        ranges,
        options,
        backend,
        observer,
        dimension,
        levels: Vec::new(),
        values: [0.0; 2],
        seconds,
    };
    run.finish()
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
    dimension: Dimension,
    levels: Vec<Level>,
    /// A smooth metric as the headers place the images, and at the end.
    values: [f64; 2],
    seconds: Seconds,
}

impl Run<'_> {
    fn finish(mut self) -> Result<Registration> {
        let levels =
            timed(&mut self.seconds.pyramid, || Levels::new(self.fixed, self.moving, self.ranges, self.options));
        let mut race = Race::default();
        for level in (0..levels.spacings.len()).rev() {
            self.level(&levels, level, &mut race)?;
        }
        let best = race.best()?;
        let transform = Linear::new(self.options.dof, self.dimension, self.fixed.geometry.centre(), &best.transform);
        let map = transform.to_affine();
        go_on(self.observer)?;
        let compared = self.compare(&map)?;
        let metric = self.options.metric();
        let values = [0, 1].map(|n| compared.values[n].value(metric).unwrap_or(self.values[n]));
        let evidence = Evidence {
            start: &compared.values[0],
            end: &compared.values[1],
            chance: trust::chance(&compared.histograms[1], self.options.bins as usize, compared.values[1].overlap),
            values,
            to: &map,
            volumes: volume(&self.fixed.geometry) / volume(&self.moving.geometry),
            rival: race.rival,
        };
        Ok(Registration {
            moved: self.resample(&map)?,
            doubts: evidence.doubts(),
            transform,
            start: compared.values[0],
            end: compared.values[1],
            values,
            histograms: compared.histograms,
            started: Started {
                from: best.from,
                distance_mm: distance(&best.start, &map, &self.fixed.geometry),
                candidates: race.candidates,
            },
            histogram: compared.method,
            levels: self.levels,
            seconds: self.seconds,
            backend: self.backend.name(),
            device: self.backend.device(),
        })
    }

    /// Takes the poses in the race on at a level; at the coarsest one the race begins.
    fn level(&mut self, levels: &Levels, level: usize, race: &mut Race) -> Result<()> {
        let (count, mm) = (levels.spacings.len(), levels.spacings[level]);
        let at = race.poses.first().map_or(DAffine3::IDENTITY, |pose| pose.transform);
        go_on(self.observer)?;
        let images = timed(&mut self.seconds.pyramid, || levels.images(level, &at))?;
        let samples = timed(&mut self.seconds.pyramid, || levels.scattered(&images, level))?;
        let load = || Measure::load(&images, samples.as_ref(), self.backend, self.options);
        let measure = timed(&mut self.seconds.upload, load)?;
        let clock = Instant::now();
        let spacing_mm = images.grid().spacing.to_array();
        self.observer.level(count - 1 - level, count, spacing_mm);
        let mut metric = Metric::new(&images, measure, self.options.metric().smooth(), self.observer);
        let grid = &self.fixed.geometry;
        if race.poses.is_empty() {
            let (fixed, moving) = levels.pair(level);
            let starts = start::candidates(&self.options.init, self.options.dof, self.dimension, fixed, moving);
            let steps = Steps::new(self.options.dof.min(Kind::Rigid), self.dimension, grid);
            race.begin(&mut metric, &starts, &steps, mm, grid)?;
        }
        let steps = Steps::new(self.options.dof, self.dimension, grid);
        // The coarsest level is too coarse to tell starts that are nearly as good.
        let decides = level == 0 || level + 1 < count;
        race.go_on(&mut metric, &*self.options.optimizer().optimizer(), &steps, (mm, decides), grid)?;
        let best = race.best()?;
        if level == 0 && self.options.metric().smooth() {
            self.values = [metric.at(&DAffine3::IDENTITY)?, best.value];
        }
        let (value, stopped) = (best.value, best.stopped);
        let sigmas = samples.as_ref().map(|samples| samples.parts(levels.which));
        let samples = samples.as_ref().map_or(images.samples(), Samples::count);
        let (evaluations, trace) = (metric.evaluations, metric.trace);
        self.levels.push(Level { spacing_mm, samples, sigmas, evaluations, value, stopped, trace });
        self.seconds.optimise += clock.elapsed().as_secs_f64();
        Ok(())
    }

    /// Both images at full resolution before and after.
    fn compare(&mut self, map: &DAffine3) -> Result<Compared> {
        let options = self.options;
        let clock = Instant::now();
        let images = crate::metric::images(self.fixed, self.moving, self.ranges, map, options);
        let mut evaluator = images.load(self.backend)?;
        let [before, after] = [DAffine3::IDENTITY, *map].map(|map| images.histogram(&mut *evaluator, &map));
        let histograms = [before?, after?];
        let unit = images.unit()?;
        let value = |counts: &Vec<u32>| {
            let entropies = cpu::entropies(counts, [options.bins; 2], crate::backend::Wanted::Ratios);
            Evaluation::new(&crate::backend::per_sample(entropies, unit), images.samples())
        };
        let values = [value(&histograms[0]), value(&histograms[1])];
        let method = evaluator.method();
        self.seconds.compare += clock.elapsed().as_secs_f64();
        Ok(Compared { values, histograms, method })
    }

    /// The moving image on the fixed image's grid.
    fn resample(&mut self, map: &DAffine3) -> Result<Volume> {
        go_on(self.observer)?;
        let map = voxel_map(&self.fixed.geometry, &self.moving.geometry, map);
        let size = self.fixed.geometry.size;
        let resample = || self.backend.resample(self.moving, size, &map, Interpolator::Linear);
        let voxels = timed(&mut self.seconds.resample, resample)?;
        Ok(Volume { geometry: self.fixed.geometry, voxels, pixel: self.moving.pixel })
    }
}

/// What a grid covers, mm^3.
fn volume(grid: &Geometry) -> f64 {
    grid.voxels() as f64 * grid.spacing.element_product()
}

/// Before and after.
struct Compared {
    values: [Evaluation; 2],
    histograms: [Vec<u32>; 2],
    method: &'static str,
}

/// Adds the time that `work` takes to `seconds`.
pub(crate) fn timed<T>(seconds: &mut f64, work: impl FnOnce() -> T) -> T {
    let clock = Instant::now();
    let out = work();
    *seconds += clock.elapsed().as_secs_f64();
    out
}
