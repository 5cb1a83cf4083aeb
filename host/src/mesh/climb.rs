//! Moves a mesh's corners by gradient ascent: Lin & Medioni, sections 4 and 5.

use super::objective::Objective;
use crate::observer::ask_observer;
use crate::optimizer::Stopped;
use crate::transform::mesh::{corners as corners_of, twice_area};
use crate::{Observer, Result};
use glam::DVec2;

/// The first step of a line search, in pixels that the fastest corner moves by.
const FIRST: f64 = 0.1;
/// The shortest step. If it brings no gain, the ascent is over.
const LEAST: f64 = FIRST / 16.0;
/// The fraction of the gain so far that an iteration must add for another one to follow.
const WORTH: f64 = 0.01;
/// How often the direction is smoothed over neighbours.
const ROUNDS: usize = 2;
/// The least area of a triangle, as a fraction of its area at the start of the registration.
const LEAST_AREA: f64 = 0.2;

/// Where an ascent ended.
pub struct Climb {
    /// In pixels of the moving picture.
    pub corners: Vec<DVec2>,
    pub iterations: usize,
    /// The mean mutual information of the triangles at the start and after each iteration, nats.
    pub trace: Vec<f64>,
    pub stopped: Stopped,
}

/// Keeps triangles from folding.
pub struct Guard {
    pub triangles: Vec<[u32; 3]>,
    /// Twice the area of each at the start of the registration, pixels.
    pub areas: Vec<f64>,
}

/// Moves the corners along the gradient, by a step that is doubled while the gain rises, in at most `iterations`
/// iterations.
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
        ask_observer(observer)?;
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

/// Returns the direction of the next step; the longest vector is 1. It is the gradient, divided by the number of each
/// corner's neighbours (section 4) and smoothed over them, so that corners without samples follow. Returns `None` if
/// all of it is 0.
fn direction(objective: &Objective, slope: Vec<DVec2>) -> Option<Vec<DVec2>> {
    let links = &objective.links;
    let mean = slope.iter().zip(&links.degrees).map(|(&slope, degree)| slope / degree).collect();
    let direction = (0..ROUNDS).fold(mean, |direction: Vec<DVec2>, _| links.smoothed(&direction));
    let longest = direction.iter().map(|d| d.length()).fold(0.0, f64::max);
    longest.is_normal().then(|| direction.iter().map(|&d| d / longest).collect())
}

/// Searches along a direction for better corners, by steps that are doubled while the value rises and halved while it
/// does not. Returns `None` if even the shortest step brings no gain.
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
    /// Moves the corners by a step. The corners of triangles that would fold, or nearly fold, stay where they are.
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
