//! One engine for many runs: a registration in memory, one that another thread stops, and four at once.

use glam::DVec3;
use mireg::backend::BackendKind;
use mireg::{Engine, Error, Geometry, Observer, Options, PixelType, Silent, Volume};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// A synthetic head, centred at `x` mm along the x axis.
fn head(x: f64) -> Volume {
    let geometry = Geometry::axis_aligned([48; 3], DVec3::splat(4.0), DVec3::splat(-94.0));
    let value = |n: usize| {
        let p = DVec3::new((n % 48) as f64, (n / 48 % 48) as f64, (n / 2304) as f64) * 4.0 - 94.0 - x * DVec3::X;
        let tissue = 500.0 + 200.0 * (p.x / 9.0).sin() + 150.0 * (p.y / 8.0).cos() + 100.0 * (p.z / 11.0).sin();
        if (p / DVec3::new(60.0, 50.0, 40.0)).length() < 1.0 { tissue as f32 } else { 0.0 }
    };
    Volume { geometry, voxels: (0..geometry.voxels()).map(value).collect(), pixel: PixelType::F32 }
}

/// Stops a run as soon as the flag is set.
struct Button(AtomicBool);

impl Observer for Button {
    fn proceed(&self) -> ControlFlow<()> {
        if self.0.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn main() -> mireg::Result<()> {
    let engine = Engine::open(BackendKind::Auto, 0, &Silent)?;
    let (fixed, options) = (head(0.0), Options::default());
    let register = |x: f64, observer: &dyn Observer| engine.register(&fixed, &head(x), &options, observer);

    let found = register(6.0, &Silent)?;
    assert!((found.transform.to_affine().translation.x - 6.0).abs() < 0.5);

    let button = Button(AtomicBool::new(false));
    let stopped = thread::scope(|scope| {
        let run = scope.spawn(|| register(6.0, &button));
        button.0.store(true, Ordering::Relaxed);
        run.join().expect("the run does not panic")
    });
    assert!(matches!(stopped, Err(Error::Stopped)));

    thread::scope(|scope| {
        let register = &register;
        let runs = [-8.0, -4.0, 4.0, 8.0].map(|x| (x, scope.spawn(move || register(x, &Silent))));
        for (x, run) in runs {
            let found = run.join().expect("the run does not panic")?.transform.to_affine().translation.x;
            assert!((found - x).abs() < 0.5, "{found} mm");
            println!("moved by {x} mm, found {found:.3} mm");
        }
        Ok(())
    })
}
