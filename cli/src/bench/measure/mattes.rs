//! Measures Mattes windows: a value, and a value with its derivative.

use mireg::backend::{Affine, Backend, MattesImages, Windows};
use mireg::{Result, metric};

use super::clock::{median, repeat};
use super::subject::{Subject, range};
use crate::bench::choices::Data;
use crate::bench::rows::Mattes;

/// Measures for about `budget` seconds. Returns `None` if there are too few bins.
pub fn measure(
    backend: &dyn Backend,
    subject: &Subject,
    (data, bins, both): (Data, u32, bool),
    map: &Affine,
    budget: f64,
) -> Result<Option<Mattes>> {
    if bins < metric::Mattes::LEAST_BINS {
        return Ok(None);
    }
    let windows = if both { Windows::Both } else { Windows::Moving };
    let [fixed, moving] = &subject.volumes;
    let images = MattesImages::new((fixed, range(fixed)), (moving, range(moving)), bins, windows);
    let mut evaluator = backend.load_mattes(images.pair())?;
    let value = median(&repeat(0.25 * budget, 1, || evaluator.values(&[*map]))?);
    let slope = median(&repeat(0.25 * budget, 1, || evaluator.slope(map))?);
    let times = (0.25 * budget / slope).clamp(1.0, 1000.0) as u32;
    let device_seconds = evaluator.seconds(map, times)?;
    Ok(Some(Mattes { data, both, bins, fixed_size: images.fixed.size, seconds: [value, slope], device_seconds }))
}
