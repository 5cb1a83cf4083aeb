//! Tests that all optimizers must pass, on functions (hills) with known maxima.

use super::{Maximum, Objective, OptimizerKind, Problem, Slope, Stopped};
use crate::{Error, Result};
use strum::VariantArray;

const RESOLUTION: f64 = 0.01;
const COUNTS: [usize; 4] = [1, 3, 6, 12];

type Height = fn(&[f64]) -> f64;

/// A function to maximise, and the batches at which it was evaluated.
struct Hill {
    height: Height,
    asked: Vec<Vec<Vec<f64>>>,
}

impl Hill {
    fn new(height: Height) -> Self {
        Self { height, asked: Vec::new() }
    }

    fn points(&self) -> Vec<&Vec<f64>> {
        self.asked.iter().flatten().collect()
    }
}

impl Objective for Hill {
    fn values(&mut self, points: &[Vec<f64>]) -> Result<Vec<f64>> {
        self.asked.push(points.to_vec());
        Ok(points.iter().map(|point| (self.height)(&away(point))).collect())
    }

    fn slope(&mut self, point: &[f64]) -> Result<Slope> {
        let value = self.values(&[point.to_vec()])?[0];
        Ok(Slope { value, by: slope(self.height, &away(point)) })
    }
}

/// The gradient by central differences; for the noisy hill, of the hill without noise.
fn slope(height: Height, away: &[f64]) -> Vec<f64> {
    let smooth = if std::ptr::fn_addr_eq(height, noisy as Height) { sphere } else { height };
    let at = |i: usize, step: f64| {
        let mut moved = away.to_vec();
        moved[i] += step;
        smooth(&moved)
    };
    (0..away.len()).map(|i| (at(i, 1e-5) - at(i, -1e-5)) / 2e-5).collect()
}

/// The vector from the maximum to a point. The maximum is at a position that steps of 1, halved repeatedly, do not
/// reach.
fn away(point: &[f64]) -> Vec<f64> {
    point.iter().zip([3.1, -2.3, 1.7].into_iter().cycle()).map(|(p, top)| p - top).collect()
}

fn sphere(away: &[f64]) -> f64 {
    -away.iter().map(|a| a * a).sum::<f64>()
}

/// A hill that is ten times flatter along (1, 1, 1, ...) than across.
fn ridge(away: &[f64]) -> f64 {
    let along = away.iter().sum::<f64>() / (away.len() as f64).sqrt();
    sphere(away) + 0.9 * along * along
}

/// A hill with a curved ridge, along which it is ten times flatter than across.
fn banana(away: &[f64]) -> f64 {
    let bent = |[a, b]: [f64; 2]| -0.1 * a * a - (b - 0.2 * a * a) * (b - 0.2 * a * a);
    let (pairs, rest) = away.as_chunks();
    pairs.iter().copied().map(bent).sum::<f64>() + sphere(rest)
}

/// A hill like a metric of counts: in steps, and with random differences between neighbours.
fn noisy(away: &[f64]) -> f64 {
    let chance = (away.iter().sum::<f64>() * 1e3).sin();
    ((sphere(away) + 2e-3 * chance) * 1e3).round() * 1e-3
}

/// A hill that is flat within 1 of the maximum, and further than 20 from it.
fn plateau(away: &[f64]) -> f64 {
    sphere(away).clamp(-400.0, -1.0)
}

const HILLS: [(&str, Height); 5] =
    [("sphere", sphere), ("ridge", ridge), ("banana", banana), ("noisy", noisy), ("plateau", plateau)];

fn problem(count: usize) -> Problem {
    Problem { start: vec![0.0; count], step: 1.0, resolution: RESOLUTION, evaluations: 20_000, shape: None }
}

/// Runs an optimizer, and checks what must hold for every run.
fn climb(kind: OptimizerKind, hill: &mut Hill, problem: &Problem) -> Maximum {
    let found = kind.optimizer().maximise(hill, problem).unwrap();
    assert_eq!(found.evaluations, hill.points().len(), "{kind:?}");
    assert!(hill.points().contains(&&found.parameters), "{kind:?} ended where it never was");
    assert_eq!(found.value, (hill.height)(&away(&found.parameters)), "{kind:?}");
    assert!(found.value >= (hill.height)(&away(&problem.start)), "{kind:?} ended below the start");
    found
}

/// Calls `check` for each optimizer on each hill with each number of parameters.
fn each(check: impl Fn(OptimizerKind, Height, usize, &str)) {
    for &kind in OptimizerKind::VARIANTS {
        for (name, height) in HILLS {
            for count in COUNTS {
                check(kind, height, count, &format!("{kind:?}, {name}, {count} parameters"));
            }
        }
    }
}

#[test]
fn each_finds_the_top_and_says_so() {
    each(|kind, height, count, case| {
        let found = climb(kind, &mut Hill::new(height), &problem(count));
        let below = height(&vec![0.0; count]) - found.value;
        assert!(below < 0.01, "{case}: {below} below the top");
        assert_eq!(found.stopped, Stopped::Converged, "{case}");
    });
}

#[test]
fn each_asks_the_same_again() {
    each(|kind, height, count, case| {
        let run = || {
            let mut hill = Hill::new(height);
            (climb(kind, &mut hill, &problem(count)), hill.asked)
        };
        assert!(run() == run(), "{case}");
    });
}

#[test]
fn none_asks_on_beyond_the_limit() {
    each(|kind, height, count, case| {
        let enough = climb(kind, &mut Hill::new(height), &problem(count)).evaluations;
        for evaluations in [0, 1, 2, enough / 4, enough / 2] {
            let mut hill = Hill::new(height);
            let found = climb(kind, &mut hill, &Problem { evaluations, ..problem(count) });
            let last = hill.asked.last().map_or(0, Vec::len);
            assert!(hill.asked.len() == 1 || hill.points().len() - last < evaluations, "{case}: {found:?}");
            assert!(found.evaluations >= evaluations, "{case}: {found:?}");
            assert_eq!(found.stopped, Stopped::Exhausted, "{case}");
        }
    });
}

#[test]
fn nothing_moves_on_flat_ground() {
    for &kind in OptimizerKind::VARIANTS {
        for count in COUNTS {
            let flat = Problem { start: vec![100.0; count], ..problem(count) };
            let found = climb(kind, &mut Hill::new(plateau), &flat);
            assert_eq!((found.parameters, found.stopped), (flat.start, Stopped::Converged), "{kind:?}");
        }
    }
}

#[test]
fn powell_asks_nowhere_twice() {
    let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < RESOLUTION);
    for (name, height) in HILLS {
        for count in COUNTS {
            let mut hill = Hill::new(height);
            climb(OptimizerKind::Powell, &mut hill, &problem(count));
            let points = hill.points();
            for (i, a) in points.iter().enumerate() {
                let again = points[..i].iter().find(|b| near(a, b));
                assert!(again.is_none(), "{name}: {a:?} is {again:?} again");
            }
        }
    }
}

/// An objective that fails after some batches.
struct Fails(usize);

impl Objective for Fails {
    fn values(&mut self, points: &[Vec<f64>]) -> Result<Vec<f64>> {
        self.0 = self.0.checked_sub(1).ok_or_else(|| Error::device("cuda", "gone"))?;
        Ok(points.iter().map(|point| sphere(&away(point))).collect())
    }

    fn slope(&mut self, point: &[f64]) -> Result<Slope> {
        let value = self.values(&[point.to_vec()])?[0];
        Ok(Slope { value, by: slope(sphere, &away(point)) })
    }
}

#[test]
fn a_failure_ends_the_search() {
    for &kind in OptimizerKind::VARIANTS {
        for batches in [0, 1, 2] {
            let failure = kind.optimizer().maximise(&mut Fails(batches), &problem(3)).unwrap_err();
            assert_eq!(failure.to_string(), "gone", "{kind:?}");
        }
    }
}

/// An objective without derivatives.
struct Rough;

impl Objective for Rough {
    fn values(&mut self, points: &[Vec<f64>]) -> Result<Vec<f64>> {
        Ok(vec![0.0; points.len()])
    }
}

#[test]
fn those_that_follow_a_gradient_say_that_they_need_one() {
    for kind in OptimizerKind::VARIANTS.iter().filter(|kind| kind.needs_gradient()) {
        let refused = kind.optimizer().maximise(&mut Rough, &problem(3)).unwrap_err();
        assert!(
            matches!(&refused, Error::Option { message, .. } if message.to_string().contains("gradient")),
            "{kind:?}: {refused}"
        );
    }
}
