//! The registration loop: a start, levels from coarse to fine, and the result.

pub(crate) mod check;
mod found;
mod levels;
pub(crate) mod memory;
mod moments;
mod objective;
mod options;
mod place;
mod race;
mod start;
mod trust;

use crate::backend::Backend;
use crate::image::{Prepared, voxel_map};
use crate::metric::{self, Compared};
use crate::observer::go_on;
use crate::resample::{Resampling, with_gaps};
use crate::transform::{Dimension, Kind, Linear, Steps, distance};
use crate::{Geometry, Observer, Result, Volume};
use glam::DAffine3;
use levels::Levels;
use objective::LevelMetric;
use race::Race;
use std::time::Instant;
use trust::Evidence;

pub use crate::metric::Sampling;
pub use check::check;
pub use found::{LinearStart, Registration, RegistrationLevel, RegistrationSeconds, Rise, Started};
pub use options::{Init, Options};
pub use place::Place;

/// Finds the transform that maximises the metric: see [`Engine::register`](crate::Engine::register).
pub(crate) fn register(
    fixed: &Volume,
    moving: &Volume,
    options: &Options,
    backend: &dyn Backend,
    observer: &dyn Observer,
) -> Result<Registration> {
    let mut seconds = RegistrationSeconds::default();
    let prepared = timed(&mut seconds.pyramid, || check(fixed, moving, options))?;
    metric::check::tell(&prepared, observer);
    memory::check(&fixed.geometry, &moving.geometry, options, backend.free_memory())?;
    let dimension = Dimension::of(&fixed.geometry);
    let run = Run {
        fixed,
        moving,
        prepared: &prepared,
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
    /// Both as metrics look at them.
    prepared: &'a [Prepared<'a>; 2],
    options: &'a Options,
    backend: &'a dyn Backend,
    observer: &'a dyn Observer,
    dimension: Dimension,
    levels: Vec<RegistrationLevel>,
    /// A smooth metric as the headers place the images, and at the end.
    values: [f64; 2],
    seconds: RegistrationSeconds,
}

impl Run<'_> {
    fn finish(mut self) -> Result<Registration> {
        let levels = timed(&mut self.seconds.pyramid, || Levels::new(self.prepared, self.options));
        let mut race = Race::default();
        for level in (0..levels.spacings.len()).rev() {
            self.level(&levels, level, &mut race)?;
        }
        // Of whole bodies, half a gigabyte.
        drop(levels);
        let best = race.best()?;
        let transform = Linear::new(self.options.dof, self.dimension, self.fixed.geometry.centre(), &best.transform);
        let map = transform.to_affine();
        go_on(self.observer)?;
        let compared = self.compare(&map)?;
        let metric = &self.options.metric;
        let values = [0, 1].map(|n| metric.of(&compared.values[n]).unwrap_or(self.values[n]));
        let evidence = Evidence {
            start: &compared.values[0],
            end: &compared.values[1],
            chance: metric::chance(
                &compared.histograms[1],
                metric.histogram().bins as usize,
                compared.values[1].overlap,
            ),
            values,
            to: &map,
            volumes: volume(&self.fixed.geometry) / volume(&self.moving.geometry),
            rival: race.rival,
        };
        let flat = self.dimension == Dimension::Two;
        let placed = || Place::of(self.prepared, &map, self.backend);
        let place = if flat { timed(&mut self.seconds.compare, placed)? } else { None };
        let doubts = evidence.doubts().into_iter().chain(place.and_then(trust::place)).collect();
        Ok(Registration {
            moved: self.resample(&map)?,
            doubts,
            place,
            transform,
            intensities: self.prepared.each_ref().map(|image| image.intensities),
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
        let at = race.poses.first().map(|pose| pose.transform).or(self.options.init.known());
        go_on(self.observer)?;
        let prepare = || self.options.metric.prepare(&levels.images(level, at)?);
        let images = timed(&mut self.seconds.pyramid, prepare)?;
        let loaded = timed(&mut self.seconds.upload, || images.load(self.backend))?;
        let clock = Instant::now();
        let spacing_mm = images.grids().sampled.spacing.to_array();
        self.observer.level(count - 1 - level, count, spacing_mm);
        let mut metric = LevelMetric::new(images.grids(), loaded, self.options.metric.worst(), self.observer);
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
        if level == 0 && self.options.metric.has_gradient() {
            self.values = [metric.at(&DAffine3::IDENTITY)?, best.value];
        }
        let (value, stopped) = (best.value, best.stopped);
        let (samples, sigmas) = (images.samples(), images.sigmas());
        let (evaluations, trace) = (metric.evaluations, metric.trace);
        self.levels.push(RegistrationLevel { spacing_mm, samples, sigmas, evaluations, value, stopped, trace });
        self.seconds.optimise += clock.elapsed().as_secs_f64();
        Ok(())
    }

    /// Both images at full resolution before and after.
    fn compare(&mut self, map: &DAffine3) -> Result<Compared> {
        let histogram = self.options.metric.histogram();
        let compare = || metric::before_and_after(self.prepared, map, histogram, self.backend, self.observer);
        timed(&mut self.seconds.compare, compare)
    }

    /// The moving image on the fixed image's grid.
    fn resample(&mut self, map: &DAffine3) -> Result<Volume> {
        go_on(self.observer)?;
        let map = voxel_map(&self.fixed.geometry, &self.moving.geometry, map);
        let size = self.fixed.geometry.size;
        let resample = |image: &Volume, how: &Resampling| self.backend.resample(image, size, &map, how.interpolator);
        let voxels = timed(&mut self.seconds.resample, || with_gaps(self.moving, &Resampling::default(), resample))?;
        Ok(Volume { geometry: self.fixed.geometry, voxels, pixel: self.moving.pixel })
    }
}

/// What a grid covers, mm^3.
fn volume(grid: &Geometry) -> f64 {
    grid.voxels() as f64 * grid.spacing.element_product()
}

/// Adds the time that `work` takes to `seconds`.
pub(crate) fn timed<T>(seconds: &mut f64, work: impl FnOnce() -> T) -> T {
    let clock = Instant::now();
    let out = work();
    *seconds += clock.elapsed().as_secs_f64();
    out
}
