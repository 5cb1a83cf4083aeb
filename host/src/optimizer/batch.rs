//! Newton's method with finite differences from batches of evaluations, for backends that evaluate many transforms at
//! once.
//!
//! Each round evaluates both neighbours along every parameter in one batch, which gives the gradient and the diagonal
//! of the second derivatives. The first round also evaluates pairs of parameters, which gives the mixed derivatives.
//! Later rounds, and later searches that are given the shape, keep the correlations of the second derivatives and renew
//! only the diagonal. Then several lengths of the Newton step, limited to a trust region, are tried in one batch, and
//! the search continues from the best of all points.

use super::quadratic::Quadratic;
use super::search::{Halt, Point, Search};
use super::vectors::{along, distance};
use super::{Maximum, Objective, Optimizer, Problem};
use crate::Result;

/// The factors of the Newton step that are tried.
const LENGTHS: [f64; 4] = [0.5, 1.0, 1.5, 2.0];
/// The smallest factor by which the step shrinks from one round to the next.
const SHRINK: f64 = 0.25;

/// Newton's method on a quadratic through neighbouring points.
#[derive(Debug, Clone, Copy, Default)]
pub struct Batch {
    /// Whether steps in directions in which the model hardly bends are shorter than the trust region allows. The
    /// information of few samples has many local maxima, and longer steps end in others.
    pub cautious: bool,
}

impl Optimizer for Batch {
    fn maximise(&self, objective: &mut dyn Objective, problem: &Problem) -> Result<Maximum> {
        let mut search = Search::new(objective, problem)?;
        let mut shape = problem.shape.clone();
        let step = if self.cautious { Quadratic::cautious_step } else { Quadratic::step };
        let outcome = climb(&mut search, &mut shape, problem, step);
        Ok(Maximum { shape, ..search.end(outcome)? })
    }
}

fn climb(
    search: &mut Search,
    shape: &mut Option<Quadratic>,
    problem: &Problem,
    to_maximum: impl Fn(&Quadratic, f64) -> Vec<f64>,
) -> Result<(), Halt> {
    let mut step = problem.step;
    let mut before: Option<(Vec<f64>, Vec<f64>)> = None;
    while step >= problem.resolution {
        let start = search.best().clone();
        let mut model = model(search, shape.as_ref(), &start, step)?;
        if let Some((point, gradient)) = &before {
            model = model.learnt(gradient, &along(&start.parameters, point, -1.0));
        }
        before = Some((start.parameters.clone(), model.gradient().to_vec()));
        let newton = to_maximum(&model, 2.0 * step);
        *shape = Some(model);
        search.values(LENGTHS.map(|length| along(&start.parameters, &newton, length)).into())?;
        // The neighbours should be about as far away as the maximum is. A short move indicates a near maximum only if
        // the neighbours were near too, so the step shrinks at most by this factor.
        step = distance(&start.parameters, &search.best().parameters).clamp(SHRINK * step, step);
    }
    Ok(())
}

/// The quadratic through a point and its neighbours at a distance of `step`.
fn model(search: &mut Search, shape: Option<&Quadratic>, centre: &Point, step: f64) -> Result<Quadratic, Halt> {
    let (at, count) = (&centre.parameters, centre.parameters.len());
    let neighbours = (0..count).flat_map(|i| [step, -step].map(|s| moved(at, &[(i, s)])));
    let pairs: Vec<_> = match shape {
        Some(_) => Vec::new(),
        None => (0..count).flat_map(|i| (0..i).map(move |j| (i, j))).collect(),
    };
    let corners = pairs.iter().map(|&(i, j)| moved(at, &[(i, step), (j, step)]));
    let points = search.values(neighbours.chain(corners).collect())?;
    let (beside, across) = points.split_at(2 * count);
    let second = |sum: f64| sum / (step * step);
    let gradient = beside.chunks(2).map(|pair| (pair[0].value - pair[1].value) / (2.0 * step)).collect();
    let diagonal = beside.chunks(2).map(|pair| second(pair[0].value + pair[1].value - 2.0 * centre.value)).collect();
    if let Some(shape) = shape {
        return Ok(shape.renewed(gradient, diagonal));
    }
    let mixed = pairs.iter().zip(across).map(|(&(i, j), corner)| {
        let cross = corner.value - beside[2 * i].value - beside[2 * j].value + centre.value;
        ((i, j), second(cross))
    });
    Ok(Quadratic::new(gradient, diagonal, mixed))
}

/// A point with some of its coordinates moved.
fn moved(point: &[f64], by: &[(usize, f64)]) -> Vec<f64> {
    let mut point = point.to_vec();
    by.iter().for_each(|&(i, step)| point[i] += step);
    point
}
