//! How levels are climbed: how stiff the field is and where it begins, as the user says, or as the images want it.

use super::Level;
use super::course::Course;
use super::flows::Flows;
use super::searched::Searched;
use super::smoothing::Smoothing;
use super::stiffness;
use super::trials::{Account, Trials};
use crate::Result;
use glam::DAffine3;

/// The way through a course.
pub struct Way {
    /// Of the coarse levels.
    pub smoothing: Smoothing,
    /// What a level begins with, instead of coarser levels.
    pub searched: Option<Searched>,
    /// What the images tell about each other where two ways are compared: after the level that is searched last, or the coarse ones.
    pub nats: f64,
}

impl Way {
    /// `alone`: whether there is no other way, to whose value this one's is compared. `known`: one from another start.
    pub fn through(course: &Course, account: Account, alone: bool, known: Option<&Self>) -> Result<Self> {
        // How stiff the field is hardly depends on where two flows meet.
        let same = || known.filter(|_| course.middle.is_some()).map(|way| way.smoothing);
        let given = Smoothing::given(course.options, course.mm(course.finest())).or_else(same);
        // A flow of a single level begins at 0.
        let searches = course.finest() > 0;
        if let (Some(given), false, true) = (given, searches, alone) {
            return Ok(Self { smoothing: given, searched: None, nats: 0.0 });
        }
        // Before the trials, whose fields need the memory that the search frees.
        let searched = if searches { Some(course.searched()?) } else { None };
        let mut trials = Trials::new(course, account)?;
        let (smoothing, tried) = match given {
            Some(given) => (given, trials.one(given, None)?),
            None => stiffness::found(&mut trials, known.map(|way| way.smoothing))?,
        };
        let (nats, further, at_once) = (tried.told(), course.searches_further(), trials.at_once());
        let after = |searched: &Searched| {
            stiffness::from_searched(smoothing, nats, further, at_once, |some| trials.all(some, Some(searched)))
        };
        let found = searched.as_ref().map(after).transpose()?.flatten();
        let smoothing = found.map_or(smoothing, |(softer, _)| softer);
        let (searched, nats) = match (searched, found) {
            (Some(searched), Some(_)) if further => beyond(course, &mut trials, smoothing, searched)?,
            (Some(searched), Some((_, nats))) => (Some(searched), nats),
            _ if further && !alone => (None, trials.beyond(smoothing, None)?.nats),
            _ => (None, nats),
        };
        Ok(Self { smoothing, searched, nats })
    }

    /// Whether another start may lead elsewhere: the search reaches it, and large motion was found, which is searched for on a finer level,
    /// too. Two flows that meet each go half of the way and do not search further, so there the starts only have to differ.
    pub fn leads_to(&self, course: &Course, other: &DAffine3) -> bool {
        let far = || match course.middle {
            None => self.searched.is_some() && course.searches_further(),
            Some(_) => course.is_away(other),
        };
        course.reaches(other) && far()
    }

    /// Takes a flow through the levels of its course.
    pub fn climbed(&self, course: &Course, flow: &mut Flows) -> Result<Vec<Level>> {
        let first = self.searched.as_ref().map_or(0, |searched| searched.level);
        let before = |number| course.before(number, self.searched.as_ref());
        let level = |number| course.level(flow, number, before(number), course.smoothing(number, self.smoothing));
        (first..=course.finest()).map(level).collect()
    }
}

/// What was searched for, or what is found from there on a finer level, if the images agree better by that, and how they do there: organs
/// that slide along each other differ in their displacements within a cell.
fn beyond(
    course: &Course,
    trials: &mut Trials,
    smoothing: Smoothing,
    found: Searched,
) -> Result<(Option<Searched>, f64)> {
    // The search needs the memory.
    trials.rest();
    let finer = course.searched_from(&found)?;
    let [before, after] = [trials.beyond(smoothing, Some(&found))?, trials.beyond(smoothing, Some(&finer))?];
    let better = after.accounts && after.nats > before.nats;
    Ok(if better { (Some(finer), after.nats) } else { (Some(found), before.nats) })
}
