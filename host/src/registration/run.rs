//! One attempt to register a pair of images: optimises poses on all levels, compares the images at the best one, and
//! checks the result.

use super::elsewhere::elsewhere;
use super::levels::Levels;
use super::objective::LevelMetric;
use super::race::{Race, Rival};
use super::tally::Part;
use super::trust::Evidence;
use super::{
    Case, Elsewhere, Foregrounds, Options, Place, Registration, RegistrationLevel, RegistrationSeconds, Started, lead,
    start, trust, volume,
};
use crate::doubt::Doubt;
use crate::image::{Prepared, voxel_map};
use crate::metric::{self, BeforeAfter, ImagePair, LoadedMetric, MetricImages};
use crate::observer::ask_observer;
use crate::resample::{Resampling, with_gaps};
use crate::transform::{Dimension, Kind, Linear, Steps, distance};
use crate::{Result, Volume};
use glam::DAffine3;

/// An attempt in progress.
pub struct Run<'a> {
    pub case: Case<'a>,
    /// The pair that is compared at full resolution at the end.
    prepared: &'a [Prepared<'a>; 2],
    pub options: &'a Options,
    pub dimension: Dimension,
    pub levels: Vec<RegistrationLevel>,
    /// The value of a metric with a gradient on the finest level: with the headers' alignment, and at the end.
    values: [f64; 2],
}

impl<'a> Run<'a> {
    /// Sets up an attempt that has not begun. `prepared` is the pair that it compares at its end.
    pub fn new(case: Case<'a>, prepared: &'a [Prepared<'a>; 2], options: &'a Options) -> Self {
        let dimension = Dimension::of(&case.fixed.geometry);
        Self { case, prepared, options, dimension, levels: Vec::new(), values: [0.0; 2] }
    }

    /// Optimises on all levels, coarse to fine.
    pub fn through_levels(&mut self, levels: &Levels) -> Result<Race> {
        let mut race = Race::new(self.options.metric.independent_value(), self.case.from_wide_search);
        for level in (0..levels.spacings.len()).rev() {
            self.level(levels, level, &mut race)?;
        }
        Ok(race)
    }

    /// Returns the images for [`Run::affine_from_result`]; `None` for 2-D images, affine results and a single level. They
    /// are those of a coarse level, but the coarsest of three has too few voxels for an affine transform.
    pub fn coarse(&self, levels: &Levels, race: &Race) -> Result<Option<ImagePair<'static>>> {
        let level = levels.spacings.len().saturating_sub(2).max(1);
        if self.case.fixed.geometry.is_flat() || self.options.dof == Kind::Affine || level >= levels.spacings.len() {
            return Ok(None);
        }
        levels.images(level, Some(race.best()?.transform)).map(|pair| Some(pair.into_owned()))
    }

    /// Compares the images at the best pose, runs the checks, and puts the result together. If a result needs another
    /// check, an affine transform is optimised on the images `coarse`.
    pub fn finish(
        self,
        race: &Race,
        foregrounds: Option<&Foregrounds>,
        coarse: Option<ImagePair>,
    ) -> Result<Registration> {
        let best = race.best()?;
        let transform =
            Linear::new(self.options.dof, self.dimension, self.case.fixed.geometry.centre(), &best.transform);
        let map = transform.to_affine();
        ask_observer(self.case.observer)?;
        let rivals: Vec<_> = race.rivals.iter().filter(|rival| rival.counts()).collect();
        let other_poses: Vec<_> = rivals.iter().map(|rival| rival.to).collect();
        let place = |foregrounds: &Foregrounds| foregrounds.place(&map, &other_poses, self.case.contrast_decides);
        let place = || foregrounds.map(place).transpose();
        let places = || rayon::join(place, || elsewhere(self.case.read.each_ref(), &map));
        let (seen, (place, elsewhere)) = rayon::join(|| self.compare_and_resample(&map), places);
        let ((compared, moved), place, elsewhere) = (seen?, place?, elsewhere?);
        let metric = &self.options.metric;
        let values = [0, 1].map(|n| metric.of(&compared.values[n]).unwrap_or(self.values[n]));
        let beaten = |rival: &&Rival| {
            foregrounds
                .zip(place)
                .is_some_and(|(foregrounds, place)| lead::foreground_decides(foregrounds, place, &map, &rival.to))
        };
        let rival = rivals.into_iter().find(|rival| !beaten(rival)).copied();
        let mut doubts = self.doubts(&compared, values, &map, rival, (place, elsewhere));
        let passes = !doubts.iter().any(|doubt| doubt.grave);
        let needs_more = passes && place.is_some_and(|place| !lead::both_confirm(place));
        let affine = match foregrounds.zip(coarse).filter(|_| needs_more) {
            Some((foregrounds, coarse)) => self.affine_from_result(coarse, foregrounds, &map)?,
            None => None,
        };
        let of_affine = affine.and_then(trust::affine_doubt);
        let better_affine = affine.filter(|_| of_affine.is_some()).map(|affine| affine.to);
        doubts.extend(of_affine);
        Ok(Registration {
            moved,
            doubts,
            place,
            elsewhere,
            better_affine,
            rivals: other_poses,
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

    /// Returns the checks that the result does not pass.
    fn doubts(
        &self,
        compared: &BeforeAfter,
        values: [f64; 2],
        to: &DAffine3,
        rival: Option<Rival>,
        (place, elsewhere): (Option<Place>, Option<Elsewhere>),
    ) -> Vec<Doubt> {
        let Case { fixed, moving, .. } = self.case;
        let [start, end] = &compared.values;
        let bins = self.options.metric.histogram().bins as usize;
        let chance = metric::chance(&compared.histograms[1], bins, end.overlap);
        let volumes = self.case.read.each_ref().map(|image| volume(&image.image.geometry));
        let volumes = volumes[0] / volumes[1];
        let ([of_fixed, _], [of_moving, _]) = (fixed.geometry.spacing_range(), moving.geometry.spacing_range());
        let is_at_headers = distance(to, &DAffine3::IDENTITY, &fixed.geometry) < of_fixed.min(of_moving);
        let evidence = Evidence { start, end, chance, values, is_at_headers, to, volumes, rival, place };
        let of_place = place.into_iter().flat_map(lead::place_doubts).chain(elsewhere.and_then(trust::elsewhere_doubt));
        evidence.doubts().into_iter().chain(of_place).collect()
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
        let steps = Steps::new(self.kind(level), self.dimension, grid);
        // The coarsest of several levels cannot tell apart starts that are nearly as good as each other.
        let decides = level == 0 || level + 1 < count;
        race.refine(&mut metric, self.options.optimizer(), &steps, (mm, decides), grid)?;
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

    /// Returns the kind of transform that is optimised on a level. After a wide search, no image is sheared or stretched
    /// on coarse levels: with the few samples there, wrong poses would agree better than the right one.
    fn kind(&self, level: usize) -> Kind {
        let is_coarse = self.case.from_wide_search && level > 0;
        if is_coarse { self.options.dof.min(Kind::Similarity) } else { self.options.dof }
    }

    /// Evaluates the metric on the finest level, with the headers' alignment and at `to`, for `values`.
    pub fn evaluate_on_finest(&mut self, levels: &Levels, to: &DAffine3) -> Result<()> {
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
