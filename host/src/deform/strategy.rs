//! How a course is climbed: how stiff the field is, and whether it begins with searched displacements.

use super::Level;
use super::course::Course;
use super::flows::Flows;
use super::searched::Searched;
use super::smoothing::Smoothing;
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
    /// The mutual information of local contrast if each [part](super::part_motion::PartMotion) is moved by itself, nats
    /// beyond chance, if some agree better elsewhere than the start places them.
    pub part_nats: Option<f64>,
}

impl Strategy {
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
