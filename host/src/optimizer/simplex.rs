//! Downhill simplex (Nelder & Mead 1965; Numerical Recipes, section 10.4), which Jung & Wesarg use for rigid
//! registration.
//!
//! argmin's solver of that name is not used. It ends by the spread of the values and not by lengths, has no limit of
//! evaluations, and evaluates one point at a time although all corners of a simplex can be evaluated in one batch.

use super::search::{Halt, Point, Search};
use super::{Maximum, Objective, Optimizer, Problem};
use crate::Result;

/// A simplex around the start, which is reflected towards the maximum and shrinks around it. Numerical Recipes restarts
/// the simplex where it ends. On heads that took at least half as many evaluations again and changed the error by at
/// most 0.03 mm, for better or worse, so it is not done; the next level starts a new simplex anyway.
#[derive(Debug, Clone, Copy)]
pub struct Simplex;

impl Optimizer for Simplex {
    fn maximise(&self, objective: &mut dyn Objective, problem: &Problem) -> Result<Maximum> {
        let mut search = Search::new(objective, problem)?;
        let outcome = climb(&mut search, problem);
        search.end(outcome)
    }
}

/// Searches from the start until all corners are within the resolution of the best.
fn climb(search: &mut Search, problem: &Problem) -> Result<(), Halt> {
    let mut corners = around(search, problem.step)?;
    loop {
        // The sort is stable, so of equal values the older comes first.
        corners.sort_by(|a, b| b.value.total_cmp(&a.value));
        if corners[1..].iter().all(|corner| near(corner, &corners[0], problem.resolution)) {
            return Ok(());
        }
        match flip(search, &corners)? {
            Some(better) => {
                corners.pop();
                corners.push(better);
            }
            None => shrink(search, &mut corners)?,
        }
    }
}

/// The corners of the first simplex: the start, and one step away from it along each parameter.
fn around(search: &mut Search, step: f64) -> Result<Vec<Point>, Halt> {
    let start = search.best().clone();
    let stepped = |i: usize| {
        let mut parameters = start.parameters.clone();
        parameters[i] += step;
        parameters
    };
    let mut corners = search.values((0..start.parameters.len()).map(stepped).collect())?;
    corners.insert(0, start);
    Ok(corners)
}

fn near(a: &Point, b: &Point, resolution: f64) -> bool {
    a.parameters.iter().zip(&b.parameters).all(|(a, b)| (a - b).abs() < resolution)
}

/// A point to replace the worst corner, which is the last: on the line from it through the centroid of the others.
/// `None` if no point tried is better.
fn flip(search: &mut Search, corners: &[Point]) -> Result<Option<Point>, Halt> {
    let (others, worst) = corners.split_at(corners.len() - 1);
    let middle = |i: usize| others.iter().map(|corner| corner.parameters[i]).sum::<f64>() / others.len() as f64;
    let away = |t: f64, i: usize, worst: f64| middle(i) + t * (middle(i) - worst);
    let mut at =
        |t: f64| search.value(worst[0].parameters.iter().enumerate().map(|(i, &worst)| away(t, i, worst)).collect());
    let flipped = at(1.0)?;
    if flipped.value > others[0].value {
        let stretched = at(2.0)?;
        return Ok(Some(if stretched.value > flipped.value { stretched } else { flipped }));
    }
    if flipped.value > others[others.len() - 1].value {
        return Ok(Some(flipped));
    }
    let (t, least) = if flipped.value > worst[0].value { (0.5, flipped.value) } else { (-0.5, worst[0].value) };
    Ok(Some(at(t)?).filter(|between| between.value > least))
}

/// Moves all corners except the best halfway towards the best.
fn shrink(search: &mut Search, corners: &mut Vec<Point>) -> Result<(), Halt> {
    let best = corners.swap_remove(0);
    let half = |corner: &Point| corner.parameters.iter().zip(&best.parameters).map(|(a, b)| 0.5 * (a + b)).collect();
    *corners = search.values(corners.iter().map(half).collect())?;
    corners.insert(0, best);
    Ok(())
}
