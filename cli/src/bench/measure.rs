//! Seconds an evaluation.

use std::time::{Duration, Instant};

use gpu::params::Affine;
use mireg::Result;
use mireg::backend::{Evaluator, Wanted};
use serde::Serialize;

/// Transforms of a batch.
pub const BATCH: usize = 16;

/// What an evaluation takes, in seconds by the wall clock.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Timing {
    /// A whole evaluation of one transform: the median of all.
    pub seconds: f64,
    /// Evaluations measured.
    pub repeats: usize,
    /// A transform of a batch of [`BATCH`]: the median.
    pub batch_seconds: f64,
    /// The histogram alone by the device's clock, where it has one: the mean.
    pub histogram_seconds: Option<f64>,
    /// NMI at the first transform, which every method must agree on.
    pub nmi: f64,
}

impl Timing {
    /// Measures for about `budget` seconds, and longer where an evaluation takes long.
    pub fn new(evaluator: &mut dyn Evaluator, transforms: &[Affine], budget: f64) -> Result<Self> {
        let first = &transforms[..1];
        let nmi = evaluator.evaluate(first, Wanted::Entropies)?[0].nmi;
        let single = repeat(0.5 * budget, 3, || evaluator.evaluate(first, Wanted::Entropies))?;
        let batch = repeat(0.25 * budget, 1, || evaluator.evaluate(transforms, Wanted::Entropies))?;
        let seconds = median(&single);
        let times = (0.25 * budget / seconds).clamp(1.0, 1000.0) as u32;
        Ok(Self {
            seconds,
            repeats: single.len(),
            batch_seconds: median(&batch) / transforms.len() as f64,
            histogram_seconds: evaluator.histogram_seconds(&first[0], times)?,
            nmi,
        })
    }
}

/// Does `work` unmeasured for a tenth of the budget, then `least` times or until the budget is spent. Returns the seconds of each,
/// sorted.
pub fn repeat<T>(budget: f64, least: usize, mut work: impl FnMut() -> Result<T>) -> Result<Vec<f64>> {
    let started = Instant::now();
    let spent = |part: f64| started.elapsed() >= Duration::from_secs_f64(part * budget);
    work()?;
    while !spent(0.1) {
        work()?;
    }
    let mut seconds = Vec::new();
    while seconds.len() < least || !spent(1.0) {
        crate::interrupt::proceed()?;
        let before = Instant::now();
        work()?;
        seconds.push(before.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    Ok(seconds)
}

/// The middle of sorted numbers, of which there is at least one.
pub fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { 0.5 * (sorted[middle - 1] + sorted[middle]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!([median(&[3.0]), median(&[1.0, 2.0]), median(&[1.0, 5.0, 100.0])], [3.0, 1.5, 5.0]);
    }

    #[test]
    fn work_is_warmed_up_and_repeated_even_without_time() {
        let mut calls = 0;
        let seconds = repeat(0.0, 3, || {
            calls += 1;
            Ok(())
        });
        assert_eq!((seconds.unwrap().len(), calls), (3, 4));
    }
}
