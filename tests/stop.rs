//! Runs that an observer stops: how soon they end, whichever moment it is.

use crate::support::{engine, random, trial};
use libtest_mimic::Trial;
use mireg::backend::BackendKind;
use mireg::deform::Start;
use mireg::{Engine, Error, Observer, Options, Result, deform};
use mireg_cli::demo::Pair;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Moments at which each run is stopped.
const MOMENTS: usize = 5;
/// What a busy machine may take; a quiet one takes less than a tenth of a second for a whole head.
const MOST: Duration = Duration::from_secs(1);

pub fn tests() -> Vec<Trial> {
    vec![
        trial("stop::registrations_end_soon", || {
            ends_soon(|engine, pair, observer| {
                engine.register(&pair.ct, &pair.mr, &Options::default(), observer).map(drop)
            });
        }),
        trial("stop::deformations_end_soon", || {
            let options = deform::Options { start: Start::Headers, iterations: Some(vec![5]), ..Default::default() };
            ends_soon(|engine, pair, observer| engine.deform(&pair.ct, &pair.mr, &options, observer).map(drop));
        }),
    ]
}

/// Wants an end from a moment on.
struct Until(Instant);

impl Observer for Until {
    fn proceed(&self) -> ControlFlow<()> {
        if Instant::now() < self.0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

fn ends_soon(run: impl Fn(&Engine, &Pair, &dyn Observer) -> Result<()>) {
    let engine = engine(BackendKind::Cpu, 2);
    let pair = Pair::new(3, 4.0);
    let clock = Instant::now();
    run(&engine, &pair, &mireg::Silent).expect("it can be registered");
    let whole = clock.elapsed();
    let mut random = random(whole.subsec_nanos().into());
    for _ in 0..MOMENTS {
        let end = Instant::now() + whole.mul_f32(0.9 * random());
        match run(&engine, &pair, &Until(end)) {
            Err(Error::Stopped) => assert!(end.elapsed() < MOST, "{:?} after it was asked to", end.elapsed()),
            Ok(()) => {}
            Err(other) => panic!("{other}"),
        }
    }
}
