//! Chooses how a course is climbed: how stiff the field is, as the user says or as found from the images, and whether
//! it begins with searched displacements.

use super::Level;
use super::contrast_check::ContrastCheck;
use super::course::Course;
use super::flows::Flows;
use super::part_motion::PartMotion;
use super::searched::Searched;
use super::smoothing::Smoothing;
use super::stiffness;
use super::trials::{TrialResult, Trials};
use crate::Result;
use glam::DAffine3;

/// How a course is climbed.
pub struct Strategy {
    /// The smoothing of the coarse levels.
    pub smoothing: Smoothing,
    /// Searched displacements that a level begins with, instead of the field of coarser levels.
    pub searched: Option<Searched>,
    /// How well the images agree, by which two strategies are compared, nats: after the level beyond the coarse ones if
    /// that is searched, too, else after the coarse ones. 0 if there is nothing to compare with.
    pub nats: f64,
    /// The mutual information of local contrast if each [part](PartMotion) is moved by itself, nats beyond chance, if
    /// some agree better elsewhere than the start places them.
    pub part_nats: Option<f64>,
}

/// Displacements that are a gain, with the smoothing for which they are, and the result of that trial.
struct Found {
    field: Searched,
    smoothing: Smoothing,
    tried: TrialResult,
}

/// A smoothing without such displacements, and the result of its trial.
type Plain = (Smoothing, TrialResult);

impl Strategy {
    /// Finds the strategy for a course. The `smoothing` of the coarse levels is chosen if there is none. `alone` says that
    /// no other strategy will be compared with it, so that its value may be left out. `known` is the strategy from another
    /// start.
    pub fn choose(course: &Course, smoothing: Option<Smoothing>, alone: bool, known: Option<&Self>) -> Result<Self> {
        // How stiff the field should be hardly depends on where the two flows meet, so a known smoothing is kept.
        let same = || known.filter(|_| course.middle.is_some()).map(|strategy| strategy.smoothing);
        let given = smoothing.or_else(|| Smoothing::given(course.options, course.finest_mm())).or_else(same);
        // With a single level there is no search: the flow begins at 0.
        let searches = course.finest() > 0;
        if let (Some(given), false, true) = (given, searches, alone) {
            return Ok(Self { smoothing: given, searched: None, nats: 0.0, part_nats: None });
        }
        // This comes before the trials, whose fields need the memory that the search frees.
        let search = || searches.then(|| course.searched()).transpose();
        let (searched, contrast_check) = rayon::join(search, || contrast_check(course));
        let (searched, contrast_check) = (searched?, contrast_check?);
        let mut trials = Trials::new(course, contrast_check.as_ref());
        let check = contrast_check.as_ref().filter(|_| searches);
        let mut part_motion = Ok(None);
        // The CPU finds the motion of parts while trials run.
        let climbed: Result<_> = rayon::in_place_scope(|scope| {
            scope.spawn(|_| part_motion = check.map_or(Ok(None), |check| PartMotion::new(course, check)));
            let plain = match given {
                Some(given) => (given, trials.try_one(given)?),
                None => stiffness::find(&mut trials, known.map(|strategy| strategy.smoothing))?,
            };
            let found = searched.map(|field| gain(&mut trials, field, plain)).transpose()?;
            Ok((plain, found.flatten()))
        });
        let ((plain, found), parts) = (climbed?, part_motion?);
        let part_nats = parts.as_ref().map(|parts| parts.nats);
        let found = match parts {
            Some(parts) => with_parts(&mut trials, &parts, plain, found)?,
            None => found,
        };
        let further = course.searches_further();
        let smoothing = found.as_ref().map_or(plain.0, |found| found.smoothing);
        let (searched, nats) = match found {
            Some(Found { field, .. }) if further => refine_search(course, &mut trials, smoothing, field)?,
            Some(Found { field, tried, .. }) => (Some(field), tried.score()),
            None if further && !alone => {
                let [tried] = trials.try_next_level(smoothing, [None])?;
                (None, tried.score())
            }
            None if alone && !searches => (None, 0.0),
            None => (None, trials.measured(plain.0, plain.1)?.score()),
        };
        Ok(Self { smoothing, searched, nats, part_nats })
    }

    /// Returns whether another start may lead to another result: if the search reaches it, and large motion was found
    /// that is also searched for on a finer level. In symmetric mode, each flow goes half of the way and there is no
    /// further search, so there the starts only have to differ.
    pub fn leads_to(&self, course: &Course, other: &DAffine3) -> bool {
        let far = || match course.middle {
            None => self.searched.is_some() && course.searches_further(),
            Some(_) => course.start_differs_from(other),
        };
        course.reaches(other) && far()
    }

    /// Moves a flow through the levels of its course.
    pub fn run(&self, course: &Course, flow: &mut Flows) -> Result<Vec<Level>> {
        let searched = self.searched.as_ref();
        let first = searched.map_or(0, |searched| searched.level);
        let level = |number| course.level(flow, number, searched, course.smoothing(number, self.smoothing));
        (first..=course.finest()).map(level).collect()
    }
}

/// Tries displacements for the last of the coarse levels. Returns them if they are a gain over `plain`, the trial without
/// them: see [`stiffness::from_searched`].
fn gain(trials: &mut Trials, field: Searched, plain: Plain) -> Result<Option<Found>> {
    let (further, at_once) = (trials.course().searches_further(), trials.at_once());
    let tried = |some: &[Smoothing]| trials.try_searched(some, &field, plain);
    let found = stiffness::from_searched(plain.0, further, at_once, tried)?;
    Ok(found.map(|(smoothing, tried)| Found { field, smoothing, tried }))
}

/// Tries the motion of parts if they agree clearly better by it than through `found`, which was searched for, or `plain`,
/// the trial without displacements. Returns the better of both.
fn with_parts(trials: &mut Trials, parts: &PartMotion, plain: Plain, found: Option<Found>) -> Result<Option<Found>> {
    let best = found.as_ref().map_or(plain.0, |found| found.smoothing);
    if !trials.composed(best, found.is_some())?.is_some_and(|field| parts.is_better_than(&field)) {
        return Ok(found);
    }
    let moved = gain(trials, parts.displacements(trials.course())?, plain)?;
    Ok(moved.filter(|moved| found.as_ref().is_none_or(|found| moved.tried.score() > found.tried.score())).or(found))
}

/// Returns the check of single flows by local contrast.
fn contrast_check<'a>(course: &'a Course) -> Result<Option<ContrastCheck<'a>>> {
    let check = || ContrastCheck::new(course.levels, &course.start, course.intensities);
    course.middle.is_none().then(check).transpose().map(Option::flatten)
}

/// Searches on the next finer level around what was found. Returns what was found there if the images agree better by
/// it, else the first result, with how well they agree, nats. Organs that slide along each other move differently
/// within a single cell of the coarse search.
fn refine_search(
    course: &Course,
    trials: &mut Trials,
    smoothing: Smoothing,
    found: Searched,
) -> Result<(Option<Searched>, f64)> {
    // The search needs the memory of the trials.
    trials.free_memory();
    let finer = course.searched_from(&found)?;
    let [before, after] = trials.try_next_level(smoothing, [Some(&found), Some(&finer)])?;
    let better = after.accounted_for && after.score() > before.score();
    Ok(if better { (Some(finer), after.score()) } else { (Some(found), before.score()) })
}
