//! Runs a deformation: chooses a start and a strategy, runs the flow, and checks the result.

use super::choice::Choice;
use super::course::Course;
use super::flows::{self, Flows};
use super::start::{StartCandidate, Support};
use super::{Compared, Deformation, Landmarks, Level, Options, Seconds};
use super::{doubts, finish, levels, memory, place, timed};
use crate::backend::{Backend, Flow, cpu};
use crate::doubt::Check;
use crate::image::{Intensities, Range, StoredImage};
use crate::observer::ask_observer;
use crate::registration::LinearStart;
use crate::transform::Field;
use crate::{Observer, Result, Volume};
use std::{ptr, slice};

/// The start of an attempt, with the course from it and the strategy for that.
struct Start<'a> {
    candidate: &'a StartCandidate,
    course: Course<'a>,
    choice: Choice<'a>,
}

/// The levels, and the stored images, fixed and moving, of each level's channels.
type Levels<'a> = (&'a [levels::Level<'a>], &'a [Vec<[StoredImage; 2]>]);

/// What a deformation is made from.
pub struct Run<'a> {
    pub fixed: &'a Volume,
    pub moving: &'a Volume,
    pub intensities: [Intensities; 2],
    /// One start, or two from which the better one is chosen.
    pub starts: &'a [StartCandidate],
    pub options: &'a Options,
    pub compared: Compared,
    /// The value ranges of both images of each channel.
    pub ranges: &'a [[Range; 2]],
    pub observer: &'a dyn Observer,
    pub backend: &'a dyn Backend,
}

impl Run<'_> {
    /// Runs the deformation through these levels. If the result suggests that another attempt may be better, makes others,
    /// and returns the best.
    pub fn finish(&self, levels: &[levels::Level], seconds: &mut Seconds) -> Result<Deformation> {
        let stored: Vec<_> =
            timed(&mut seconds.pyramid, || levels.iter().map(|level| level.stored(self.ranges)).collect());
        let levels = (levels, &*stored);
        let mut best = timed(&mut seconds.flow, || self.best_start(levels, self.starts))?;
        let found = self.attempt(&best, seconds)?;
        if self.options.symmetric {
            return Ok(found);
        }
        let found = self.stiffer(&mut best, found, seconds)?;
        let unmatched = found.doubts.iter().any(|doubt| doubt.check == Check::Unmatched);
        let Some(other) = self.untaken_start(&best).filter(|_| unmatched) else { return Ok(found) };
        self.observer.note("a part of the images does not match: trying the other initial alignment");
        let other = timed(&mut seconds.flow, || self.best_start(levels, slice::from_ref(other)))?;
        let second = self.attempt(&other, seconds)?;
        let share = |made: &Deformation| made.unmatched.map_or(0.0, |of| of.share);
        let better = share(&second) < share(&found)
            && second.values[1] > found.values[1]
            && doubts::net_information(&second) > doubts::net_information(&found);
        Ok(if better && second.trusted() { second } else { found })
    }

    /// Makes stiffer fields from the same start until one is clearly accounted for and one passes its checks. Returns the
    /// one with the most [information](doubts::net_information) of those that pass, or `found` if none does.
    fn stiffer(&self, start: &mut Start, mut found: Deformation, seconds: &mut Seconds) -> Result<Deformation> {
        let mut doubtful = doubts::is_barely_accounted_for(&found);
        while doubtful && timed(&mut seconds.flow, || start.choice.stiffen())? {
            self.observer.note("local contrast hardly confirms this deformation: trying a stiffer one");
            let next = self.attempt(start, seconds)?;
            let barely = doubts::is_barely_accounted_for(&next);
            let better = !found.trusted() || doubts::net_information(&next) > doubts::net_information(&found);
            if better && next.trusted() {
                found = next;
            }
            doubtful = barely || !found.trusted();
        }
        Ok(found)
    }

    /// Returns the start that was not taken, if a registration that passed its checks is one of two starts, and the
    /// search for large displacements reaches from it to the other one.
    fn untaken_start(&self, taken: &Start) -> Option<&StartCandidate> {
        let [first, second] = self.starts else { return None };
        let other = if ptr::eq(taken.candidate, first) { second } else { first };
        let reached =
            first.support == Support::PassedChecks && taken.course.reaches(&other.linear.transform.to_affine());
        reached.then_some(other)
    }

    /// Returns the course of a flow through the levels from a start.
    fn course<'s>(&'s self, (levels, stored): Levels<'s>, candidate: &'s StartCandidate) -> Course<'s> {
        let Self { intensities, options, compared, observer, backend, .. } = *self;
        let middle = candidate.middle.as_ref();
        let start = candidate.linear.transform.to_affine();
        Course { levels, stored, start, intensities, middle, options, compared, observer, backend }
    }

    /// Makes an attempt, and checks its result.
    fn attempt(&self, Start { candidate, course, choice }: &Start, seconds: &mut Seconds) -> Result<Deformation> {
        let strategy = &choice.strategy;
        let mut flow = Flows::new(self.backend, course.middle)?;
        let levels = timed(&mut seconds.flow, || strategy.run(course, &mut flow))?;
        let made = timed(&mut seconds.finish, || self.assemble(flow, course, candidate.linear.clone()))?;
        let start = course.start;
        let unconfirmed = candidate.support == Support::Unconfirmed;
        let look = || place::linear_place(course.levels, &made.field, &start, self.intensities);
        let linear_place = timed(&mut seconds.finish, || unconfirmed.then(look).transpose())?.flatten();
        let errors = |landmarks: &Landmarks| landmarks.errors(&start, &made.field, course.finest_mm());
        let made = Deformation {
            intensities: self.intensities,
            compared: self.compared,
            part_information: strategy.part_nats,
            linear_place,
            landmarks: self.options.landmarks.as_ref().and_then(errors),
            values: levels.last().map_or([0.0; 2], Level::ends),
            levels,
            ..made
        };
        Ok(Deformation { doubts: doubts::all(&made, candidate.support), ..made })
    }

    /// Returns the start from which the images agree best.
    fn best_start<'s>(&'s self, levels: Levels<'s>, candidates: &'s [StartCandidate]) -> Result<Start<'s>> {
        // After a registration that passed its checks, the second start is tried only if it may lead to another result.
        let passed = candidates[0].support == Support::PassedChecks;
        let alone = passed || candidates.len() == 1;
        let mut starts: Vec<Start> = Vec::new();
        for candidate in candidates {
            let course = self.course(levels, candidate);
            let known = starts.first().filter(|_| passed);
            if known.is_some_and(|known| !known.choice.strategy.leads_to(&known.course, &course.start)) {
                break;
            }
            let alone = alone && starts.is_empty();
            let choice = Choice::new(course, alone, known.map(|known| &known.choice.strategy))?;
            starts.push(Start { candidate, course, choice });
        }
        let nats = |n: usize| starts[n].choice.strategy.nats;
        let best = (0..starts.len()).rev().max_by(|&a, &b| nats(a).total_cmp(&nats(b))).unwrap_or(0);
        Ok(starts.swap_remove(best))
    }

    /// Makes the deformation from flows that have ended on the grid of the finest level.
    fn assemble(&self, flows: Flows, course: &Course, start: LinearStart) -> Result<Deformation> {
        let (fixed, moving) = (&self.fixed.geometry, &self.moving.geometry);
        let finest = course.grid(course.finest());
        ask_observer(self.observer)?;
        let (mut flow, inverse) = match flows {
            Flows::One(flow) => (self.on_fixed(flow, course)?, None),
            Flows::Two(mut pair, middle) => {
                let fields = pair.fields()?;
                let (flow, inverse) =
                    flows::compose_pair(fields, middle, finest, [fixed, moving], &course.start, course.limits());
                (flow, Some(inverse))
            }
        };
        let images = (fixed, self.moving, self.options.moved);
        let measure = |field: &Field| place::measure(course.levels, field, &course.start, self.intensities);
        finish::deformation(&mut *flow, self.backend, images, start, inverse, &measure, self.observer)
    }

    /// Brings a flow from the grid of the finest level to that of the fixed image; on the CPU, if that does not fit
    /// into the backend's memory.
    fn on_fixed<'f>(&self, mut flow: Box<dyn Flow + 'f>, course: &Course) -> Result<Box<dyn Flow + 'f>> {
        let (grid, finest) = (&self.fixed.geometry, course.grid(course.finest()));
        if !memory::fits(self.backend, [grid, &self.moving.geometry], self.options.load(self.compared)) {
            flow = cpu::flow_of(&flow.field()?, finest.size, finest.spacing.to_array());
        }
        if finest != grid {
            flow.refine(grid.size, grid.spacing.to_array(), levels::between(finest, grid))?;
            course.relax(&mut *flow)?;
        }
        Ok(flow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Geometry;
    use crate::backend::cpu::Cpu;
    use crate::transform::{Dimension, Kind, Linear};
    use crate::{PixelType, Silent};
    use glam::{DAffine3, DVec3};

    #[test]
    fn of_two_starts_the_better_one_is_taken_where_nothing_is_tried_for_other_reasons() {
        let geometry = Geometry::axis_aligned([24, 20, 16], DVec3::splat(2.0), DVec3::ZERO);
        let voxel =
            |n: usize| ((n % 24) as f32 * 0.9).sin() * ((n / 24 % 20) as f32 * 0.6).cos() + (n / 480) as f32 * 0.1;
        let image = Volume { geometry, voxels: (0..geometry.voxels()).map(voxel).collect(), pixel: PixelType::F32 };
        let start = |x| {
            let map = DAffine3::from_translation(DVec3::new(x, 0.0, 0.0));
            let transform = Linear::new(Kind::Translation, Dimension::Three, geometry.centre(), &map);
            StartCandidate {
                linear: LinearStart { transform, from: "", seconds: 0.0 },
                support: Support::Unconfirmed,
                middle: None,
            }
        };
        let (levels, iterations) = (Some(vec![2.0]), Some(vec![2]));
        let options = Options { levels, iterations, smooth_mm: Some(6.0), moved: false, ..Options::default() };
        let prepared = options.prepare(&image, &image).unwrap();
        let levels = levels::levels(&prepared, &[2.0], &Silent).unwrap();
        let intensities = prepared[0].each_ref().map(|image| image.intensities);
        for starts in [[start(7.0), start(0.0)], [start(0.0), start(7.0)]] {
            let run = Run {
                fixed: &image,
                moving: &image,
                intensities,
                starts: &starts,
                options: &options,
                compared: Compared::Intensities,
                ranges: &[intensities.map(|image| image.range)],
                observer: &Silent,
                backend: &Cpu,
            };
            let found = run.finish(&levels, &mut Seconds::default()).unwrap();
            assert_eq!(found.start.transform, start(0.0).linear.transform);
        }
    }
}
