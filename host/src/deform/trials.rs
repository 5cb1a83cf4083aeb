//! Trials of candidate fields on the coarse levels: one half of the voxels drives the field, and the other, held-out
//! half measures on the finest level how well the images agree.

use super::bending;
use super::contrast_information::ContrastInformation;
use super::course::{Before, Course};
use super::flows::Flows;
use super::levels;
use super::searched::Searched;
use super::smoothing::Smoothing;
use super::symmetric_contrast;
use crate::Result;
use crate::backend::Halves;
use crate::observer::Quiet;
use crate::transform;
use rayon::prelude::*;
use std::sync::Arc;

/// The maximum number of iterations at a level beyond the coarse ones: enough to see which of two fields is ahead.
const SHORT: usize = 12;

/// How well the images agree after a trial.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TrialResult {
    /// The information of the metrics over the held-out half, nats per voxel.
    pub nats: f64,
    /// The mutual information of local contrast, nats beyond chance. In symmetric mode, on the grids of both images: see
    /// [`symmetric_contrast::information`]. `None` if it was not measured: see [`Trials::measured`].
    pub contrast_nats: Option<f64>,
    /// Whether the information has risen enough since the start to account for how the field bends space: see
    /// [`bending`].
    pub accounted_for: bool,
    /// By how much the field is less likely than its start, nats per voxel: see [`bending`].
    pub bending: f64,
}

impl TrialResult {
    /// Returns the value by which a start is chosen, and by which searched displacements are accepted. The held-out half
    /// alone misleads where brightness varies: on coarse levels intensities agree that do not belong together. In
    /// symmetric mode, both images are squeezed until they do, and each start has its own grid in the middle. Searched
    /// displacements may also bend space so far that any two images agree better.
    pub fn score(&self) -> f64 {
        self.nats + self.contrast_nats.unwrap_or(0.0) - self.bending
    }
}

/// Runs trials from one start.
pub struct Trials<'a> {
    climber: Climber<'a>,
    judge: Judge<'a>,
    /// The trials of the coarse levels.
    coarse: Vec<CoarseTrial>,
}

/// A trial of a single flow.
struct Trial<'s> {
    /// The last level that is climbed.
    last: usize,
    /// The smoothing of the coarse levels.
    smoothing: Smoothing,
    searched: Option<&'s Searched>,
}

/// A finished trial of the coarse levels.
struct CoarseTrial {
    /// Its smoothing, and whether it began with searched displacements.
    key: (Smoothing, bool),
    field: Field,
    result: TrialResult,
}

impl<'a> Trials<'a> {
    /// Prepares trials. Symmetric mode needs no `contrast`.
    pub fn new(course: Course<'a>, contrast: Option<Arc<ContrastInformation<'a>>>) -> Self {
        let judge = Judge { course, flow: None, start: None };
        Self { climber: Climber { course, contrast }, judge, coarse: Vec::new() }
    }

    /// Returns the course that trials run on.
    pub fn course(&self) -> Course<'a> {
        self.climber.course
    }

    /// Returns how many fields are [tried](Trials::try_all) in about the time of one.
    pub fn at_once(&self) -> usize {
        // A field on a coarse level keeps two threads busy, and hardly more.
        if self.climber.course.backend.waits() { usize::MAX } else { (rayon::current_num_threads() / 2).max(1) }
    }

    /// Tries the coarse levels with each of these smoothings.
    pub fn try_all(&mut self, smoothings: &[Smoothing]) -> Result<Vec<TrialResult>> {
        self.try_coarse(smoothings, None, None)
    }

    /// Tries the coarse levels with a smoothing, unless that was tried before.
    pub fn try_one(&mut self, smoothing: Smoothing) -> Result<TrialResult> {
        if let Some(known) = known(&mut self.coarse, (smoothing, false)) {
            return Ok(known.result);
        }
        self.try_all(&[smoothing]).map(|results| results[0])
    }

    /// Tries the last of the coarse levels with searched displacements and each of these smoothings. Also returns the
    /// [score](TrialResult::score) of a trial without them.
    pub fn try_searched(
        &mut self,
        smoothings: &[Smoothing],
        searched: &Searched,
        (without, tried): (Smoothing, TrialResult),
    ) -> Result<(f64, Vec<TrialResult>)> {
        let results = self.try_coarse(smoothings, Some(searched), Some(without))?;
        Ok((self.measured(without, tried)?.score(), results))
    }

    /// Tries the coarse levels, and measures meanwhile the local contrast of the earlier trial with the smoothing
    /// `scored`.
    fn try_coarse(
        &mut self,
        smoothings: &[Smoothing],
        searched: Option<&Searched>,
        scored: Option<Smoothing>,
    ) -> Result<Vec<TrialResult>> {
        let course = self.climber.course;
        let last = course.last_coarse();
        if course.middle.is_some() {
            return smoothings.iter().map(|&smoothing| self.try_symmetric(last, smoothing, searched)).collect();
        }
        let trials: Vec<_> = smoothings.iter().map(|&smoothing| Trial { last, smoothing, searched }).collect();
        self.try_together(&trials, scored)
    }

    /// Tries the coarse levels with a smoothing, and a few iterations of the level after them, from each of these
    /// searched displacements. It is for single flows.
    pub fn try_next_level<const N: usize>(
        &mut self,
        smoothing: Smoothing,
        starts: [Option<&Searched>; N],
    ) -> Result<[TrialResult; N]> {
        let (last, at_once) = (self.climber.course.coarse(), self.at_once());
        let trials = starts.map(|searched| Trial { last, smoothing, searched });
        let mut results = [TrialResult::default(); N];
        for (trials, results) in trials.chunks(at_once).zip(results.chunks_mut(at_once)) {
            results.copy_from_slice(&self.try_together(trials, None)?);
        }
        Ok(results)
    }

    /// Returns the result of a trial without searched displacements with its local contrast. Measures that, unless it was
    /// measured.
    pub fn measured(&mut self, smoothing: Smoothing, tried: TrialResult) -> Result<TrialResult> {
        let Self { climber, coarse, .. } = self;
        let Some(CoarseTrial { field, .. }) = known(coarse, (smoothing, false)) else { return Ok(tried) };
        climber.measure(field)?;
        Ok(TrialResult { contrast_nats: field.contrast_nats, ..tried })
    }

    /// Returns the field of an earlier trial of the coarse levels, composed with the start; `None` in symmetric mode.
    pub fn composed(&mut self, smoothing: Smoothing, searched: bool) -> Result<Option<transform::Field>> {
        let Climber { course, contrast } = &self.climber;
        let known = contrast.as_ref().zip(known(&mut self.coarse, (smoothing, searched)));
        known
            .map(|(contrast, CoarseTrial { field, .. })| contrast.composed(&field.planes, course.grid(field.level)))
            .transpose()
    }

    /// Runs trials of single flows at once. Measures meanwhile the local contrast of the earlier trial with the
    /// smoothing `scored`.
    fn try_together(&mut self, trials: &[Trial], scored: Option<Smoothing>) -> Result<Vec<TrialResult>> {
        let Self { climber, judge, coarse } = self;
        let scored = scored.and_then(|smoothing| known(coarse, (smoothing, false)));
        let (mut fields, mut measured) = (Ok(Vec::new()), Ok(()));
        // While the fields climb, the images of the finest level are loaded.
        rayon::in_place_scope(|scope| {
            scope.spawn(|_| {
                fields = trials.par_iter().with_max_len(1).map(|trial| climber.field(trial)).collect::<Result<_>>();
            });
            if let Some(CoarseTrial { field, .. }) = scored {
                scope.spawn(|_| measured = climber.measure(field));
            }
            judge.flow_and_start().map(drop)
        })?;
        measured?;
        let evaluated = trials.iter().zip(fields?).map(|(trial, field)| {
            let result = judge.evaluate(&field)?;
            if trial.last < climber.course.coarse() {
                coarse.push(CoarseTrial { key: (trial.smoothing, trial.searched.is_some()), field, result });
            }
            Ok(result)
        });
        evaluated.collect()
    }

    /// Tries two flows.
    fn try_symmetric(&mut self, last: usize, smoothing: Smoothing, searched: Option<&Searched>) -> Result<TrialResult> {
        let course = self.climber.course;
        // This is measured before the flows of the trial take memory.
        let start = match self.judge.start {
            Some(start) => start,
            None => *self.judge.start.insert(held_out_nats(&course, &mut at_start(&course)?)?),
        };
        let mut flows = run_trial(&course, &Trial { last, smoothing, searched })?;
        let bending = bending::of_two(&flows.field()?, course.grid(last).size);
        let contrast_nats = Some(symmetric_contrast::information(&course, &mut flows, last)?);
        if last < course.finest() {
            course.enter(&mut flows, course.finest(), Before::Level(last))?;
        }
        let nats = held_out_nats(&course, &mut flows)?;
        Ok(TrialResult { nats, contrast_nats, accounted_for: nats - start > bending, bending })
    }

    /// Frees the memory of the flow on the finest level.
    pub fn free_memory(&mut self) {
        self.judge.flow = None;
    }
}

/// Returns an earlier trial.
fn known(all: &mut [CoarseTrial], key: (Smoothing, bool)) -> Option<&mut CoarseTrial> {
    all.iter_mut().find(|trial| trial.key == key)
}

/// Measures how well the images agree through a field.
struct Judge<'a> {
    course: Course<'a>,
    /// Stays on the finest level with its images, and takes the field of each trial. In symmetric mode it is not used:
    /// the flows of a trial go to the finest level themselves.
    flow: Option<Flows<'a>>,
    /// The information over the held-out half at the start, nats per voxel.
    start: Option<f64>,
}

impl<'a> Judge<'a> {
    fn evaluate(&mut self, field: &Field) -> Result<TrialResult> {
        let course = self.course;
        let [from, to] = [field.level, course.finest()].map(|number| course.grid(number));
        let (flow, start) = self.flow_and_start()?;
        flow.take(&field.planes, from.size, levels::between(from, to))?;
        let (nats, bending) = (held_out_nats(&course, flow)?, field.bending);
        Ok(TrialResult { nats, contrast_nats: field.contrast_nats, accounted_for: nats - start > bending, bending })
    }

    /// Returns the flow on the finest level, and the information over the held-out half at the start, nats per voxel. A
    /// new flow has a field of 0.
    fn flow_and_start(&mut self) -> Result<(&mut Flows<'a>, f64)> {
        let mut flow = match self.flow.take() {
            Some(flow) => flow,
            None => at_start(&self.course)?,
        };
        let start = match self.start {
            Some(start) => start,
            None => *self.start.insert(held_out_nats(&self.course, &mut flow)?),
        };
        Ok((self.flow.insert(flow), start))
    }
}

/// The field of a single flow after a trial.
struct Field {
    planes: Vec<f32>,
    /// The number of the level that it is on.
    level: usize,
    /// See [`bending::of_planes`].
    bending: f64,
    /// The mutual information of local contrast through it, nats beyond chance, if it was measured.
    contrast_nats: Option<f64>,
}

/// Climbs the fields of single flows.
struct Climber<'a> {
    course: Course<'a>,
    /// `None` in symmetric mode, and if too little of the images is foreground.
    contrast: Option<Arc<ContrastInformation<'a>>>,
}

impl Climber<'_> {
    /// Climbs the field of a trial. Local contrast takes long to measure. So it is left out of fields that only tell how
    /// stiff the field should be.
    fn field(&self, trial: &Trial) -> Result<Field> {
        let level = trial.last;
        let planes = run_trial(&self.course, trial)?.field()?;
        let bending = bending::of_planes(&planes, self.course.grid(level).size);
        let mut field = Field { planes, level, bending, contrast_nats: None };
        if trial.searched.is_some() || level >= self.course.coarse() {
            self.measure(&mut field)?;
        }
        Ok(field)
    }

    /// Measures local contrast through a field, unless it was measured.
    fn measure(&self, field: &mut Field) -> Result<()> {
        let Some(contrast) = self.contrast.as_ref().filter(|_| field.contrast_nats.is_none()) else { return Ok(()) };
        field.contrast_nats = Some(contrast.through(&field.planes, self.course.grid(field.level))?);
        Ok(())
    }
}

/// Returns flows on the finest level with fields of 0.
fn at_start<'a>(course: &Course<'a>) -> Result<Flows<'a>> {
    let mut flows = Flows::new(course.backend, course.middle)?;
    course.enter(&mut flows, course.finest(), Before::Start)?;
    Ok(flows)
}

/// Climbs to the end of a trial's last level, driven by one half of the voxels.
fn run_trial<'a>(course: &Course<'a>, &Trial { last, smoothing, searched }: &Trial) -> Result<Flows<'a>> {
    let mut flows = Flows::new(course.backend, course.middle)?;
    for number in searched.map_or(0, |searched| searched.level)..=last {
        course.enter(&mut flows, number, course.before(number, searched))?;
        let mut plan = course.plan(number);
        if number >= course.coarse() {
            plan.iterations = plan.iterations.min(SHORT);
        }
        let (smoothing, observer) = (course.smoothing(number, smoothing), Quiet(course.observer));
        course.climb(&mut flows, (number, &plan), Halves::First, smoothing, searched, &observer)?;
    }
    Ok(flows)
}

/// Returns the information over the held-out half on the finest level, nats per voxel.
fn held_out_nats(course: &Course, flows: &mut Flows) -> Result<f64> {
    course.plan(course.finest()).nats(flows.as_optimizer(), Halves::Second)
}
