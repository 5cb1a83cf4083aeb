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
use super::trials::{BendingCheck, TrialResult, Trials};
use crate::Result;
use crate::registration::is_clearly_more;
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
    /// that makes the images agree better than the start.
    pub part_nats: Option<f64>,
}

/// Displacements that are a gain, with the smoothing for which they are, and the result of that trial.
struct Found {
    field: Searched,
    smoothing: Smoothing,
    tried: TrialResult,
}

impl Strategy {
    /// Finds the strategy for a course. `alone` says that no other one will be compared with it, so that its value may
    /// be left out. `known` is the strategy from another start.
    pub fn choose(course: &Course, bending_check: BendingCheck, alone: bool, known: Option<&Self>) -> Result<Self> {
        // How stiff the field should be hardly depends on where the two flows meet, so a known smoothing is kept.
        let same = || known.filter(|_| course.middle.is_some()).map(|strategy| strategy.smoothing);
        let given = Smoothing::given(course.options, course.finest_mm()).or_else(same);
        // With a single level there is no search: the flow begins at 0.
        let searches = course.finest() > 0;
        if let (Some(given), false, true) = (given, searches, alone) {
            return Ok(Self { smoothing: given, searched: None, nats: 0.0, part_nats: None });
        }
        // This comes before the trials, whose fields need the memory that the search frees.
        let search = || searches.then(|| course.searched()).transpose();
        let (searched, contrast_check) = rayon::join(search, || contrast_check(course));
        let (searched, contrast_check) = (searched?, contrast_check?);
        let mut trials = Trials::new(course, bending_check, contrast_check.as_ref());
        let check = contrast_check.as_ref().filter(|_| searches);
        let mut part_motion = Ok(None);
        // The CPU finds the motion of parts while trials run.
        let plain = rayon::in_place_scope(|scope| {
            scope.spawn(|_| part_motion = check.map_or(Ok(None), |check| PartMotion::new(course, check)));
            match given {
                Some(given) => Ok((given, trials.try_one(given)?)),
                None => stiffness::find(&mut trials, known.map(|strategy| strategy.smoothing)),
            }
        })?;
        let part_motion = part_motion?;
        let part_nats = part_motion.as_ref().map(|parts| parts.nats);
        let found = best_gain(&mut trials, plain, searched, part_motion)?;
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
        let first = self.searched.as_ref().map_or(0, |searched| searched.level);
        let before = |number| course.before(number, self.searched.as_ref());
        let level = |number| course.level(flow, number, before(number), course.smoothing(number, self.smoothing));
        (first..=course.finest()).map(level).collect()
    }
}

/// Returns what was searched for, or the motion of parts, if the images agree better by it than by climbing alone, which
/// is `plain`; of both, the better one.
fn best_gain(
    trials: &mut Trials,
    plain: (Smoothing, TrialResult),
    searched: Option<Searched>,
    parts: Option<PartMotion>,
) -> Result<Option<Found>> {
    if searched.is_none() && parts.is_none() {
        return Ok(None);
    }
    let (smoothing, part_nats) = (plain.0, parts.as_ref().map(|parts| parts.nats));
    let fields = [searched, parts.map(|parts| parts.field)];
    let all = fields.iter().flatten().map(|field| (smoothing, field));
    let mut firsts = trials.try_searched(all, smoothing)?.into_iter();
    let plain = trials.measured(smoothing, plain.1)?;
    let (further, at_once) = (trials.course().searches_further(), trials.at_once());
    let mut best: Option<Found> = None;
    for (field, part_nats) in fields.into_iter().zip([None, part_nats]) {
        let Some((field, first)) = field.and_then(|field| Some((field, firsts.next()?))) else { continue };
        let most = best.as_ref().map_or(plain, |best| best.tried);
        // A stiff field forgets that a part moved by itself. If that is what makes the images agree, all softer fields
        // are tried. If not, parts only count where large motion was found.
        let clear = |nats: f64| is_clearly_more(nats, most.contrast_nats.unwrap_or(0.0));
        let patience = match part_nats {
            None => stiffness::WORSE,
            Some(nats) if clear(nats) => usize::MAX,
            Some(_) if best.is_some() => 1,
            Some(_) => continue,
        };
        let tried = |some: &[Smoothing]| trials.try_searched(some.iter().map(|&one| (one, &field)), smoothing);
        let start = (plain.score(), first);
        let found = stiffness::from_searched((smoothing, further), patience, at_once, start, tried)?;
        if let Some((smoothing, tried)) = found.filter(|(_, tried)| best.is_none() || tried.score() > most.score()) {
            best = Some(Found { field, smoothing, tried });
        }
    }
    Ok(best)
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
