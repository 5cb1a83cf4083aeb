//! The sample kernels that also compile with the published `cuda_std`, run in the emulator.

#[path = "../../upstream_check/src/kernels.rs"]
mod kernels;

use cuda_std::atomic::{AtomicF32, AtomicF64};
use cuda_std::emulator::{Launch, run};
use kernels::Line;

/// A pointer that the closures of launches may share.
#[derive(Clone, Copy)]
struct Shared<T>(*mut T);

// SAFETY: each kernel thread uses its own elements.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    fn get(&self) -> *mut T {
        self.0
    }
}

#[test]
fn evaluates_a_line() {
    let x: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let mut y = vec![0.0; 100];
    let line = Line { slope: 2.0, offset: 1.0, count: 100 };
    let out = Shared(y.as_mut_ptr());
    let launch = Launch::default().grid([2, 2, 1]).block([8, 2, 2]);
    // SAFETY: both have 100 elements, which outlive the launch.
    run("evaluate_line", &launch, || unsafe { kernels::evaluate_line(line, x.as_ptr(), out.get()) }).unwrap();
    assert!((0..100).all(|i| y[i] == 2.0 * x[i] + 1.0));
}

#[test]
fn reverses_blocks() {
    let mut values: Vec<i32> = (0..96).collect();
    let out = Shared(values.as_mut_ptr());
    let launch = Launch::default().grid(2).block(48);
    // SAFETY: 96 elements for 96 threads, in blocks of 48.
    run("reverse_blocks", &launch, || unsafe { kernels::reverse_blocks(out.get()) }).unwrap();
    assert!((0..96).all(|i| values[i as usize] == if i < 48 { 47 - i } else { 95 + 48 - i }));
}

#[test]
fn sums_squares() {
    let (total, exact, mut seen) = (AtomicF32::new(0.0), AtomicF64::new(0.0), 0);
    let out = Shared(&raw mut seen);
    let launch = Launch::default().grid(3).block(10).shared_bytes(40);
    // SAFETY: the pointers are those of locals, and the launch has four bytes for each thread.
    run("sum_of_squares", &launch, || unsafe { kernels::sum_of_squares(&total, out.get(), &exact) }).unwrap();
    assert_eq!((total.into_inner(), exact.into_inner(), seen), (855.0, 855.0, 10));
}

#[test]
fn finds_lanes() {
    let mut lanes = vec![u32::MAX; 256];
    let out = Shared(lanes.as_mut_ptr());
    let launch = Launch::default().grid(2).block([16, 4, 2]);
    // SAFETY: 256 elements for 256 threads, in whole warps.
    run("lanes", &launch, || unsafe { kernels::lanes(out.get()) }).unwrap();
    assert!(lanes.iter().enumerate().all(|(i, lane)| *lane == i as u32 % 32));
}

#[test]
#[rustfmt::skip]
fn float_methods_agree_with_std() {
    let (x, y) = (0.75_f64, 1.5_f64);
    let ours = kernels::float_methods(x, y);
    let std = [
        x.floor(), x.ceil(), x.round(), x.trunc(), x.fract(), x.abs(), x.signum(), x.copysign(y),
        x.mul_add(y, x), x.div_euclid(y), x.rem_euclid(y), x.powi(3), x.powf(y), x.sqrt(), x.exp(), x.exp2(),
        x.ln(), x.log(y), x.log2(), x.log10(), x.cbrt(), x.hypot(y), x.sin(), x.cos(),
        x.tan(), x.atan(), x.atan2(y), x.exp_m1(), x.ln_1p(), x.sinh(), x.tanh(), x.asinh(),
    ];
    for (i, (ours, std)) in ours.iter().zip(std).enumerate() {
        assert!((ours - std).abs() <= 4.0 * f64::EPSILON * std.abs(), "method {i}: {ours} and {std}");
    }
    let single = kernels::float_methods(x as f32, y as f32);
    for (i, (single, std)) in single.iter().zip(std).enumerate() {
        assert!((f64::from(*single) - std).abs() <= 1e-6 * std.abs().max(1.0), "method {i}: {single} and {std}");
    }
}

#[test]
#[should_panic(expected = "can only be used on the GPU")]
fn device_functions_panic_here() {
    let _ = kernels::on_the_device();
}

#[test]
#[should_panic(expected = "outside of emulator::run")]
fn indices_need_a_launch() {
    let _ = cuda_std::thread::index();
}
