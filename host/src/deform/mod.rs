//! Non-rigid registration by flows of diffeomorphisms (Ledig & Chefd'hotel, section 3.2, after Chefd'hotel 2002): a displacement field
//! that grows by composing small, smoothed steps along the gradient of the metric, so that it stays invertible.

mod apart;
mod climb;
mod course;
mod doubts;
mod finish;
mod found;
mod levels;
mod memory;
mod options;
mod respaced;
mod smoothing;
mod start;
mod stiffness;
mod table;

pub use found::{Consistency, Deformation, Level, Seconds};
pub use options::{Force, Options};
pub use start::Start;

use crate::backend::{Backend, BackendKind, Flow, cpu};
use crate::image::{Geometry, Range};
use crate::metric;
use crate::observer::go_on;
use crate::registration::{LinearStart, timed};
use crate::{Observer, Result, Volume};
use course::Course;
use glam::DAffine3;
use std::time::Instant;

/// Deforms the moving image onto the fixed one: see [`Engine::deform`](crate::Engine::deform). With the backend comes the kind that was
/// asked for.
pub(crate) fn deform(
    fixed: &Volume,
    moving: &Volume,
    options: &Options,
    (backend, asked): (&dyn Backend, BackendKind),
    observer: &dyn Observer,
) -> Result<Deformation> {
    // What cannot be deformed is told before the registration, not after it.
    let prepared = options.prepare(fixed, moving)?;
    metric::check::tell(&prepared, observer);
    let (start, doubts) = options.start.find(&prepared, backend, observer)?;
    let mut seconds = Seconds::default();
    let clock = Instant::now();
    let map = start.transform.to_affine();
    go_on(observer)?;
    let intensities = prepared.each_ref().map(|image| image.intensities);
    let ranges = levels::ranges(intensities.map(|found| found.range), options.force);
    let levels = timed(&mut seconds.pyramid, || levels::levels(&prepared, options, observer))?;
    let backend = memory::choose(backend, asked, levels::finest(&levels), observer)?;
    memory::check(backend, &fixed.geometry, &moving.geometry)?;
    let run = Run { fixed, moving, start: &map, options, ranges, observer, backend };
    let found = run.finish(&levels, &mut seconds, start)?;
    seconds.register = clock.elapsed().as_secs_f64();
    Ok(Deformation { seconds, intensities, doubts: [doubts, found.doubts].concat(), ..found })
}

/// A deformation under way.
struct Run<'a> {
    fixed: &'a Volume,
    moving: &'a Volume,
    start: &'a DAffine3,
    options: &'a Options,
    ranges: [Range; 2],
    observer: &'a dyn Observer,
    backend: &'a dyn Backend,
}

impl Run<'_> {
    fn finish(&self, levels: &[levels::Level], seconds: &mut Seconds, start: LinearStart) -> Result<Deformation> {
        let mut flow = self.backend.flow()?;
        let [finest, _] = levels::finest(levels);
        let stored: Vec<_> =
            timed(&mut seconds.pyramid, || levels.iter().map(|level| levels::stored(level, self.ranges)).collect());
        let Self { options, observer, backend, .. } = *self;
        let course = Course { levels, stored: &stored, start: self.start, options, observer, backend };
        let climbed: Vec<_> = timed(&mut seconds.flow, || {
            let smoothing = stiffness::of_levels(&course)?.into_iter().enumerate();
            smoothing.map(|(number, smoothing)| course.level(&mut *flow, number, smoothing)).collect::<Result<_>>()
        })?;
        drop(stored);
        let made = timed(&mut seconds.finish, || self.made(flow, finest, start))?;
        Ok(Deformation {
            doubts: doubts::of(&climbed, made.jacobian_range, &made.consistency, &self.fixed.geometry),
            values: climbed.last().map_or([0.0; 2], Level::ends),
            levels: climbed,
            ..made
        })
    }

    /// What the flow, which is on the `finest` grid, makes of the images.
    fn made(&self, mut flow: Box<dyn Flow + '_>, finest: &Geometry, start: LinearStart) -> Result<Deformation> {
        let grid = &self.fixed.geometry;
        go_on(self.observer)?;
        if !memory::fits(self.backend, grid, &self.moving.geometry) {
            flow = cpu::flow_of(&flow.field()?, finest.size, finest.spacing.to_array());
        }
        if finest != grid {
            flow.refine(grid.size, grid.spacing.to_array(), levels::between(finest, grid))?;
        }
        finish::deformation(&mut *flow, self.backend, grid, self.moving, start, self.observer)
    }
}

/// The smallest distance between voxels along an axis that has several, mm.
fn smallest(grid: &Geometry) -> f64 {
    (0..3).filter(|&axis| grid.size[axis] > 1).map(|axis| grid.spacing[axis]).fold(f64::INFINITY, f64::min)
}
