//! Linear registration: finds poses to start from, optimises them from coarse to fine levels, and checks the result.

mod binned;
pub(crate) mod check;
mod elsewhere;
mod found;
mod from_result;
mod levels;
mod linear;
pub(crate) mod memory;
mod mirror;
mod moments;
mod nearest;
mod objective;
mod options;
mod parts;
mod place;
mod race;
mod retry;
mod samples;
mod start;
mod trust;

use crate::backend::Backend;
use crate::doubt::Check;
use crate::image::{Prepared, voxel_map};
use crate::metric::{self, BeforeAfter, ImagePair};
use crate::observer::ask_observer;
use crate::plane::sharpness;
use crate::resample::{Resampling, with_gaps};
use crate::transform::{Dimension, Kind, Linear, Steps, distance};
use crate::{Geometry, Observer, Result, Volume};
use elsewhere::elsewhere;
use glam::DAffine3;
use levels::Levels;
pub(crate) use linear::{kind_label, linear};
use nearest::nearest;
use objective::LevelMetric;
pub(crate) use place::Foregrounds;
use race::{Race, Rival};
use retry::{Retry, fails_place, unless_fatal};
use start::searched;
use std::time::Instant;
use trust::Evidence;

pub use crate::metric::Sampling;
pub use check::check;
pub use elsewhere::Elsewhere;
pub use found::{Registration, RegistrationLevel, RegistrationSeconds, Rise, Started};
pub use linear::LinearStart;
pub use options::{Init, Options};
pub use parts::Unmatched;
pub use place::Place;
pub(crate) use trust::{
    LITTLE_INFORMATION, both_exceed_surroundings, contrast_confirms, intensities_lead, linear_place_doubt,
    overlap_doubt, place_doubts, unconfirmed_place_doubt,
};

/// Finds the transform that maximises the metric: see [`Engine::register`](crate::Engine::register).
pub(crate) fn register(
    fixed: &Volume,
    moving: &Volume,
    options: &Options,
    backend: &dyn Backend,
    observer: &dyn Observer,
) -> Result<Registration> {
    let found = register_kind([fixed, moving], options, RegistrationSeconds::default(), backend, observer)?;
    Ok(nearest(&found, [fixed, moving], options, backend, observer)?.unwrap_or(found))
}

/// Registers with transforms of the requested kind only. [`register`] may then fall back on an affine registration.
fn register_kind(
    [fixed, moving]: [&Volume; 2],
    options: &Options,
    mut seconds: RegistrationSeconds,
    backend: &dyn Backend,
    observer: &dyn Observer,
) -> Result<Registration> {
    let read = timed(&mut seconds.pyramid, || check_and_prepare([fixed, moving], options, backend, observer))?;
    let backend = &*backend.keeping(&[&read[0].image, &read[1].image, moving]);
    // The blurs of both images are compared in mm. That makes no sense if the scale between them is still to be found.
    let matched = (fixed.geometry.is_flat() && options.dof <= Kind::Rigid).then(|| sharpness::match_blur(&read));
    let registered = matched.as_ref().unwrap_or(&read);
    let levels = timed(&mut seconds.pyramid, || Levels::new(registered, options, backend))?;
    let case = Case { fixed, moving, read: &read, backend, observer };
    let mut run = case.new_run(&read, options, seconds);
    let (foregrounds, race) =
        rayon::join(|| Foregrounds::of(registered.each_ref(), levels.pyramids()), || run.through_levels(&levels));
    let (foregrounds, race) = (foregrounds?, race?);
    let coarse = run.coarse(&levels, &race)?;
    // Frees the pyramids: half a gigabyte for whole-body volumes.
    drop(levels);
    let mut found = run.finish(&race, foregrounds.as_ref(), coarse)?;
    if options.init != Init::Auto || found.better_affine.is_some() {
        return Ok(found);
    }
    let foregrounds = foregrounds.as_ref();
    if let Some(place) = found.elsewhere.filter(|place| place.times < 1.0) {
        match unless_fatal(case.starting_elsewhere(place, options, found.seconds.clone(), foregrounds))? {
            Some(retried) if retried.trusted() => return Ok(retried),
            Some(retried) => found.seconds = retried.seconds,
            None => {}
        }
    }
    let Some(retry) = Retry::after(&found, &fixed.geometry) else { return Ok(found) };
    observer.note(retry.reason());
    if let Some(retried) = unless_fatal(case.retry(&retry, options, found.seconds.clone(), foregrounds))? {
        if retry.accepts(&retried, &found) {
            return Ok(retried);
        }
        found.seconds = retried.seconds;
    }
    if !fails_place(&found) {
        return Ok(found);
    }
    // If the images do not show how they lie on each other, the headers are all that is known.
    let options = Options { init: Init::Header, ..options.clone() };
    match unless_fatal(case.run([registered, &read], &options, found.seconds.clone(), foregrounds))? {
        Some(retried) if !retried.doubts.iter().any(|doubt| doubt.grave && doubt.check != Check::Place) => Ok(retried),
        Some(retried) => Ok(Registration { seconds: retried.seconds, ..found }),
        None => Ok(found),
    }
}

/// Registers once, from the initialisation in `options`: makes no further attempts and leaves [`Registration::place`]
/// out.
pub(crate) fn register_once(
    [fixed, moving]: [&Volume; 2],
    options: &Options,
    backend: &dyn Backend,
    observer: &dyn Observer,
) -> Result<Registration> {
    let mut seconds = RegistrationSeconds::default();
    let read = timed(&mut seconds.pyramid, || check_and_prepare([fixed, moving], options, backend, observer))?;
    let backend = &*backend.keeping(&[&read[0].image, &read[1].image, moving]);
    Case { fixed, moving, read: &read, backend, observer }.run([&read; 2], options, seconds, None)
}

/// Checks options, images and free memory, and prepares both images. Fails if they cannot be registered.
fn check_and_prepare<'a>(
    [fixed, moving]: [&'a Volume; 2],
    options: &'a Options,
    backend: &dyn Backend,
    observer: &dyn Observer,
) -> Result<[Prepared<'a>; 2]> {
    let read = check(fixed, moving, options)?;
    metric::check::note_missing_voxels(&read, observer);
    memory::check(&fixed.geometry, &moving.geometry, options, backend.free_memory())?;
    Ok(read)
}

/// What all attempts to register a pair of images have in common.
#[derive(Clone, Copy)]
struct Case<'a> {
    fixed: &'a Volume,
    moving: &'a Volume,
    /// Both, with outliers clamped and gaps filled.
    read: &'a [Prepared<'a>; 2],
    backend: &'a dyn Backend,
    observer: &'a dyn Observer,
}

impl<'a> Case<'a> {
    /// Registers the pair `registered` and compares the pair `compared` at full resolution at the end. Either is the
    /// pair that was read or one derived from it, such as its local contrast. `foregrounds` are those of both, for the
    /// `place` check.
    fn run(
        &self,
        [registered, compared]: [&[Prepared; 2]; 2],
        options: &Options,
        mut seconds: RegistrationSeconds,
        foregrounds: Option<&Foregrounds>,
    ) -> Result<Registration> {
        let levels = timed(&mut seconds.pyramid, || Levels::new(registered, options, self.backend))?;
        let mut run = self.new_run(compared, options, seconds);
        let race = run.through_levels(&levels)?;
        let coarse = run.coarse(&levels, &race)?;
        drop(levels);
        run.finish(&race, foregrounds, coarse)
    }

    /// Sets up a run that has not begun. `prepared` is the pair that it compares at its end.
    fn new_run<'r>(self, prepared: &'r [Prepared<'r>; 2], options: &'r Options, seconds: RegistrationSeconds) -> Run<'r>
    where
        'a: 'r,
    {
        let dimension = Dimension::of(&self.fixed.geometry);
        Run { case: self, prepared, options, dimension, levels: Vec::new(), values: [0.0; 2], seconds }
    }
}

/// A registration in progress.
struct Run<'a> {
    case: Case<'a>,
    /// The pair that is compared at full resolution at the end.
    prepared: &'a [Prepared<'a>; 2],
    options: &'a Options,
    dimension: Dimension,
    levels: Vec<RegistrationLevel>,
    /// The value of a metric with a gradient on the finest level: with the headers' alignment, and at the end.
    values: [f64; 2],
    seconds: RegistrationSeconds,
}

impl Run<'_> {
    /// Optimises on all levels, coarse to fine.
    fn through_levels(&mut self, levels: &Levels) -> Result<Race> {
        let mut race = Race::new(self.options.metric.independent_value());
        for level in (0..levels.spacings.len()).rev() {
            self.level(levels, level, &mut race)?;
        }
        Ok(race)
    }

    /// Returns the images for [`Run::affine_from_result`]; `None` for 2-D images, affine results and a single level. They
    /// are those of a coarse level, but the coarsest of three has too few voxels for an affine transform.
    fn coarse(&self, levels: &Levels, race: &Race) -> Result<Option<ImagePair<'static>>> {
        let level = levels.spacings.len().saturating_sub(2).max(1);
        if self.case.fixed.geometry.is_flat() || self.options.dof == Kind::Affine || level >= levels.spacings.len() {
            return Ok(None);
        }
        levels.images(level, Some(race.best()?.transform)).map(|pair| Some(pair.into_owned()))
    }

    /// Compares the images at the best pose, runs the checks, and puts the result together. An affine transform is
    /// tried on the images `coarse`, if they are given.
    fn finish(
        mut self,
        race: &Race,
        foregrounds: Option<&Foregrounds>,
        coarse: Option<ImagePair>,
    ) -> Result<Registration> {
        let best = race.best()?;
        let transform =
            Linear::new(self.options.dof, self.dimension, self.case.fixed.geometry.centre(), &best.transform);
        let map = transform.to_affine();
        ask_observer(self.case.observer)?;
        let place = || foregrounds.map(|foregrounds| foregrounds.place(&map)).transpose();
        let places = || rayon::join(place, || elsewhere(self.case.read.each_ref(), &map));
        let (seen, (place, elsewhere)) = rayon::join(|| self.compare_and_resample(&map), places);
        let ((compared, moved), place, elsewhere) = (seen?, place?, elsewhere?);
        let beaten = |rival: &Rival| {
            foregrounds.zip(place).is_some_and(|(foregrounds, place)| {
                trust::foreground_confirms(foregrounds.including_rival(place, &map, &rival.to))
            })
        };
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
            volumes: volume(&self.case.fixed.geometry) / volume(&self.case.moving.geometry),
            rival: race.rival.filter(|rival| !beaten(rival)),
            place,
        };
        let of_place =
            place.into_iter().flat_map(trust::place_doubts).chain(elsewhere.and_then(trust::elsewhere_doubt));
        let mut doubts: Vec<_> = evidence.doubts().into_iter().chain(of_place).collect();
        let mut better_affine = None;
        let needs_more =
            place.is_some_and(|place| !trust::both_confirm(place)) && !doubts.iter().any(|doubt| doubt.grave);
        if let (true, Some(foregrounds), Some(coarse)) = (needs_more, foregrounds, coarse) {
            let affine = self.affine_from_result(coarse, foregrounds, &map)?;
            let doubt = affine.and_then(trust::affine_doubt);
            better_affine = affine.filter(|_| doubt.is_some()).map(|affine| affine.to);
            doubts.extend(doubt);
        }
        Ok(Registration {
            moved,
            doubts,
            place,
            elsewhere,
            better_affine,
            transform,
            intensities: self.case.read.each_ref().map(|image| image.intensities),
            start: compared.values[0],
            end: compared.values[1],
            values,
            histograms: compared.histograms,
            binned: self.prepared.each_ref().map(|image| image.intensities.range),
            started: Started {
                from: best.from,
                distance_mm: distance(&best.start, &map, &self.case.fixed.geometry),
                candidates: race.candidates,
            },
            histogram: compared.method,
            levels: self.levels,
            seconds: self.seconds,
            backend: self.case.backend.name(),
            device: self.case.backend.device(),
        })
    }

    /// Optimises the poses of the race on a level. On the coarsest one, evaluates the starts first.
    fn level(&mut self, levels: &Levels, level: usize, race: &mut Race) -> Result<()> {
        let (count, mm) = (levels.spacings.len(), levels.spacings[level]);
        let at = race.poses.first().map(|pose| pose.transform).or(self.options.init.known());
        ask_observer(self.case.observer)?;
        let prepare = || self.options.metric.prepare(levels.images(level, at)?);
        let images = timed(&mut self.seconds.pyramid, prepare)?;
        let loaded = timed(&mut self.seconds.upload, || images.load(self.case.backend))?;
        let clock = Instant::now();
        let spacing_mm = images.grids().sampled.spacing.to_array();
        self.case.observer.level(count - 1 - level, count, spacing_mm);
        let mut metric = LevelMetric::new(images.grids(), loaded, self.options.metric.worst(), self.case.observer);
        let grid = &self.case.fixed.geometry;
        if race.poses.is_empty() {
            let (fixed, moving) = levels.pair(level);
            let starts = start::candidates(&self.options.init, self.options.dof, self.dimension, fixed, moving);
            let steps = Steps::new(self.options.dof.min(Kind::Rigid), self.dimension, grid);
            race.begin(&mut metric, &starts, &steps, mm, grid)?;
        }
        let steps = Steps::new(self.options.dof, self.dimension, grid);
        // The coarsest of several levels cannot tell apart starts that are nearly as good as each other.
        let decides = level == 0 || level + 1 < count;
        race.refine(&mut metric, &*self.options.optimizer().optimizer(), &steps, (mm, decides), grid)?;
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

    /// Evaluates the metric on the finest level, with the headers' alignment and at `to`, for `values`.
    fn evaluate_on_finest(&mut self, levels: &Levels, to: &DAffine3) -> Result<()> {
        let images = self.options.metric.prepare(levels.images(0, Some(*to))?)?;
        let loaded = images.load(self.case.backend)?;
        let mut metric = LevelMetric::new(images.grids(), loaded, self.options.metric.worst(), self.case.observer);
        self.values = [metric.at(&DAffine3::IDENTITY)?, metric.at(to)?];
        Ok(())
    }

    /// Compares both images, and resamples the moving one if the options ask for it.
    fn compare_and_resample(&mut self, map: &DAffine3) -> Result<(BeforeAfter, Option<Volume>)> {
        let compared = self.compare(map)?;
        Ok((compared, self.options.moved.then(|| self.resample(map)).transpose()?))
    }

    /// Compares both images at full resolution, before and after the registration.
    fn compare(&mut self, map: &DAffine3) -> Result<BeforeAfter> {
        let histogram = self.options.metric.histogram();
        let compare = || metric::before_and_after(self.prepared, map, histogram, self.case.backend, self.case.observer);
        timed(&mut self.seconds.compare, compare)
    }

    /// Resamples the moving image onto the fixed image's grid.
    fn resample(&mut self, map: &DAffine3) -> Result<Volume> {
        ask_observer(self.case.observer)?;
        let map = voxel_map(&self.case.fixed.geometry, &self.case.moving.geometry, map);
        let size = self.case.fixed.geometry.size;
        let resample =
            |image: &Volume, how: &Resampling| self.case.backend.resample(image, size, &map, how.interpolator);
        let voxels =
            timed(&mut self.seconds.resample, || with_gaps(self.case.moving, &Resampling::default(), resample))?;
        Ok(Volume { geometry: self.case.fixed.geometry, voxels, pixel: self.case.moving.pixel })
    }
}

/// Returns the volume that a grid covers, mm^3, or the area of a flat one, mm^2.
pub(crate) fn volume(grid: &Geometry) -> f64 {
    grid.voxels() as f64 * grid.voxel_size()
}

/// Runs `work` and adds the time that it takes to `seconds`.
pub(crate) fn timed<T>(seconds: &mut f64, work: impl FnOnce() -> T) -> T {
    let clock = Instant::now();
    let out = work();
    *seconds += clock.elapsed().as_secs_f64();
    out
}

#[cfg(test)]
mod tests;
