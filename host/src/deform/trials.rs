//! Fields that are tried on the coarse levels: one half of the voxels pulls, and the other half says on the finest level how well the images
//! agree.

use super::course::{Before, Course};
use super::flows::Flows;
use super::levels;
use super::searched::Searched;
use super::smoothing::Smoothing;
use crate::backend::Half;
use crate::{Observer, Result};
use rayon::prelude::*;
use std::ops::ControlFlow;

/// The flows of trials.
pub struct Trials<'a> {
    course: &'a Course<'a>,
    /// Of one flow: stays on the finest level, with its images, and takes the fields; and how the images agree at the start. Two that meet
    /// go there themselves.
    judge: Option<(Flows<'a>, f64)>,
}

impl<'a> Trials<'a> {
    pub fn new(course: &'a Course<'a>) -> Self {
        Self { course, judge: None }
    }

    /// How many [`Trials::values`] are found in about the time of one.
    pub fn at_once(&self) -> usize {
        // A field on a coarse level keeps two threads busy, and hardly more.
        if self.course.backend.waits() { usize::MAX } else { (rayon::current_num_threads() / 2).max(1) }
    }

    /// How the images agree at the start, after the first values; of two flows that meet that is not known.
    pub fn start(&self) -> Option<f64> {
        self.judge.as_ref().map(|(_, start)| *start)
    }

    /// How the images agree after the coarse levels with each of these.
    pub fn values(&mut self, smoothings: &[Smoothing]) -> Result<Vec<f64>> {
        let course = self.course;
        if course.middle.is_some() {
            return smoothings.iter().map(|&smoothing| self.value(smoothing, None)).collect();
        }
        let climbed = |&smoothing| climbed(course, smoothing, None)?.field();
        let mut fields = Ok(Vec::new());
        // While they climb, the finest level gets its images.
        rayon::in_place_scope(|scope| {
            scope.spawn(|_| fields = smoothings.par_iter().with_max_len(1).map(climbed).collect());
            self.judge().map(drop)
        })?;
        fields?.iter().map(|field: &Vec<f32>| self.judged(field)).collect()
    }

    /// How they agree after them, or after the last of them where its field begins with what was searched for.
    pub fn value(&mut self, smoothing: Smoothing, searched: Option<&Searched>) -> Result<f64> {
        let course = self.course;
        let mut flows = climbed(course, smoothing, searched)?;
        if course.middle.is_none() {
            return self.judged(&flows.field()?);
        }
        let last = course.coarse() - 1;
        if last < course.finest() {
            course.enter(&mut flows, course.finest(), Before::Level(last))?;
        }
        judged(course, &mut flows)
    }

    /// The same of the field of one flow on the last coarse level.
    fn judged(&mut self, field: &[f32]) -> Result<f64> {
        let course = self.course;
        let [from, to] = [course.coarse() - 1, course.finest()].map(|number| course.grid(number));
        let judge = self.judge()?;
        judge.take(field, from.size, levels::between(from, to))?;
        judged(course, judge)
    }

    /// The flow on the finest level; at first its field is that of the start.
    fn judge(&mut self) -> Result<&mut Flows<'a>> {
        let judge = match self.judge.take() {
            Some(judge) => judge,
            None => {
                let mut judge = Flows::new(self.course.backend, self.course.middle)?;
                self.course.enter(&mut judge, self.course.finest(), Before::Start)?;
                let start = judged(self.course, &mut judge)?;
                (judge, start)
            }
        };
        Ok(&mut self.judge.insert(judge).0)
    }
}

/// Flows after the coarse levels.
fn climbed<'a>(course: &Course<'a>, smoothing: Smoothing, searched: Option<&Searched>) -> Result<Flows<'a>> {
    let mut flows = Flows::new(course.backend, course.middle)?;
    let last = course.coarse() - 1;
    for number in if searched.is_some() { last } else { 0 }..=last {
        course.enter(&mut flows, number, course.before(number, searched))?;
        course.plan(number).climb(flows.climb(), Half::First, smoothing, &Quiet(course.observer))?;
    }
    Ok(flows)
}

fn judged(course: &Course, flows: &mut Flows) -> Result<f64> {
    course.plan(course.finest()).value(flows.climb(), Half::Second)
}

/// An observer that hears nothing, but may stop a run.
struct Quiet<'a>(&'a dyn Observer);

impl Observer for Quiet<'_> {
    fn proceed(&self) -> ControlFlow<()> {
        self.0.proceed()
    }
}
