//! How levels are climbed: how stiff the field is and where it begins, as the user says, or as the images want it.

use super::Level;
use super::course::Course;
use super::flows::Flows;
use super::searched::Searched;
use super::smoothing::Smoothing;
use super::stiffness;
use super::trials::Trials;
use crate::Result;

/// Voxels at most of a finer level that is searched, too: two threads take three seconds.
const MOST: usize = 1 << 20;

/// The way through a course.
pub struct Way {
    /// Of each level.
    pub smoothing: Vec<Smoothing>,
    /// What the last coarse level begins with, instead of coarser levels.
    pub searched: Option<Searched>,
    /// What the images tell about each other after the coarse levels, where that was tried.
    pub nats: f64,
}

impl Way {
    /// `alone`: whether there is no other way, to whose value this one's is compared.
    pub fn through(course: &Course, alone: bool) -> Result<Self> {
        let given = Smoothing::given(course.options, course.mm(course.finest()));
        // A flow of a single level begins at 0.
        let searches = course.finest() > 0;
        if let (Some(given), false, true) = (given, searches, alone) {
            return Ok(Self { smoothing: vec![given; course.levels.len()], searched: None, nats: 0.0 });
        }
        // Before the trials, whose fields need the memory that the search frees.
        let searched = if searches { Some(course.searched()?) } else { None };
        let mut trials = Trials::new(course);
        let (coarse, finer, nats) = match given {
            Some(given) => (given, given, trials.one(given, None)?.nats),
            None => {
                let (voxels, nats) = stiffness::found(&mut trials)?;
                (Smoothing::Found(voxels), Smoothing::Found(stiffness::finer(voxels)), nats)
            }
        };
        let after = |searched: &Searched| trials.one(coarse, Some(searched));
        let found = searched.as_ref().map(after).transpose()?.filter(|found| found.accounts && found.nats > nats);
        let (searched, nats) = (searched.filter(|_| found.is_some()), found.map_or(nats, |found| found.nats));
        let level = |number| if number < course.coarse() { coarse } else { finer };
        let smoothing: Vec<_> = (0..=course.finest()).map(level).collect();
        let searched = searched.map(|found| further(course, &mut trials, &smoothing, found)).transpose()?;
        Ok(Self { smoothing, searched, nats })
    }

    /// Takes a flow through the levels of its course.
    pub fn climbed(&self, course: &Course, flow: &mut Flows) -> Result<Vec<Level>> {
        let first = self.searched.as_ref().map_or(0, |searched| searched.level);
        let before = |number| course.before(number, self.searched.as_ref());
        let level = |number| course.level(flow, number, before(number), self.smoothing[number]);
        (first..=course.finest()).map(level).collect()
    }
}

/// What was searched for, or what is found from there on a finer level, if the images agree better by that: organs that slide along each
/// other differ in their displacements within a cell. Pictures and two flows that meet stay with the former.
fn further(course: &Course, trials: &mut Trials, smoothing: &[Smoothing], found: Searched) -> Result<Searched> {
    let grid = course.grid(course.coarse());
    if course.middle.is_some() || grid.is_flat() || course.coarse() == course.finest() || grid.voxels() > MOST {
        return Ok(found);
    }
    // The search needs the memory.
    trials.rest();
    let finer = course.searched_from(&found)?;
    let [before, after] = [trials.beyond(smoothing, &found)?, trials.beyond(smoothing, &finer)?];
    Ok(if after.accounts && after.nats > before.nats { finer } else { found })
}
