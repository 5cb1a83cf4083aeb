//! Fields that are tried on the coarse levels: one half of the voxels pulls, and the other half says on the finest level how well the images
//! agree.

use super::course::{Before, Course};
use super::levels;
use super::search::Searched;
use super::smoothing::Smoothing;
use crate::backend::{Flow, Half};
use crate::{Observer, Result};
use std::ops::ControlFlow;

/// The two flows of trials.
pub struct Trials<'a> {
    course: &'a Course<'a>,
    /// Climbs.
    flow: Box<dyn Flow + 'a>,
    /// Stays on the finest level, with its images, and takes the fields.
    judge: Box<dyn Flow + 'a>,
    /// How the images agree at the start.
    pub start: f64,
}

impl<'a> Trials<'a> {
    pub fn new(course: &'a Course<'a>) -> Result<Self> {
        let mut judge = course.backend.flow()?;
        course.enter(&mut *judge, course.finest(), Before::Start)?;
        let mut trials = Self { course, flow: course.backend.flow()?, judge, start: 0.0 };
        trials.start = trials.judged()?;
        Ok(trials)
    }

    /// How the images agree after the coarse levels, or after the last of them where its field begins with what was searched for.
    pub fn value(&mut self, smoothing: Smoothing, searched: Option<&Searched>) -> Result<f64> {
        let (course, flow) = (self.course, &mut *self.flow);
        let last = course.coarse() - 1;
        for number in if searched.is_some() { last } else { 0 }..=last {
            course.enter(flow, number, course.before(number, searched))?;
            course.plan(number).climb(flow, Half::First, smoothing, &Quiet(course.observer))?;
        }
        let [from, to] = [last, course.finest()].map(|number| course.grid(number));
        self.judge.take(&flow.field()?, from.size, levels::between(from, to))?;
        self.judged()
    }

    fn judged(&mut self) -> Result<f64> {
        self.course.plan(self.course.finest()).value(&mut *self.judge, Half::Second)
    }
}

/// An observer that hears nothing, but may stop a run.
struct Quiet<'a>(&'a dyn Observer);

impl Observer for Quiet<'_> {
    fn proceed(&self) -> ControlFlow<()> {
        self.0.proceed()
    }
}
