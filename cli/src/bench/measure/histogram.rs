//! Measures joint histograms: whole evaluations, and counting alone.

use mireg::backend::{Affine, Backend, Evaluator, HistogramMethod, Pair, Wanted};
use mireg::{Error, Result};

use super::clock::{median, repeat};
use crate::arguments::interpolation::Interpolation;
use crate::bench::choices::Data;
use crate::bench::rows::{HistogramRow, Numbers, Timing};
use crate::flags;

/// Returns the row of a case that has not been measured yet.
pub fn row(method: HistogramMethod, data: Data, interpolation: Interpolation, pair: &Pair) -> HistogramRow {
    HistogramRow {
        method: method.name(),
        counted_by: None,
        bins: pair.bins[0],
        interpolation,
        data,
        fixed_size: pair.fixed.size(),
        moving_size: pair.moving.size(),
        timing: None,
        reason: None,
    }
}

/// Measures a case. The row of a case that the method cannot do has no timing.
pub fn measure(
    row: HistogramRow,
    backend: &dyn Backend,
    pair: Pair,
    method: HistogramMethod,
    transforms: &[Affine],
    budget: f64,
) -> Result<HistogramRow> {
    match backend.load(pair, method) {
        Ok(mut evaluator) => Ok(HistogramRow {
            counted_by: Some(evaluator.method()),
            timing: Some(timing(&mut *evaluator, transforms, budget)?),
            ..row
        }),
        Err(Error::Option { message, .. }) => Ok(HistogramRow { reason: Some(flags::message(&message)), ..row }),
        Err(error) => Err(error),
    }
}

/// Measures for about `budget` seconds, and longer where an evaluation takes long.
fn timing(evaluator: &mut dyn Evaluator, transforms: &[Affine], budget: f64) -> Result<Timing> {
    let first = &transforms[..1];
    let nmi = evaluator.evaluate(first, Wanted::Entropies)?[0].nmi;
    let single = repeat(0.5 * budget, 3, || evaluator.evaluate(first, Wanted::Entropies))?;
    let batch = repeat(0.25 * budget, 1, || evaluator.evaluate(transforms, Wanted::Entropies))?;
    let seconds = median(&single);
    let times = (0.25 * budget / seconds).clamp(1.0, 1000.0) as u32;
    Ok(Timing {
        seconds,
        repeats: single.len(),
        batch_seconds: median(&batch) / transforms.len() as f64,
        histogram_seconds: evaluator.histogram_seconds(&first[0], times)?,
        nmi,
    })
}

/// Checks that all methods that counted a pair gave the same bits.
pub fn agree(rows: &[HistogramRow], backend: &'static str) -> Result<()> {
    let mut timed = rows.iter().filter_map(|row| Some((row, row.timing?.nmi)));
    let Some((first, nmi)) = timed.next() else { return Ok(()) };
    match timed.find(|(_, other)| other.to_bits() != nmi.to_bits()) {
        None => Ok(()),
        Some((other, _)) => Err(Error::device(
            backend,
            format!(
                "a kernel is wrong: {} and {} disagree on {} images with {} bins, {}; please report it",
                first.label(),
                other.label(),
                first.data.name(),
                first.bins,
                first.interpolation.name()
            ),
        )),
    }
}

/// Measures counting alone. Returns `None` if the device has no clock.
pub fn numbers(backend: &dyn Backend) -> Result<Option<Numbers>> {
    const BINS: u32 = 100;
    let mut state = 1_u32;
    let mut number = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state >> 8) % (BINS * BINS)) as u16
    };
    let numbers: Vec<u16> = (0..256 * 256 * 256).map(|_| number()).collect();
    let seconds = backend.numbers_seconds(&numbers, BINS * BINS, 100)?;
    Ok(seconds.map(|seconds| Numbers { numbers: numbers.len(), bins: BINS, seconds }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::rows::tests::row;

    #[test]
    fn methods_that_disagree_are_found() {
        let mut rows = vec![row("mbe", 64, None), row("tiled", 64, Some(1.0)), row("mbe-bc", 64, Some(2.0))];
        assert!(agree(&rows, "emulated").is_ok());
        rows[2].timing.as_mut().unwrap().nmi += f64::EPSILON;
        assert!(agree(&rows, "emulated").unwrap_err().to_string().contains("tiled and mbe-bc disagree"));
    }
}
