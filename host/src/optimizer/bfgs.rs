//! The quasi-Newton method of Broyden, Fletcher, Goldfarb and Shanno (1970) in a trust region.
//!
//! Each step leads to the maximum of a quadratic model within the trust region, and the model learns from the gradient
//! there. A search begins with the model of an earlier one, if that has a maximum, else with a model whose maximum lies
//! [`Problem::step`] away along the gradient. Its first step also rescales the model, since the metric of finer images
//! bends more. The search ends when the trust region is smaller than the resolution, or when the next step would be
//! shorter than the resolution and the last one rose as predicted.
//!
//! `argmin`'s solver of that name is not used. Its line searches evaluate a point or two more on every level, and it
//! ends by the length of the gradient and not by that of steps.

use super::quadratic::Quadratic;
use super::search::{Halt, Search};
use super::vectors::{along, norm};
use super::{Maximum, Objective, Optimizer, Problem};
use crate::Result;
use std::ops::Range;

/// The first radius of the trust region, in units of [`Problem::step`], and the largest.
const FIRST: f64 = 2.0;
const LARGEST: f64 = 4.0;
/// The trust region shrinks to half the step if the value rises by less than this fraction of what the model predicts.
const POOR: f64 = 0.25;
/// It grows to twice the step if the value rises by more than this fraction.
const GOOD: f64 = 0.75;
/// A rise is as predicted if it is the prediction times a factor in this range.
const AS_PREDICTED: Range<f64> = 0.5..2.0;

/// Quasi-Newton steps in a trust region.
#[derive(Debug, Clone, Copy)]
pub struct Bfgs;

impl Optimizer for Bfgs {
    fn maximise(&self, objective: &mut dyn Objective, problem: &Problem) -> Result<Maximum> {
        let (mut search, slope) = Search::on_slope(objective, problem)?;
        let mut model = match problem.shape.clone().filter(Quadratic::is_concave) {
            Some(shape) => shape.with_gradient(slope.by),
            None => Quadratic::round(slope.by, problem.step),
        };
        let outcome = climb(&mut search, &mut model, problem);
        Ok(Maximum { shape: Some(model), ..search.end(outcome)? })
    }
}

fn climb(search: &mut Search, model: &mut Quadratic, problem: &Problem) -> Result<(), Halt> {
    let (mut radius, mut is_first, mut as_predicted) = (FIRST * problem.step, true, false);
    while radius >= problem.resolution {
        let step = model.step(radius);
        let length = norm(&step);
        // The gradient may be 0 or not a number.
        if length.is_nan() || length == 0.0 || as_predicted && length < problem.resolution {
            break;
        }
        let start = search.best().clone();
        let there = search.slope(&along(&start.parameters, &step, 1.0))?;
        let rise = there.value - start.value;
        let share = rise / model.rise(&step);
        let here = model.gradient().to_vec();
        if is_first {
            *model = model.clone().rescaled(&there.by, &step);
        }
        let learnt = model.clone().with_gradient(there.by).learnt(&here, &step);
        // A step that fails teaches the model how it bends, too.
        *model = if rise > 0.0 { learnt } else { learnt.with_gradient(here) };
        if share < POOR {
            radius = 0.5 * length;
        } else if share > GOOD {
            radius = radius.max((2.0 * length).min(LARGEST * problem.step));
        }
        (is_first, as_predicted) = (false, AS_PREDICTED.contains(&share));
    }
    Ok(())
}
