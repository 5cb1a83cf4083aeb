//! Seconds by the wall clock.

use std::time::{Duration, Instant};

use mireg::Result;

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

/// Returns the median of sorted numbers, of which there is at least one.
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
