//! Linear registration: finds poses to start from, optimises them from coarse to fine levels, and checks the result.

mod binned;
pub(crate) mod check;
mod elsewhere;
mod found;
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
mod tally;
mod trust;

use crate::backend::Backend;
use crate::doubt::Check;
use crate::image::{Prepared, voxel_map};
use crate::metric::{self, BeforeAfter, LoadedMetric, MetricImages};
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
use tally::{Part, Tally};
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
    Tally::around(|tally| {
        let found = register_kind([fixed, moving], options, tally, backend, observer)?;
        Ok(nearest(&found, [fixed, moving], options, tally, backend, observer)?.unwrap_or(found))
    })
}

/// Registers with transforms of the requested kind only. [`register`] may then fall back on an affine registration.
fn register_kind(
    [fixed, moving]: [&Volume; 2],
    options: &Options,
    tally: &Tally,
    backend: &dyn Backend,
    observer: &dyn Observer,
) -> Result<Registration> {
    let read = tally.timed(Part::Pyramid, || check_and_prepare([fixed, moving], options, backend, observer))?;
    let backend = &*backend.keeping(&[&read[0].image, &read[1].image, moving]);
    // The blurs of both images are compared in mm. That makes no sense if the scale between them is still to be found.
    let comparable = fixed.geometry.is_flat() && options.dof <= Kind::Rigid;
    let matched = tally.timed(Part::Pyramid, || comparable.then(|| sharpness::match_blur(&read)));
    let registered = matched.as_ref().unwrap_or(&read);
    let levels = tally.timed(Part::Pyramid, || Levels::new(registered, options, backend))?;
    let case = Case { fixed, moving, read: &read, tally, backend, observer };
    let mut run = case.new_run(&read, options);
    let (foregrounds, race) =
        rayon::join(|| Foregrounds::of(registered.each_ref(), levels.pyramids()), || run.through_levels(&levels));
    let (foregrounds, race) = (foregrounds?, race?);
    // Frees the pyramids: half a gigabyte for whole-body volumes.
    drop(levels);
    let found = run.finish(&race, foregrounds.as_ref())?;
    if options.init != Init::Auto {
        return Ok(found);
    }
    let foregrounds = foregrounds.as_ref();
    if let Some(place) = found.elsewhere.filter(|place| place.times < 1.0)
        && let Some(retried) = unless_fatal(case.starting_elsewhere(place, options, foregrounds))?
        && retried.trusted()
    {
        return Ok(retried);
    }
    let Some(retry) = Retry::after(&found, &fixed.geometry) else { return Ok(found) };
    observer.note(retry.reason());
    if let Some(retried) = unless_fatal(case.retry(&retry, options, foregrounds))?
        && retry.accepts(&retried, &found)
    {
        return Ok(retried);
    }
    if !fails_place(&found) {
        return Ok(found);
    }
    // If the images do not show how they lie on each other, the headers are all that is known.
    let options = Options { init: Init::Header, ..options.clone() };
    let retried = unless_fatal(case.run([registered, &read], &options, foregrounds))?;
    let stands =
        |retried: &Registration| retried.doubts.iter().all(|doubt| !doubt.grave || doubt.check == Check::Place);
    Ok(retried.filter(stands).unwrap_or(found))
}

/// Registers once, from the initialisation in `options`: makes no further attempts and leaves [`Registration::place`]
/// out.
pub(crate) fn register_once(
    [fixed, moving]: [&Volume; 2],
    options: &Options,
    backend: &dyn Backend,
    observer: &dyn Observer,
) -> Result<Registration> {
    Tally::around(|tally| {
        let read = tally.timed(Part::Pyramid, || check_and_prepare([fixed, moving], options, backend, observer))?;
        let backend = &*backend.keeping(&[&read[0].image, &read[1].image, moving]);
        Case { fixed, moving, read: &read, tally, backend, observer }.run([&read; 2], options, None)
    })
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
    tally: &'a Tally,
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
        foregrounds: Option<&Foregrounds>,
    ) -> Result<Registration> {
        let levels = self.tally.timed(Part::Pyramid, || Levels::new(registered, options, self.backend))?;
        let mut run = self.new_run(compared, options);
        let race = run.through_levels(&levels)?;
        drop(levels);
        run.finish(&race, foregrounds)
    }

    /// Sets up a run that has not begun. `prepared` is the pair that it compares at its end.
    fn new_run<'r>(self, prepared: &'r [Prepared<'r>; 2], options: &'r Options) -> Run<'r>
    where
        'a: 'r,
    {
        let dimension = Dimension::of(&self.fixed.geometry);
        Run { case: self, prepared, options, dimension, levels: Vec::new(), values: [0.0; 2] }
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

    /// Compares the images at the best pose, runs the checks, and puts the result together.
    fn finish(self, race: &Race, foregrounds: Option<&Foregrounds>) -> Result<Registration> {
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
        let doubts = evidence.doubts().into_iter().chain(of_place).collect();
        Ok(Registration {
            moved,
            doubts,
            place,
            elsewhere,
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
            seconds: RegistrationSeconds::default(),
            backend: self.case.backend.name(),
            device: self.case.backend.device(),
        })
    }

    /// Loads a level, and optimises the poses of the race on it.
    fn level(&mut self, levels: &Levels, level: usize, race: &mut Race) -> Result<()> {
        let at = race.poses.first().map(|pose| pose.transform).or(self.options.init.known());
        ask_observer(self.case.observer)?;
        let tally = self.case.tally;
        let prepare = || self.options.metric.prepare(levels.images(level, at)?);
        let images = &*tally.timed(Part::Pyramid, prepare)?;
        let loaded = tally.timed(Part::Upload, || images.load(self.case.backend))?;
        tally.timed(Part::Optimise, || self.optimise(levels, level, (images, loaded), race))
    }

    /// Optimises the poses of the race on a level. On the coarsest one, evaluates the starts first.
    fn optimise<'i>(
        &mut self,
        levels: &Levels,
        level: usize,
        (images, loaded): (&'i dyn MetricImages, Box<dyn LoadedMetric + 'i>),
        race: &mut Race,
    ) -> Result<()> {
        let (count, mm) = (levels.spacings.len(), levels.spacings[level]);
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

    /// Compares both images at full resolution, before and after the registration. Resamples the moving one if the
    /// options ask for it.
    fn compare_and_resample(&self, map: &DAffine3) -> Result<(BeforeAfter, Option<Volume>)> {
        let Case { backend, observer, tally, .. } = self.case;
        let histogram = self.options.metric.histogram();
        let compared = metric::before_and_after(self.prepared, map, histogram, backend, observer)?;
        let resample = || tally.timed(Part::Resample, || self.resample(map));
        Ok((compared, self.options.moved.then(resample).transpose()?))
    }

    /// Resamples the moving image onto the fixed image's grid.
    fn resample(&self, map: &DAffine3) -> Result<Volume> {
        let Case { fixed, moving, backend, observer, .. } = self.case;
        ask_observer(observer)?;
        let map = voxel_map(&fixed.geometry, &moving.geometry, map);
        let resample =
            |image: &Volume, how: &Resampling| backend.resample(image, fixed.geometry.size, &map, how.interpolator);
        let voxels = with_gaps(moving, &Resampling::default(), resample)?;
        Ok(Volume { geometry: fixed.geometry, voxels, pixel: moving.pixel })
    }
}

/// Returns the volume that a grid covers, mm^3, or the area of a flat one, mm^2.
pub(crate) fn volume(grid: &Geometry) -> f64 {
    grid.voxels() as f64 * grid.voxel_size()
}

#[cfg(test)]
mod tests;
