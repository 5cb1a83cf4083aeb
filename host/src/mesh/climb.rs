//! Steepest ascent of a mesh's corners: Lin & Medioni, sections 4 and 5.

use super::objective::Objective;
use crate::observer::go_on;
use crate::optimizer::Stopped;
use crate::transform::mesh::{corners as corners_of, twice_area};
use crate::{Observer, Result};
use glam::DVec2;

/// The first step of a search along the gradient, pixels that the fastest corner moves by.
const FIRST: f64 = 0.1;
/// The least step: where this one brings nothing, the climb is over.
const LEAST: f64 = FIRST / 16.0;
/// The part of all that was gained which an iteration must bring to be followed by another.
const WORTH: f64 = 0.01;
/// Rounds by which the direction is smoothed over neighbours.
const ROUNDS: usize = 2;
/// A triangle is never made smaller than this part of what the start makes of it.
const LEAST_AREA: f64 = 0.2;

/// Where a climb ended.
pub struct Climb {
    /// Pixels of the moving picture.
    pub corners: Vec<DVec2>,
    pub iterations: usize,
    /// The mean mutual information of the triangles at the start and after each iteration, nats.
    pub trace: Vec<f64>,
    pub stopped: Stopped,
}

/// Triangles that may not fold.
pub struct Guard {
    pub triangles: Vec<[u32; 3]>,
    /// Twice the area of each at the start of the registration, pixels.
    pub areas: Vec<f64>,
}

/// Climbs from `corners`: along the gradient by a step that is doubled while that brings more, `iterations` times at most.
pub fn climb(
    objective: &mut Objective,
    guard: &Guard,
    mut corners: Vec<DVec2>,
    iterations: usize,
    observer: &dyn Observer,
) -> Result<Climb> {
    let (mut value, mean, mut slope) = objective.slope(&corners)?;
    let first = value;
    let mut trace = vec![mean];
    let mut stopped = Stopped::Exhausted;
    while trace.len() <= iterations {
        go_on(observer)?;
        let Some(direction) = direction(objective, slope) else { return Ok(end(corners, trace, Stopped::Converged)) };
        let Some(better) = search(objective, guard, &corners, &direction, value)? else {
            stopped = Stopped::Converged;
            break;
        };
        corners = better;
        let before = value;
        let mean;
        (value, mean, slope) = objective.slope(&corners)?;
        trace.push(mean);
        observer.evaluated(trace.len() - 1, mean);
        if value - before < WORTH * (value - first) {
            stopped = Stopped::Converged;
            break;
        }
    }
    Ok(end(corners, trace, stopped))
}

fn end(corners: Vec<DVec2>, trace: Vec<f64>, stopped: Stopped) -> Climb {
    Climb { corners, iterations: trace.len() - 1, trace, stopped }
}

/// The gradient as a mean over what meets in each corner (section 4), smoothed over neighbours so that corners without samples go along;
/// the longest is 1. None where all are 0.
fn direction(objective: &Objective, slope: Vec<DVec2>) -> Option<Vec<DVec2>> {
    let links = &objective.links;
    let mean = slope.iter().zip(&links.degrees).map(|(&slope, degree)| slope / degree).collect();
    let direction = (0..ROUNDS).fold(mean, |direction: Vec<DVec2>, _| links.smoothed(&direction));
    let longest = direction.iter().map(|d| d.length()).fold(0.0, f64::max);
    longest.is_normal().then(|| direction.iter().map(|&d| d / longest).collect())
}

/// The best corners along a direction, by steps that are doubled while the value rises, or halved while it does not; none where even the
/// least step brings nothing.
fn search(
    objective: &mut Objective,
    guard: &Guard,
    corners: &[DVec2],
    direction: &[DVec2],
    value: f64,
) -> Result<Option<Vec<DVec2>>> {
    let (mut step, mut best) = (FIRST, (value, None));
    loop {
        let there = guard.advance(corners, direction, step);
        let value = objective.value(&there)?;
        match (value > best.0, &best.1) {
            (true, _) => {
                best = (value, Some(there));
                if step < FIRST {
                    return Ok(best.1);
                }
                step *= 2.0;
            }
            (false, None) if step > LEAST && step <= FIRST => step /= 2.0,
            (false, _) => return Ok(best.1),
        }
    }
}

impl Guard {
    /// The corners after a step, but for those of triangles that it would fold or nearly fold: they stay.
    fn advance(&self, corners: &[DVec2], direction: &[DVec2], step: f64) -> Vec<DVec2> {
        let mut moved: Vec<DVec2> = corners.iter().zip(direction).map(|(&at, &d)| at + step * d).collect();
        loop {
            let mut kept = false;
            for (triangle, &area) in self.triangles.iter().zip(&self.areas) {
                let part = |points: &[DVec2]| twice_area(corners_of(points, triangle)) / area;
                let now = part(&moved);
                if now < LEAST_AREA && now < part(corners) {
                    triangle.iter().for_each(|&corner| moved[corner as usize] = corners[corner as usize]);
                    kept = true;
                }
            }
            if !kept {
                return moved;
            }
        }
    }
}
