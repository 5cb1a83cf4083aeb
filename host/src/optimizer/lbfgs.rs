//! L-BFGS (Liu & Nocedal 1989) with the line search of Moré & Thuente (1994), both from `argmin`. That minimises, so it
//! gets values and gradients with the opposite sign.
//!
//! This adds step lengths in mm and conditions to end. The first step of a run is [`Problem::step`] long, and no step
//! is longer than four times that. The search ends when a step is shorter than the resolution, or when the first step
//! of a run, along the gradient, does not improve the value. If a later step does not, another run starts from the best
//! point, without memory and with a first step of half the length.

use super::search::{Halt, Search};
use super::{Maximum, Objective, Optimizer, Problem, Slope, vectors};
use crate::Result;
use argmin::core::{CostFunction, Gradient, IterState, KV, LineSearch, Problem as Counted, Solver, State as _};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use std::cell::RefCell;

/// The number of previous steps that L-BFGS uses.
const MEMORY: usize = 7;
/// The longest step, in units of [`Problem::step`].
const LONGEST: f64 = 4.0;
/// The relative accuracy of a line search. Quasi-Newton steps need no more.
const WIDTH: f64 = 0.1;

/// Quasi-Newton steps from the gradients of the last few points.
#[derive(Debug, Clone, Copy)]
pub struct Lbfgs;

impl Optimizer for Lbfgs {
    fn maximise(&self, objective: &mut dyn Objective, problem: &Problem) -> Result<Maximum> {
        let (search, slope) = Search::on_slope(objective, problem)?;
        let start = (problem.start.clone(), slope);
        let descent = Descent { search: search.into(), known: vec![start].into(), halt: None.into() };
        climb(&descent, problem);
        descent.search.into_inner().end(descent.halt.into_inner().map_or(Ok(()), Err))
    }
}

/// Adapts the objective to argmin, which shares it, asks for values and gradients separately, and drops errors in line
/// searches.
struct Descent<'a> {
    search: RefCell<Search<'a>>,
    /// Evaluated points of the present line search, and the best point.
    known: RefCell<Vec<(Vec<f64>, Slope)>>,
    halt: RefCell<Option<Halt>>,
}

impl Descent<'_> {
    /// The value and gradient at a point, which are evaluated if they are not known.
    fn slope(&self, point: &[f64]) -> Result<Slope, argmin::core::Error> {
        let mut known = self.known.borrow_mut();
        if let Some((_, slope)) = known.iter().find(|(known, _)| known == point) {
            return Ok(slope.clone());
        }
        match self.search.borrow_mut().slope(point) {
            Ok(slope) => {
                known.push((point.to_vec(), slope.clone()));
                Ok(slope)
            }
            Err(halt) => {
                self.halt.replace(Some(halt));
                Err(argmin::core::Error::msg("halted"))
            }
        }
    }

    fn halted(&self) -> bool {
        self.halt.borrow().is_some()
    }

    /// Forgets all points but the best, and returns that.
    fn settle(&self) -> Vec<f64> {
        let best = self.search.borrow().best().parameters.clone();
        self.known.borrow_mut().retain(|(point, _)| *point == best);
        best
    }
}

/// Repeats runs until one converges, or the first step of the next would be shorter than the resolution.
fn climb(descent: &Descent, problem: &Problem) {
    let mut first = problem.step;
    while first >= problem.resolution {
        match run(descent, first, problem) {
            Ok(true) | Err(_) => return,
            Ok(false) => first *= 0.5,
        }
    }
}

/// One run of argmin's solver. Returns whether the search is to end.
fn run(descent: &Descent, first: f64, problem: &Problem) -> Result<bool, argmin::core::Error> {
    let start = descent.settle();
    let mut solver = LBFGS::new(Line::new(first, problem)?, MEMORY);
    let mut counted = Counted::new(descent);
    let (mut state, _) = solver.init(&mut counted, State::new().param(start.clone()))?;
    let (mut point, mut cost) = (start, state.get_cost());
    loop {
        (state, _) = solver.next_iter(&mut counted, state)?;
        if descent.halted() {
            return Ok(true);
        }
        let begun = state.get_iter() == 0;
        let Some(next) = state.get_param().filter(|_| state.get_cost() < cost).cloned() else { return Ok(begun) };
        if !begun && vectors::distance(&point, &next) < problem.resolution {
            return Ok(true);
        }
        (point, cost) = (next, state.get_cost());
        state.increment_iter();
        descent.settle();
    }
}

type State = IterState<Vec<f64>, Vec<f64>, (), (), (), f64>;

impl CostFunction for &Descent<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, point: &Vec<f64>) -> Result<f64, argmin::core::Error> {
        Ok(-self.slope(point)?.value)
    }
}

impl Gradient for &Descent<'_> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, point: &Vec<f64>) -> Result<Vec<f64>, argmin::core::Error> {
        Ok(self.slope(point)?.by.iter().map(|by| -by).collect())
    }
}

/// Moré & Thuente's line search along directions of length 1, so that its step lengths are in mm.
#[derive(Clone)]
struct Line {
    search: MoreThuenteLineSearch<Vec<f64>, Vec<f64>, f64>,
    /// The length of the first step of the next line search, if it is not the length of the direction.
    first: Option<f64>,
    longest: f64,
}

impl Line {
    fn new(first: f64, problem: &Problem) -> Result<Self, argmin::core::Error> {
        let longest = LONGEST * problem.step;
        let search = MoreThuenteLineSearch::new().with_bounds(WIDTH * problem.resolution, longest)?;
        Ok(Self { search: search.with_width_tolerance(WIDTH)?, first: Some(first), longest })
    }
}

impl LineSearch<Vec<f64>, f64> for Line {
    fn search_direction(&mut self, direction: Vec<f64>) {
        let length = self.first.take().unwrap_or_else(|| vectors::norm(&direction)).min(self.longest);
        // Only a length of 0 is refused, and then the direction is refused too.
        let _ = self.search.initial_step_length(length);
        self.search.search_direction(vectors::direction(&direction).unwrap_or(direction));
    }

    fn initial_step_length(&mut self, length: f64) -> Result<(), argmin::core::Error> {
        self.search.initial_step_length(length)
    }
}

impl<O> Solver<O, State> for Line
where
    O: CostFunction<Param = Vec<f64>, Output = f64> + Gradient<Param = Vec<f64>, Gradient = Vec<f64>>,
{
    fn name(&self) -> &str {
        "line search in mm"
    }

    fn init(&mut self, problem: &mut Counted<O>, state: State) -> Stepped {
        self.search.init(problem, state)
    }

    fn next_iter(&mut self, problem: &mut Counted<O>, state: State) -> Stepped {
        self.search.next_iter(problem, state)
    }
}

type Stepped = Result<(State, Option<KV>), argmin::core::Error>;
