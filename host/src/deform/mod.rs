//! Non-rigid registration by flows of diffeomorphisms (Ledig & Chefd'hotel, section 3.2, after Chefd'hotel 2002): a displacement field
//! that grows by composing small, smoothed steps along the gradient of the metric, so that it stays invertible.

mod apart;
mod channels;
mod climb;
mod course;
mod doubts;
mod finish;
mod forces;
mod found;
mod levels;
mod memory;
mod options;
mod respaced;
mod smoothing;
mod start;
mod stiffness;
mod table;

pub use channels::Channel;
pub use forces::{Force, Forces, Weighted};
pub use found::{Consistency, Deformation, Level, Seconds, TermValues};
pub use options::Options;
pub use start::Start;

use crate::backend::{Backend, BackendKind, Flow, cpu};
use crate::image::{Geometry, Prepared, Range};
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
    let images = &prepared[0];
    metric::check::tell(images, observer);
    let (start, doubts) = options.start.find(images, backend, observer)?;
    let mut seconds = Seconds::default();
    let clock = Instant::now();
    let map = start.transform.to_affine();
    go_on(observer)?;
    let intensities = images.each_ref().map(|image| image.intensities);
    let range = |images: &[Prepared; 2]| images.each_ref().map(|image| image.intensities.range);
    let ranges: Vec<_> = prepared.iter().map(|images| levels::ranges(range(images), &options.force)).collect();
    let levels = timed(&mut seconds.pyramid, || levels::levels(&prepared, options, observer))?;
    let load = options.load();
    let finest = levels.last().map_or([&fixed.geometry, &moving.geometry], levels::Level::grids);
    let backend = memory::choose(backend, asked, finest, load, observer)?;
    memory::check(backend, &fixed.geometry, &moving.geometry, load)?;
    let run = Run { fixed, moving, start: &map, options, ranges: &ranges, observer, backend };
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
    ranges: &'a [[Range; 2]],
    observer: &'a dyn Observer,
    backend: &'a dyn Backend,
}

impl Run<'_> {
    fn finish(&self, levels: &[levels::Level], seconds: &mut Seconds, start: LinearStart) -> Result<Deformation> {
        let mut flow = self.backend.flow()?;
        let finest = levels.last().map_or(&self.fixed.geometry, |level| level.grids()[0]);
        let stored: Vec<_> =
            timed(&mut seconds.pyramid, || levels.iter().map(|level| level.stored(self.ranges)).collect());
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
        if !memory::fits(self.backend, grid, &self.moving.geometry, self.options.load()) {
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
