//! Linear registration: finds poses to start from, optimises them from coarse to fine levels, and checks the result.

mod binned;
pub(crate) mod check;
mod displaced;
mod elsewhere;
mod found;
mod from_result;
mod lattice;
mod lead;
mod levels;
mod linear;
pub(crate) mod memory;
mod mirror;
mod moments;
mod nearest;
mod objective;
mod octants;
mod optima;
mod options;
mod part_poses;
mod part_search;
mod parts;
mod place;
mod poses;
mod race;
mod retry;
mod rotations;
mod run;
mod samples;
mod scan;
mod segments;
mod start;
mod structures;
mod tally;
mod trust;

use crate::backend::Backend;
use crate::doubt::Check;
use crate::image::Prepared;
use crate::metric;
use crate::plane::sharpness;
use crate::transform::Kind;
use crate::{Geometry, Observer, Result, Volume};
pub(crate) use displaced::Displaced;
use lattice::Lattice;
pub(crate) use lead::{
    both_exceed_surroundings, contrast_confirms, intensities_lead, linear_place_doubt, place_doubts,
    unconfirmed_place_doubt,
};
use levels::Levels;
pub(crate) use linear::{kind_label, linear};
pub(crate) use octants::{Octant, Octants};
pub(crate) use place::Foregrounds;
pub(crate) use poses::{LITTLE_INFORMATION, Pair, is_clearly_more};
use retry::{Retry, fails_place, unless_fatal};
use run::Run;
pub(crate) use segments::{NEIGHBOURHOOD, Segments};
use structures::Structures;
use tally::{Part, Tally};
pub(crate) use trust::overlap_doubt;

pub use crate::metric::Sampling;
pub use check::check;
pub use elsewhere::Elsewhere;
pub use found::{Registration, RegistrationLevel, RegistrationSeconds, Rise, Started};
pub use linear::LinearStart;
pub use options::{Init, Options};
pub use parts::Unmatched;
pub use place::Place;

/// Finds the transform that maximises the metric: see [`Engine::register`](crate::Engine::register).
pub(crate) fn register(
    fixed: &Volume,
    moving: &Volume,
    options: &Options,
    backend: &dyn Backend,
    observer: &dyn Observer,
) -> Result<Registration> {
    Tally::around(|tally| {
        Case::prepared([fixed, moving], options, tally, backend, observer, |case| {
            let (found, foregrounds) = case.register_kind(options)?;
            let foregrounds = foregrounds.as_ref();
            let mut found = case.nearest(&found, options, foregrounds)?.unwrap_or(found);
            if let Some(foregrounds) = foregrounds.filter(|_| found.trusted()) {
                let part = foregrounds.displaced(&found.transform.to_affine())?;
                found.doubts.extend(part.map(Displaced::doubt));
            }
            Ok(found)
        })
    })
}

/// Registers once, from the initialisation in `options`: makes no further attempts and leaves [`Registration::place`]
/// out.
pub(crate) fn register_once(
    images: [&Volume; 2],
    options: &Options,
    backend: &dyn Backend,
    observer: &dyn Observer,
) -> Result<Registration> {
    Tally::around(|tally| {
        Case::prepared(images, options, tally, backend, observer, |case| case.run([case.read; 2], options, None))
    })
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
    lattice: Lattice,
    /// Whether only results count that local contrast confirms, so that no other measure needs to be looked at.
    contrast_decides: bool,
    /// Whether poses are from a wide search, and ranked as it ranks them: by the information that all samples share.
    from_wide_search: bool,
}

impl<'a> Case<'a> {
    /// Checks options, images and free memory, prepares both images, and calls `register` with them. Fails if they
    /// cannot be registered.
    fn prepared(
        [fixed, moving]: [&Volume; 2],
        options: &Options,
        tally: &Tally,
        backend: &dyn Backend,
        observer: &dyn Observer,
        register: impl FnOnce(Case) -> Result<Registration>,
    ) -> Result<Registration> {
        let prepare = || -> Result<_> {
            let read = check(fixed, moving, options)?;
            metric::check::note_left_out(&read, observer);
            memory::check(&fixed.geometry, &moving.geometry, options, backend.free_memory())?;
            Ok(read)
        };
        let read = &tally.timed(Part::Pyramid, prepare)?;
        let backend = &*backend.keeping(&[&read[0].image, &read[1].image, moving]);
        let lattice = Lattice::Avoided;
        register(Case {
            fixed,
            moving,
            read,
            tally,
            backend,
            observer,
            lattice,
            contrast_decides: false,
            from_wide_search: false,
        })
    }

    /// Registers with transforms of the requested kind only. [`Case::nearest`] may then fall back on an affine
    /// registration. Also returns the foregrounds of both images; `None` if there is too little.
    fn register_kind(&self, options: &Options) -> Result<(Registration, Option<Foregrounds>)> {
        let Self { fixed, read, tally, backend, .. } = *self;
        // The blurs of both images are compared in mm. That makes no sense if the scale between them is still to be
        // found.
        let comparable = fixed.geometry.is_flat() && options.dof <= Kind::Rigid;
        let matched = tally.timed(Part::Pyramid, || comparable.then(|| sharpness::match_blur(read)));
        let registered = matched.as_ref().unwrap_or(read);
        let levels = tally.timed(Part::Pyramid, || Levels::new(registered, options, self.lattice, backend))?;
        let mut run = Run::new(*self, read, options);
        let (foregrounds, race) =
            rayon::join(|| Foregrounds::of(registered.each_ref(), levels.pyramids()), || run.through_levels(&levels));
        let (foregrounds, race) = (foregrounds?, race?);
        let coarse = run.coarse(&levels, &race)?;
        // Frees the pyramids: half a gigabyte for whole-body volumes.
        drop(levels);
        let found = run.finish(&race, foregrounds.as_ref(), coarse)?;
        if options.init != Init::Auto || found.better_affine.is_some() {
            return Ok((found, foregrounds));
        }
        let attempts = self.on_common_lattice();
        let found = attempts.further(found, registered, options, foregrounds.as_ref())?;
        Ok((attempts.inside_outlines(found, options, foregrounds.as_ref())?, foregrounds))
    }

    /// The same case, with samples of volumes that may lie on a common lattice: for further attempts, where the outlines
    /// of one mask that was cut out of both hold results back more between the voxels, and for starts of deformations,
    /// which need not be as accurate.
    fn on_common_lattice(self) -> Self {
        let lattice = if self.fixed.geometry.is_flat() { self.lattice } else { Lattice::Common };
        Self { lattice, ..self }
    }

    /// Makes further attempts after the first result, in turn, until one passes.
    fn further(
        &self,
        found: Registration,
        registered: &[Prepared; 2],
        options: &Options,
        foregrounds: Option<&Foregrounds>,
    ) -> Result<Registration> {
        if let Some(place) = found.elsewhere.filter(|place| place.times < 1.0)
            && let Some(retried) = unless_fatal(self.starting_elsewhere(place, options, foregrounds))?
            && retried.trusted()
        {
            return Ok(retried);
        }
        let cut_out = foregrounds.is_some_and(Foregrounds::cut_out);
        let retries = Retry::after(&found, &self.fixed.geometry, cut_out);
        let Some(first) = retries.first() else { return Ok(found) };
        self.observer.note(first.reason());
        let structures = foregrounds.map(Structures::of).transpose()?.flatten();
        // Small images agree well in many places of large ones.
        let judged = options.dof == Kind::Affine && found.elsewhere.is_none();
        let judge = structures.as_ref().filter(|_| judged);
        let mut attempts = vec![found];
        for retry in &retries {
            if let Some(retried) = unless_fatal(self.retry(retry, registered, options, foregrounds))? {
                let found = &attempts[0];
                if retry.accepts(&retried, found) && self.beats_rivals(&retried, found, foregrounds) {
                    return Ok(retried);
                }
                if let Some(structures) = judge {
                    attempts.push(retried);
                    structures.keep_best(&mut attempts);
                }
            }
        }
        let found = match judge {
            Some(structures) => self.by_structures(attempts, structures, options)?,
            None => attempts.swap_remove(0),
        };
        if !fails_place(&found) {
            return Ok(found);
        }
        // If the images do not show how they lie on each other, the headers are all that is known.
        let options = Options { init: Init::Header, ..options.clone() };
        let retried = unless_fatal(self.run([registered, self.read], &options, foregrounds))?;
        let stands = |retried: &Registration| {
            let agrees_less = structures.is_some_and(|structures| structures.agree_less(retried, &found));
            retried.fails_at_most(&[Check::Place]) && !agrees_less
        };
        Ok(retried.filter(stands).unwrap_or(found))
    }

    /// Registers the pair `registered` and compares the pair `compared` at full resolution at the end. Either is the
    /// pair that was read or one derived from it, such as its local contrast. `foregrounds` are those of both, for the
    /// `place` check.
    fn run(
        &self,
        [registered, compared]: [&[Prepared; 2]; 2],
        options: &Options,
        foregrounds: Option<&Foregrounds>,
    ) -> Result<Registration> {
        let levels =
            self.tally.timed(Part::Pyramid, || Levels::new(registered, options, self.lattice, self.backend))?;
        let mut run = Run::new(*self, compared, options);
        let race = run.through_levels(&levels)?;
        let coarse = run.coarse(&levels, &race)?;
        drop(levels);
        run.finish(&race, foregrounds, coarse)
    }
}

/// Returns the volume that a grid covers, mm^3, or the area of a flat one, mm^2.
fn volume(grid: &Geometry) -> f64 {
    grid.voxels() as f64 * grid.voxel_size()
}

#[cfg(test)]
mod tests;
