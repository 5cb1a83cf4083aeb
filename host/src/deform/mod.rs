//! Non-rigid registration by flows of diffeomorphisms (Ledig & Chefd'hotel, section 3.2, after Chefd'hotel 2002): a
//! displacement field that grows by composing small, smoothed steps along the gradient of the metric, so that it stays
//! invertible.

mod apart;
mod bending;
mod channels;
mod choice;
mod climb;
mod content;
mod contrast_information;
mod contrasts;
mod course;
mod doubts;
mod finish;
mod flows;
mod forces;
mod found;
mod landmarks;
mod levels;
pub(crate) mod memory;
mod middle;
mod options;
mod part_motion;
mod place;
mod respaced;
mod run;
mod search;
mod searched;
mod smoothing;
mod start;
mod stiffness;
mod strategy;
mod symmetric_contrast;
mod trials;
mod vectors;

pub use channels::Channel;
pub use contrasts::Compared;
pub use forces::{Force, Forces, Weighted};
pub use found::{Consistency, Deformation, Level, Seconds, TermValues};
pub use landmarks::{LandmarkErrors, Landmarks};
pub use options::Options;
pub use start::Start;

use crate::backend::Chosen;
use crate::doubt::{Check, Doubt};
use crate::image::{Geometry, Prepared};
use crate::metric;
use crate::observer::ask_observer;
use crate::{Observer, Result, Volume};
use middle::Middle;
use run::Run;
use start::{StartCandidate, StartCandidates};
use std::time::Instant;

/// Deforms the moving image onto the fixed one: see [`Engine::deform`](crate::Engine::deform). The search for the
/// linear start does not wait for a device that is still being opened.
pub(crate) fn deform(
    fixed: &Volume,
    moving: &Volume,
    options: &Options,
    chosen: Chosen,
    observer: &dyn Observer,
) -> Result<Deformation> {
    // Images that cannot be deformed are refused before the linear registration, not after it.
    let prepared = options.prepare(fixed, moving)?;
    let images = &prepared[0];
    metric::check::note_left_out(images, observer);
    let start = || options.start.find(images, options.symmetric, chosen, observer);
    let spacings = || options.levels.clone().unwrap_or_else(|| levels::automatic(&fixed.geometry));
    // In symmetric mode the levels depend on the start, and their grid is the box that both images share: see `middle`.
    let cropped = if options.symmetric { None } else { content::without_background(&prepared, spacings()[0]) };
    let channels = cropped.as_deref().unwrap_or(&prepared);
    let at_spacings = |channels, spacings: &[f64]| contrasts::levels(channels, spacings, &options.force, observer);
    let made_early = || (!options.symmetric).then(|| at_spacings(channels, &spacings())).transpose();
    let (start, made_early) = rayon::join(start, made_early);
    let (StartCandidates { candidates: mut starts, doubts }, made_early) = (start?, made_early?);
    let mut seconds = Seconds::default();
    let clock = Instant::now();
    ask_observer(observer)?;
    let intensities = images.each_ref().map(|image| image.intensities);
    let range = |images: &[Prepared; 2]| images.each_ref().map(|image| image.intensities.range);
    let ranges: Vec<_> = prepared.iter().map(|images| levels::ranges(range(images), &options.force)).collect();
    let grids = [&fixed.geometry, &moving.geometry];
    let mut levels = match made_early {
        Some(levels) => levels,
        None => {
            let spacings = meet_between(grids, &mut starts, options.levels.as_deref())?;
            timed(&mut seconds.pyramid, || at_spacings(&prepared, &spacings))?
        }
    };
    let likelier_start = starts[0].linear.transform.to_affine();
    let compared = timed(&mut seconds.pyramid, || contrasts::compared(&levels, &likelier_start, intensities))?;
    contrasts::add_to_channels(&mut levels, compared);
    let ranges = compared.ranges(ranges);
    let middles = starts.iter().filter_map(|start| start.middle.as_ref());
    let need = memory::Need::new(grids, levels.last(), middles, options.load(compared));
    let backend = memory::choose(chosen.fastest(observer)?, chosen.requested(), &need, observer)?;
    memory::check(backend, &need)?;
    let (starts, ranges) = (&*starts, &*ranges);
    let run = Run { fixed, moving, intensities, starts, options, compared, ranges, observer, backend };
    let found = run.finish(&levels, &mut seconds)?;
    seconds.register = clock.elapsed().as_secs_f64();
    Ok(Deformation { seconds, doubts: told_once([doubts, found.doubts].concat()), ..found })
}

/// Leaves out that the images are mirrored where that was said before: the registrations of the start and the field all
/// show it.
fn told_once(mut doubts: Vec<Doubt>) -> Vec<Doubt> {
    let mut told = false;
    doubts.retain(|doubt| doubt.check != Check::Mirrored || !std::mem::replace(&mut told, true));
    doubts
}

/// Gives each start the grid in the middle between the images, where the two flows of symmetric mode meet. Returns the
/// spacings of the levels, mm: those in `asked`, but no finer than that grid, or else the first start's own.
fn meet_between(images: [&Geometry; 2], starts: &mut [StartCandidate], asked: Option<&[f64]>) -> Result<Vec<f64>> {
    let mut spacings = asked.map(<[f64]>::to_vec);
    for start in starts {
        let middle = Middle::new(images, &start.linear.transform.to_affine(), spacings.as_deref())?;
        spacings = Some(middle.spacings());
        start.middle = Some(middle);
    }
    Ok(spacings.unwrap_or_default())
}

/// Returns the smallest distance between neighbouring voxels, mm, over the axes that have more than one voxel.
fn smallest(grid: &Geometry) -> f64 {
    grid.spacing_range()[0]
}

/// Runs `work` and adds the time that it takes to `seconds`.
fn timed<T>(seconds: &mut f64, work: impl FnOnce() -> T) -> T {
    let clock = Instant::now();
    let out = work();
    *seconds += clock.elapsed().as_secs_f64();
    out
}
