//! Runs a deformation: chooses a start and a way through the levels, runs the flow, and checks the result.

use super::course::Course;
use super::flows::{self, Flows};
use super::smoothing::Smoothing;
use super::start::{Begin, Vouched};
use super::trials::Account;
use super::way::Way;
use super::{Compared, Deformation, LandmarkErrors, Landmarks, Level, Options, Seconds};
use super::{doubts, finish, levels, memory, place, smallest};
use crate::backend::{Backend, Flow, cpu};
use crate::doubt::Check;
use crate::image::{Intensities, Range, StoredImage};
use crate::observer::go_on;
use crate::registration::{LinearStart, overlap_doubt, timed};
use crate::transform::Field;
use crate::{Observer, Result, Volume};
use std::slice;

/// How one attempt at a deformation is made.
#[derive(Clone, Copy)]
struct Attempt<'a> {
    /// One start, or two from which the better one is chosen.
    starts: &'a [Begin],
    /// What must account for a candidate field.
    account: Account,
}

/// The levels, and the stored images, fixed and moving, of each level's channels.
type Levels<'a> = (&'a [levels::Level<'a>], &'a [Vec<[StoredImage; 2]>]);

/// What a deformation is made from.
pub struct Run<'a> {
    pub fixed: &'a Volume,
    pub moving: &'a Volume,
    pub intensities: [Intensities; 2],
    /// One start, or two from which the better one is chosen.
    pub starts: &'a [Begin],
    pub options: &'a Options,
    pub compared: Compared,
    /// The value ranges of both images of each channel.
    pub ranges: &'a [[Range; 2]],
    pub observer: &'a dyn Observer,
    pub backend: &'a dyn Backend,
}

impl Run<'_> {
    /// Runs the deformation through these levels. If the result suggests that another attempt may be better, makes a
    /// second one, and returns the better of both.
    pub fn finish(&self, levels: &[levels::Level], seconds: &mut Seconds) -> Result<Deformation> {
        let stored: Vec<_> =
            timed(&mut seconds.pyramid, || levels.iter().map(|level| level.stored(self.ranges)).collect());
        let levels = (levels, &*stored);
        let found = self.found(levels, Attempt { starts: self.starts, account: Account::Half }, seconds)?;
        if self.options.symmetric {
            return Ok(found);
        }
        let given = Smoothing::given(self.options, smallest(&self.fixed.geometry)).is_some();
        if !given && doubts::hardly_accounted(&found) {
            self.observer.note("contrasts hardly account for how the field bends: trying fields that they account for");
            let again = Attempt { starts: self.starts, account: Account::Contrasts };
            let again = self.found(levels, again, seconds)?;
            return Ok(if again.trusted() { again } else { found });
        }
        let unmatched = found.doubts.iter().any(|doubt| doubt.check == Check::Unmatched);
        let Some(starts) = self.other(levels, &found).filter(|_| unmatched) else { return Ok(found) };
        self.observer.note("a part of the images tells nothing about what lies on it: trying the other start");
        let again = self.found(levels, Attempt { starts, account: Account::Half }, seconds)?;
        let share = |made: &Deformation| made.unmatched.map_or(0.0, |of| of.share);
        let better = share(&again) < share(&found) && again.values[1] > found.values[1];
        Ok(if better && again.trusted() { again } else { found })
    }

    /// Returns the start that was not taken, if a registration that passed its checks is one of two starts, and the
    /// search for large displacements reaches from it to the other one.
    fn other(&self, levels: Levels, found: &Deformation) -> Option<&[Begin]> {
        let [first, second] = self.starts else { return None };
        let reached = first.vouched == Vouched::Checks
            && self.course(levels, first).reaches(&second.linear.transform.to_affine());
        let other = if found.start.from == first.linear.from { second } else { first };
        reached.then(|| slice::from_ref(other))
    }

    /// Returns the course of a flow through the levels from a start.
    fn course<'s>(&'s self, (levels, stored): Levels<'s>, begin: &'s Begin) -> Course<'s> {
        let Self { intensities, options, compared, observer, backend, .. } = *self;
        let middle = begin.middle.as_ref();
        let start = begin.linear.transform.to_affine();
        Course { levels, stored, start, intensities, middle, options, compared, observer, backend }
    }

    /// Makes an attempt, and checks its result.
    fn found(&self, levels: Levels, attempt: Attempt, seconds: &mut Seconds) -> Result<Deformation> {
        let (begin, course, way) = &timed(&mut seconds.flow, || self.best(levels, attempt))?;
        let mut flow = Flows::new(self.backend, course.middle)?;
        let climbed = timed(&mut seconds.flow, || way.climbed(course, &mut flow))?;
        let made = timed(&mut seconds.finish, || self.made(flow, course, begin.linear.clone()))?;
        let vouched = begin.vouched;
        let alone = vouched == Vouched::Nothing;
        let start = made.start.transform.to_affine();
        let look =
            || alone.then(|| place::linear_place(course.levels, &made.field, &start, self.intensities)).transpose();
        let linear_place = timed(&mut seconds.finish, look)?.flatten();
        let of_place = made.place.map(|place| doubts::of_place(place, linear_place, vouched));
        let agree = of_place.as_ref().is_some_and(Vec::is_empty);
        let errors = |landmarks: &Landmarks| landmarks.errors(&start, &made.field, course.finest_mm());
        let landmarks = self.options.landmarks.as_ref().and_then(errors);
        let of_landmarks = landmarks.as_ref().and_then(LandmarkErrors::doubt);
        let flow = doubts::of(&climbed, made.jacobian_range, &made.consistency, &self.fixed.geometry, agree);
        Ok(Deformation {
            intensities: self.intensities,
            compared: self.compared,
            doubts: [
                flow,
                of_place.unwrap_or_default(),
                doubts::of_gain(&made),
                [made.overlap.and_then(overlap_doubt), of_landmarks, made.unmatched.and_then(doubts::of_parts)]
                    .into_iter()
                    .flatten()
                    .collect(),
            ]
            .concat(),
            linear_place,
            landmarks,
            values: climbed.last().map_or([0.0; 2], Level::ends),
            levels: climbed,
            ..made
        })
    }

    /// Returns the start from which the images agree best, with its course and the way through it.
    fn best<'s>(
        &'s self,
        levels: Levels<'s>,
        Attempt { starts, account }: Attempt<'s>,
    ) -> Result<(&'s Begin, Course<'s>, Way)> {
        // After a registration that passed its checks, the second start is tried only if it may lead to another result.
        let sure = starts[0].vouched == Vouched::Checks;
        let alone = sure || starts.len() == 1;
        let mut ways: Vec<(&Begin, Course, Way)> = Vec::new();
        for begin in starts {
            let course = self.course(levels, begin);
            let known = ways.first().filter(|_| sure);
            if known.is_some_and(|(_, known, way)| !way.leads_to(known, &course.start)) {
                break;
            }
            let way = Way::through(&course, account, alone && ways.is_empty(), known.map(|(.., way)| way))?;
            ways.push((begin, course, way));
        }
        let best = (0..ways.len()).rev().max_by(|&a, &b| ways[a].2.nats.total_cmp(&ways[b].2.nats)).unwrap_or(0);
        Ok(ways.swap_remove(best))
    }

    /// Makes the deformation from flows that have ended on the grid of the finest level.
    fn made(&self, flows: Flows, course: &Course, start: LinearStart) -> Result<Deformation> {
        let (fixed, moving) = (&self.fixed.geometry, &self.moving.geometry);
        let finest = course.grid(course.finest());
        go_on(self.observer)?;
        let (mut flow, inverse) = match flows {
            Flows::One(flow) => (self.on_fixed(flow, course)?, None),
            Flows::Two(mut pair, middle) => {
                let fields = pair.fields()?;
                let (flow, inverse) =
                    flows::met(fields, middle, finest, [fixed, moving], &course.start, course.limits());
                (flow, Some(inverse))
            }
        };
        let images = (fixed, self.moving, self.options.moved);
        let look = |field: &Field| place::look(course.levels, field, &course.start, self.intensities);
        finish::deformation(&mut *flow, self.backend, images, start, inverse, &look, self.observer)
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
            Begin { linear: LinearStart { transform, from: "", seconds: 0.0 }, vouched: Vouched::Nothing, middle: None }
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
