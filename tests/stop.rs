//! Runs that an observer stops at different moments: checks how soon they end.

use crate::support::{engine, random, trial};
use glam::DVec3;
use libtest_mimic::Trial;
use mireg::backend::BackendKind;
use mireg::deform::{Force, Start};
use mireg::metric::{Counted, Metric, Viola};
use mireg::registration::Init;
use mireg::{Engine, Error, Geometry, Observer, Options, Result, Silent, Volume, deform, mesh};
use mireg_cli::demo::Pair;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Moments at which each run is stopped.
const MOMENTS: usize = 8;
/// The limit on a busy machine. On an idle one, a run on a whole head ends within a tenth of a second.
const MOST: Duration = Duration::from_secs(1);
/// The number of samples of Viola's metric with which a single evaluation takes about a minute.
const SAMPLES: usize = 400_000;

pub fn tests() -> Vec<Trial> {
    vec![
        trial("stop::registrations_end_soon", || {
            let pair = Pair::new(3, 4.0);
            for metric in [Metric::default(), Metric::Counted(Counted::default())] {
                let options = Options { metric, ..Default::default() };
                ends_soon(|engine, observer| engine.register(&pair.ct, &pair.mr, &options, observer).map(drop));
            }
        }),
        trial("stop::deformations_end_soon", || {
            let pair = Pair::new(3, 4.0);
            for force in [Force::Mi, Force::Lcc] {
                let iterations = Some(vec![5]);
                let options =
                    deform::Options { start: Start::Headers, force: force.into(), iterations, ..Default::default() };
                ends_soon(|engine, observer| engine.deform(&pair.ct, &pair.mr, &options, observer).map(drop));
            }
        }),
        trial("stop::meshes_end_soon", || {
            let head = Pair::new(3, 2.0).ct;
            let middle = head.geometry.size[2] / 2;
            let [fixed, moving] = [slice(&head, middle), slice(&head, middle + 1)];
            // This start has no search, whose many short steps would take most of the time.
            let start = mesh::Start::Register(Init::Header);
            let options = mesh::Options { start, iterations: 5, ..Default::default() };
            ends_soon(|engine, observer| engine.mesh(&fixed, &moving, &options, observer).map(drop));
        }),
        trial("stop::a_long_step_ends_before_its_end", a_long_step),
    ]
}

/// A slice of a volume as a picture with pixels of 1 mm.
fn slice(volume: &Volume, number: usize) -> Volume {
    let [width, height, _] = volume.geometry.size;
    let geometry = Geometry::axis_aligned([width, height, 1], DVec3::ONE, DVec3::ZERO);
    let pixels = &volume.voxels[number * width * height..][..width * height];
    Volume { geometry, voxels: pixels.to_vec(), pixel: volume.pixel }
}

/// An observer that stops the run from a moment on.
struct Until(Instant);

impl Observer for Until {
    fn proceed(&self) -> ControlFlow<()> {
        if Instant::now() < self.0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// Stops a run, which would end by itself, at several moments, and asserts that it ends soon.
fn ends_soon(run: impl Fn(&Engine, &dyn Observer) -> Result<()>) {
    let engine = engine(BackendKind::Cpu, 2);
    let clock = Instant::now();
    run(&engine, &Silent).expect("it can be registered");
    let whole = clock.elapsed();
    let mut random = random(whole.subsec_nanos().into());
    for _ in 0..MOMENTS {
        let end = Instant::now() + whole.mul_f32(0.95 * random());
        match run(&engine, &Until(end)) {
            Err(Error::Stopped) => assert!(end.elapsed() < MOST, "{:?} after it was asked to", end.elapsed()),
            Ok(()) => {}
            Err(other) => panic!("{other}"),
        }
    }
    run(&engine, &Silent).expect("a run that was stopped does not stop the next");
}

/// A single evaluation that takes far longer than a run may go on.
fn a_long_step() {
    let engine = engine(BackendKind::Cpu, 2);
    let pair = Pair::new(3, 2.0);
    let metric = Metric::Viola(Viola { samples: SAMPLES, ..Viola::default() });
    let options = Options { metric, init: Init::Header, levels: Some(vec![1.0]), ..Options::default() };
    let end = Instant::now() + Duration::from_secs(1);
    let stopped = engine.register(&pair.ct, &pair.mr, &options, &Until(end));
    assert!(matches!(stopped, Err(Error::Stopped)));
    assert!(end.elapsed() < MOST, "{:?} after it was asked to", end.elapsed());
}
