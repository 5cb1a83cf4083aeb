//! Measures recursive Gaussian smoothing, and a plain copy.

use mireg::Result;
use mireg::backend::Backend;

use super::clock::{median, repeat};
use crate::bench::arguments::Bench;
use crate::bench::cases::default_side;
use crate::bench::rows::Smoothed;

/// Standard deviation along each axis, voxels. The time does not depend on it.
const SIGMA: f64 = 4.0;
/// The volumes of an image, and of the three components of a field.
const VOLUMES: [usize; 2] = [1, 3];

/// Measures a backend, each row for about as many seconds as asked for.
///
/// # Errors
/// Of the device.
pub fn measure(backend: &dyn Backend, arguments: &Bench) -> Result<Vec<Smoothed>> {
    let side = arguments.size.map_or_else(|| default_side(backend.name()), |side| side as usize);
    let row = |volumes| {
        let (size, sigmas, budget) = ([side; 3], [SIGMA; 3], arguments.seconds);
        let mut planes: Vec<f32> = (0..volumes * side * side * side).map(|i| (i % 251) as f32).collect();
        let seconds = median(&repeat(0.5 * budget, 1, || backend.smooth(&mut planes, size, sigmas))?);
        let times = (10.0 * budget / seconds).clamp(1.0, 100.0) as u32;
        let device = backend.smoothing_seconds(size, volumes, sigmas, times)?;
        let (pass_seconds, copy_seconds) = device.map(|device| (device.passes, device.copy)).unzip();
        Ok(Smoothed { volumes, size, seconds, pass_seconds, copy_seconds })
    };
    VOLUMES.into_iter().map(row).collect()
}
