//! Fields that are tried on the coarse levels: one half of the voxels pulls, and the other half says on the finest level how well the images
//! agree.

use super::bending;
use super::course::{Before, Course};
use super::flows::Flows;
use super::levels;
use super::meet;
use super::searched::Searched;
use super::smoothing::Smoothing;
use super::witness::Witness;
use crate::backend::Half;
use crate::{Observer, Result};
use rayon::prelude::*;
use std::ops::ControlFlow;

/// Iterations of a level beyond the coarse ones at most: they show which of two fields is ahead.
const SHORT: usize = 12;

/// How the images agree after the coarse levels.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tried {
    /// What the half that did not pull tells, nats per voxel.
    pub nats: f64,
    /// What contrasts tell on the grids of both images, where two flows meet: see [`meet::information`].
    pub contrasts: f64,
    /// Whether it tells so much more than at the start as to account for how the field bends space.
    pub accounts: bool,
}

impl Tried {
    /// The value by which a start is chosen, and whether to take what was searched for. Where two flows meet, the half alone misleads: both
    /// images are squeezed until intensities agree that do not belong together, and each start has another grid in the middle.
    pub fn told(&self) -> f64 {
        self.nats + self.contrasts
    }
}

/// What must account for how a field bends space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Account {
    /// What the half that does not pull tells.
    Half,
    /// What contrasts tell, as those of the finished field must.
    Contrasts,
}

/// The flows of trials.
pub struct Trials<'a> {
    course: &'a Course<'a>,
    judge: Judge<'a>,
    /// Asked instead of the half.
    witness: Option<Witness<'a>>,
}

impl<'a> Trials<'a> {
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped)
    pub fn new(course: &'a Course<'a>, account: Account) -> Result<Self> {
        let witness = || Witness::new(course.levels, &course.start, course.intensities);
        let witness = (account == Account::Contrasts).then(witness).transpose()?.flatten();
        Ok(Self { course, judge: Judge { course, flow: None, start: None }, witness })
    }

    /// How many are [tried](Trials::all) in about the time of one.
    pub fn at_once(&self) -> usize {
        // A field on a coarse level keeps two threads busy, and hardly more.
        if self.course.backend.waits() { usize::MAX } else { (rayon::current_num_threads() / 2).max(1) }
    }

    /// The coarse levels with each of these: see [`Self::one`].
    pub fn all(&mut self, smoothings: &[Smoothing], searched: Option<&Searched>) -> Result<Vec<Tried>> {
        let Self { course, judge, witness } = self;
        if course.middle.is_some() {
            return smoothings.iter().map(|&smoothing| self.one(smoothing, searched)).collect();
        }
        let last = course.coarse() - 1;
        let climbed = |&smoothing| Field::of(course, last, smoothing, searched, witness.as_ref());
        let mut fields = Ok(Vec::new());
        // While they climb, the finest level gets its images.
        rayon::in_place_scope(|scope| {
            scope.spawn(|_| fields = smoothings.par_iter().with_max_len(1).map(climbed).collect());
            judge.ready().map(drop)
        })?;
        fields?.iter().map(|field| judge.tried(field)).collect()
    }

    /// The coarse levels, or the last of them where its field begins with what was searched for.
    pub fn one(&mut self, smoothing: Smoothing, searched: Option<&Searched>) -> Result<Tried> {
        let course = self.course;
        let last = course.coarse() - 1;
        if course.middle.is_none() {
            return self.after(last, smoothing, searched);
        }
        // Before the flows of the trial take memory.
        let start = match self.judge.start {
            Some(start) => start,
            None => *self.judge.start.insert(told(course, &mut at_start(course)?)?),
        };
        let mut flows = climbed(course, last, smoothing, searched)?;
        let bending = bending::of_two(&flows.field()?, course.grid(last).size);
        let contrasts = meet::information(course, &mut flows, last)?;
        if last < course.finest() {
            course.enter(&mut flows, course.finest(), Before::Level(last))?;
        }
        let nats = told(course, &mut flows)?;
        Ok(Tried { nats, contrasts, accounts: nats - start > bending })
    }

    /// The level after the coarse ones, for a while, where the coarse ones have this.
    pub fn beyond(&mut self, smoothing: Smoothing, searched: Option<&Searched>) -> Result<Tried> {
        self.after(self.course.coarse(), smoothing, searched)
    }

    /// One flow after this level.
    fn after(&mut self, level: usize, smoothing: Smoothing, searched: Option<&Searched>) -> Result<Tried> {
        self.judge.tried(&Field::of(self.course, level, smoothing, searched, self.witness.as_ref())?)
    }

    /// Gives back the memory of the flow on the finest level.
    pub fn rest(&mut self) {
        self.judge.flow = None;
    }
}

/// What says how well the images agree through a field.
struct Judge<'a> {
    course: &'a Course<'a>,
    /// Of one flow: stays on the finest level, with its images, and takes the fields. Two that meet go there themselves.
    flow: Option<Flows<'a>>,
    /// What the half tells at the start, nats per voxel.
    start: Option<f64>,
}

impl<'a> Judge<'a> {
    fn tried(&mut self, field: &Field) -> Result<Tried> {
        let course = self.course;
        let [from, to] = [field.level, course.finest()].map(|number| course.grid(number));
        let (flow, start) = self.ready()?;
        flow.take(&field.planes, from.size, levels::between(from, to))?;
        let nats = told(course, flow)?;
        Ok(Tried { nats, contrasts: 0.0, accounts: field.accounts.unwrap_or(nats - start > field.bending) })
    }

    /// The flow on the finest level, whose field at first is that of the start, and what the half tells there.
    fn ready(&mut self) -> Result<(&mut Flows<'a>, f64)> {
        let mut flow = match self.flow.take() {
            Some(flow) => flow,
            None => at_start(self.course)?,
        };
        let start = match self.start {
            Some(start) => start,
            None => *self.start.insert(told(self.course, &mut flow)?),
        };
        Ok((self.flow.insert(flow), start))
    }
}

/// The field of one flow.
struct Field {
    planes: Vec<f32>,
    /// The number of the level that it is on.
    level: usize,
    /// See [`bending::of_planes`].
    bending: f64,
    /// What a witness says, if there is one.
    accounts: Option<bool>,
}

impl Field {
    /// After this level, where the coarse ones have this smoothing.
    fn of(
        course: &Course,
        level: usize,
        smoothing: Smoothing,
        searched: Option<&Searched>,
        witness: Option<&Witness>,
    ) -> Result<Self> {
        let planes = climbed(course, level, smoothing, searched)?.field()?;
        let grid = course.grid(level);
        let bending = bending::of_planes(&planes, grid.size);
        let accounts = witness.map(|witness| witness.accounts(&planes, grid)).transpose()?;
        Ok(Self { planes, level, bending, accounts })
    }
}

/// Flows on the finest level, as they start.
fn at_start<'a>(course: &Course<'a>) -> Result<Flows<'a>> {
    let mut flows = Flows::new(course.backend, course.middle)?;
    course.enter(&mut flows, course.finest(), Before::Start)?;
    Ok(flows)
}

/// Flows that the half that pulls took to the end of a level, where the coarse ones have this smoothing.
fn climbed<'a>(
    course: &Course<'a>,
    last: usize,
    smoothing: Smoothing,
    searched: Option<&Searched>,
) -> Result<Flows<'a>> {
    let mut flows = Flows::new(course.backend, course.middle)?;
    for number in searched.map_or(0, |searched| searched.level)..=last {
        course.enter(&mut flows, number, course.before(number, searched))?;
        let mut plan = course.plan(number);
        if number >= course.coarse() {
            plan.iterations = plan.iterations.min(SHORT);
        }
        plan.climb(flows.climb(), Half::First, course.smoothing(number, smoothing), &Quiet(course.observer))?;
    }
    Ok(flows)
}

/// What the half that does not pull tells on the finest level, nats per voxel.
fn told(course: &Course, flows: &mut Flows) -> Result<f64> {
    course.plan(course.finest()).nats(flows.climb(), Half::Second)
}

/// An observer that hears nothing, but may stop a run.
struct Quiet<'a>(&'a dyn Observer);

impl Observer for Quiet<'_> {
    fn proceed(&self) -> ControlFlow<()> {
        self.0.proceed()
    }
}
