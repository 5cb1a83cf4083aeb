//! Chooses how a course is climbed: how stiff the field is, as the user says or as found from the images, and whether
//! it begins with searched displacements.

use super::contrast_information::ContrastInformation;
use super::course::Course;
use super::part_motion::PartMotion;
use super::searched::Searched;
use super::smoothing::Smoothing;
use super::stiffness;
use super::strategy::Strategy;
use super::trials::{TrialResult, Trials};
use crate::Result;
use crate::registration::{LITTLE_INFORMATION, is_clearly_more};
use std::sync::Arc;

/// The strategy chosen for a course, and what it was chosen from.
pub struct Choice<'a> {
    pub strategy: Strategy,
    /// `None` if there was nothing to choose.
    evidence: Option<Evidence<'a>>,
}

/// What strategies for a course are chosen from.
struct Evidence<'a> {
    trials: Trials<'a>,
    /// The displacements that the search found.
    searched: Option<Searched>,
    part_motion: Option<PartMotion<'a>>,
}

/// Displacements that are a gain, with the smoothing for which they are, and the result of that trial.
struct Found {
    field: Searched,
    smoothing: Smoothing,
    tried: TrialResult,
}

/// A smoothing without such displacements, and the result of its trial.
#[derive(Clone, Copy)]
struct Plain {
    smoothing: Smoothing,
    tried: TrialResult,
    /// Whether softer fields may be tried with displacements.
    softer: bool,
}

impl<'a> Choice<'a> {
    /// Finds the strategy for a course. `alone` says that no other strategy will be compared with it, so that its value
    /// may be left out. `other` is the strategy from another start.
    pub fn new(course: Course<'a>, alone: bool, other: Option<&Strategy>) -> Result<Self> {
        // How stiff the field should be hardly depends on where the two flows meet, so a known smoothing is kept.
        let same = || other.filter(|_| course.middle.is_some()).map(|strategy| strategy.smoothing);
        let given = Smoothing::given(course.options, course.finest_mm()).or_else(same);
        // With a single level there is no search: the flow begins at 0.
        let searches = course.finest() > 0;
        if let (Some(smoothing), false, true) = (given, searches, alone) {
            let strategy = Strategy { smoothing, searched: None, nats: 0.0, part_nats: None };
            return Ok(Self { strategy, evidence: None });
        }
        // This comes before the trials, whose fields need the memory that the search frees.
        let search = || searches.then(|| course.searched()).transpose();
        let (searched, contrast) = rayon::join(search, || contrast_information(&course));
        let (searched, contrast) = (searched?, contrast?.map(Arc::new));
        let mut trials = Trials::new(course, contrast.clone());
        let contrast = contrast.filter(|_| searches);
        let mut part_motion = Ok(None);
        // The CPU finds the motion of parts while trials run.
        let climbed: Result<_> = rayon::in_place_scope(|scope| {
            scope.spawn(|_| part_motion = contrast.map_or(Ok(None), |contrast| PartMotion::new(course, contrast)));
            let (smoothing, tried) = match given {
                Some(given) => (given, trials.try_one(given)?),
                None => stiffness::find(&mut trials, other.map(|strategy| strategy.smoothing))?,
            };
            let plain = Plain { smoothing, tried, softer: course.searches_further() };
            let found = searched.as_ref().map(|field| gain(&mut trials, field, plain)).transpose()?;
            Ok((plain, found.flatten()))
        });
        let ((plain, found), part_motion) = (climbed?, part_motion?);
        let mut evidence = Evidence { trials, searched, part_motion };
        let strategy = evidence.strategy(plain, found, alone)?;
        Ok(Self { strategy, evidence: Some(evidence) })
    }

    /// Changes the strategy to that with the next stiffer of the fields that are tried. Returns `false` if there is none.
    pub fn stiffen(&mut self) -> Result<bool> {
        let next = stiffness::stiffer(self.strategy.smoothing);
        let Some((smoothing, evidence)) = next.zip(self.evidence.as_mut()) else { return Ok(false) };
        let Evidence { trials, searched, .. } = evidence;
        let plain = Plain { smoothing, tried: trials.try_one(smoothing)?, softer: false };
        let found = searched.as_ref().map(|field| gain(trials, field, plain)).transpose()?.flatten();
        self.strategy = evidence.strategy(plain, found, true)?;
        Ok(true)
    }
}

impl Evidence<'_> {
    /// Completes the strategy with a smoothing, given the displacements found for it by the search.
    fn strategy(&mut self, plain: Plain, found: Option<Found>, alone: bool) -> Result<Strategy> {
        let found = self.with_parts(plain, found)?;
        let Self { trials, searched, part_motion } = self;
        let further = trials.course().searches_further();
        let smoothing = found.as_ref().map_or(plain.smoothing, |found| found.smoothing);
        let (field, nats) = match found {
            Some(Found { field, .. }) if further => refine_search(trials, smoothing, field)?,
            Some(Found { field, tried, .. }) => (Some(field), tried.score()),
            None if further && !alone => {
                let [tried] = trials.try_next_level(smoothing, [None])?;
                (None, tried.score())
            }
            None if alone && searched.is_none() => (None, 0.0),
            None => (None, trials.measured(plain.smoothing, plain.tried)?.score()),
        };
        trials.free_memory();
        Ok(Strategy {
            smoothing,
            searched: field,
            nats,
            part_nats: part_motion.as_ref().and_then(|motion| motion.nats),
        })
    }

    /// Tries the motion of parts, and returns it if the images agree better by it than through `found`, which was searched
    /// for, or `plain`, the trial without displacements; else `found`. Unless an octant agrees clearly better by itself,
    /// the parts must be a clear gain and, unless octants moved far, agree alone about as well: through a field between two
    /// people, octants agree best elsewhere, too.
    fn with_parts(&mut self, plain: Plain, found: Option<Found>) -> Result<Option<Found>> {
        let Self { trials, part_motion: Some(motion), .. } = self else { return Ok(found) };
        let best = found.as_ref().map_or(plain.smoothing, |found| found.smoothing);
        let Some(field) = trials.composed(best, found.is_some())? else { return Ok(found) };
        motion.follow(&field)?;
        let Some(parts) = &motion.parts else { return Ok(found) };
        let tried = match &found {
            Some(found) => found.tried,
            None => trials.measured(plain.smoothing, plain.tried)?,
        };
        let clear = motion.is_better_than(&field);
        if !clear && !motion.is_far() && tried.contrast_nats.is_some_and(|nats| is_clearly_more(nats, parts.nats)) {
            return Ok(found);
        }
        let least = tried.score() + if clear { 0.0 } else { LITTLE_INFORMATION };
        let moved = gain(trials, &parts.displacements, plain)?;
        Ok(moved.filter(|moved| moved.tried.score() > least).or(found))
    }
}

/// Tries displacements for the last of the coarse levels. Returns them if they are a gain over `plain`, the trial without
/// them: see [`stiffness::from_searched`].
fn gain(trials: &mut Trials, field: &Searched, plain: Plain) -> Result<Option<Found>> {
    let (Plain { smoothing, tried, softer }, at_once) = (plain, trials.at_once());
    let with = |some: &[Smoothing]| trials.try_searched(some, field, (smoothing, tried));
    let found = stiffness::from_searched(smoothing, softer, at_once, with)?;
    Ok(found.map(|(smoothing, tried)| Found { field: field.clone(), smoothing, tried }))
}

/// Returns the measure of local contrast through single flows.
fn contrast_information<'a>(course: &Course<'a>) -> Result<Option<ContrastInformation<'a>>> {
    let measure = || ContrastInformation::new(course.levels, &course.start, course.intensities);
    course.middle.is_none().then(measure).transpose().map(Option::flatten)
}

/// Searches on the next finer level around what was found. Returns what was found there if the images agree better by
/// it, else the first result, with how well they agree, nats. Organs that slide along each other move differently
/// within a single cell of the coarse search.
fn refine_search(trials: &mut Trials, smoothing: Smoothing, found: Searched) -> Result<(Option<Searched>, f64)> {
    // The search needs the memory of the trials.
    trials.free_memory();
    let finer = trials.course().searched_from(&found)?;
    let [before, after] = trials.try_next_level(smoothing, [Some(&found), Some(&finer)])?;
    let better = after.accounted_for && after.score() > before.score();
    Ok(if better { (Some(finer), after.score()) } else { (Some(found), before.score()) })
}
