//! Fields that are tried on the coarse levels: one half of the voxels pulls, and the other half says on the finest level how well the images
//! agree.

use super::course::{Before, Course};
use super::flows::Flows;
use super::levels;
use super::search::Searched;
use super::smoothing::Smoothing;
use crate::backend::Half;
use crate::{Observer, Result};
use std::ops::ControlFlow;

/// The flows of trials.
pub struct Trials<'a> {
    course: &'a Course<'a>,
    /// Climbs.
    flow: Flows<'a>,
    /// Of one flow: stays on the finest level, with its images, and takes the fields. Two that meet go there themselves.
    judge: Flows<'a>,
}

impl<'a> Trials<'a> {
    pub fn new(course: &'a Course<'a>) -> Result<Self> {
        let flows = || Flows::new(course.backend, course.middle);
        let (flow, mut judge) = (flows()?, flows()?);
        if course.middle.is_none() {
            course.enter(&mut judge, course.finest(), Before::Start)?;
        }
        Ok(Self { course, flow, judge })
    }

    /// How the images agree after the coarse levels, or after the last of them where its field begins with what was searched for.
    pub fn value(&mut self, smoothing: Smoothing, searched: Option<&Searched>) -> Result<f64> {
        let (course, flow) = (self.course, &mut self.flow);
        let last = course.coarse() - 1;
        for number in if searched.is_some() { last } else { 0 }..=last {
            course.enter(flow, number, course.before(number, searched))?;
            course.plan(number).climb(flow.climb(), Half::First, smoothing, &Quiet(course.observer))?;
        }
        match flow {
            Flows::One(flow) => {
                let [from, to] = [last, course.finest()].map(|number| course.grid(number));
                self.judge.take(&flow.field()?, from.size, levels::between(from, to))?;
                judged(course, &mut self.judge)
            }
            Flows::Two(..) => {
                if last < course.finest() {
                    course.enter(flow, course.finest(), Before::Level(last))?;
                }
                judged(course, flow)
            }
        }
    }
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
