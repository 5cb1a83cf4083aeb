//! Maximisation along a line: growing steps find a bracket, and Brent's method of parabolas and golden sections refines
//! it.

const GOLDEN: f64 = 0.381_966_011_250_105_1;

/// Finds a maximum of `value` near 0, and returns its position and value. `at_zero` is the value at 0, `step` the first
/// step, and `tolerance` the distance below which positions count as the same.
///
/// # Errors
/// Those of `value`.
pub fn maximise<E>(
    mut value: impl FnMut(f64) -> Result<f64, E>,
    at_zero: f64,
    step: f64,
    tolerance: f64,
) -> Result<(f64, f64), E> {
    let bracket = bracket(&mut value, at_zero, step)?;
    refine(&mut value, bracket, tolerance)
}

/// Three positions in order, of which the middle one has the largest value.
struct Bracket {
    low: f64,
    middle: f64,
    high: f64,
    /// The value at the middle position.
    value: f64,
}

/// The most steps of a bracket. Each is 1.6 times as long as the one before, so the last is about 100 times the first.
const STEPS: usize = 10;

fn bracket<E>(value: &mut impl FnMut(f64) -> Result<f64, E>, at_zero: f64, step: f64) -> Result<Bracket, E> {
    let mut step = step;
    let mut behind = 0.0;
    let mut here = (step, value(step)?);
    if here.1 <= at_zero {
        let other = value(-step)?;
        if other <= at_zero {
            return Ok(Bracket { low: -step, middle: 0.0, high: step, value: at_zero });
        }
        here = (-step, other);
        step = -step;
    }
    for _ in 0..STEPS {
        step *= 1.6;
        let ahead = here.0 + step;
        let next = value(ahead)?;
        if next <= here.1 {
            return Ok(Bracket { low: behind, middle: here.0, high: ahead, value: here.1 }.ordered());
        }
        behind = here.0;
        here = (ahead, next);
    }
    Ok(Bracket { low: behind, middle: here.0, high: here.0, value: here.1 }.ordered())
}

impl Bracket {
    fn ordered(self) -> Self {
        if self.low <= self.high { self } else { Self { low: self.high, high: self.low, ..self } }
    }
}

/// Brent's method (1973, chapter 5) on a bracket, with an absolute tolerance.
fn refine<E>(value: &mut impl FnMut(f64) -> Result<f64, E>, bracket: Bracket, tolerance: f64) -> Result<(f64, f64), E> {
    let Bracket { mut low, mut high, .. } = bracket;
    // The best point, the second best, and the previous second best.
    let mut best = (bracket.middle, bracket.value);
    let (mut second, mut third) = (best, best);
    let (mut last, mut before_last) = (0.0_f64, 0.0_f64);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if (best.0 - middle).abs() <= 2.0 * tolerance - 0.5 * (high - low) {
            break;
        }
        let parabola = parabola(best, second, third).filter(|step| {
            let target = best.0 + step;
            step.abs() < 0.5 * before_last.abs() && target > low + tolerance && target < high - tolerance
        });
        (before_last, last) = match parabola {
            Some(step) => (last, step),
            None => {
                let side = if best.0 >= middle { low - best.0 } else { high - best.0 };
                (side, GOLDEN * side)
            }
        };
        let step = if last.abs() >= tolerance { last } else { tolerance.copysign(last) };
        let trial = (best.0 + step, value(best.0 + step)?);
        if trial.1 >= best.1 {
            if trial.0 >= best.0 {
                low = best.0
            } else {
                high = best.0
            }
            (third, second, best) = (second, best, trial);
        } else {
            if trial.0 < best.0 {
                low = trial.0
            } else {
                high = trial.0
            }
            if trial.1 >= second.1 || second.0 == best.0 {
                (third, second) = (second, trial);
            } else if trial.1 >= third.1 || third.0 == best.0 || third.0 == second.0 {
                third = trial;
            }
        }
    }
    Ok(best)
}

/// The step from the best point to the vertex of the parabola through three points.
fn parabola(best: (f64, f64), second: (f64, f64), third: (f64, f64)) -> Option<f64> {
    let r = (best.0 - second.0) * (best.1 - third.1);
    let q = (best.0 - third.0) * (best.1 - second.1);
    let numerator = (best.0 - third.0) * q - (best.0 - second.0) * r;
    let denominator = 2.0 * (q - r);
    (denominator != 0.0).then(|| -numerator / denominator)
}

#[cfg(test)]
mod tests {
    use super::maximise;
    use std::convert::Infallible;

    #[test]
    fn finds_the_top_of_smooth_and_of_pointed_hills() {
        for (top, step) in [(0.0, 1.0), (3.7, 0.5), (-40.0, 1.0), (0.02, 2.0)] {
            for hill in [|x: f64| -x * x, |x: f64| -x.abs().sqrt(), |x: f64| (-x * x / 1e4).exp()] {
                let at = |x: f64| hill(x - top);
                let (found, value) = maximise(|x| Ok::<_, Infallible>(at(x)), at(0.0), step, 1e-3).unwrap();
                assert!((found - top).abs() < 4e-3, "{found}, not {top}");
                assert_eq!(value, at(found));
            }
        }
    }

    #[test]
    fn never_ends_below_the_start() {
        let jagged = |x: f64| (x * 17.0).sin() - 0.1 * x.abs();
        let (_, value) = maximise(|x| Ok::<_, Infallible>(jagged(x)), jagged(0.0), 0.3, 1e-2).unwrap();
        assert!(value >= jagged(0.0));
    }
}
