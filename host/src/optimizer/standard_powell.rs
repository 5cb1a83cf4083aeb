//! Powell's method without a memory, with which Shams 2009, section 4.2, compares: every point is evaluated.

use super::search::Search;
use super::{Maximum, Objective, Optimizer, Problem, directions};
use crate::Result;

/// Powell's direction set method without a memory. Line searches and the end condition are those of
/// [`Powell`](super::Powell), so the memory is the only difference.
#[derive(Debug, Clone, Copy)]
pub struct StandardPowell;

impl Optimizer for StandardPowell {
    fn maximise(&self, objective: &mut dyn Objective, problem: &Problem) -> Result<Maximum> {
        let mut search = Search::new(objective, problem)?;
        let start = search.best().clone();
        let mut value = |point: &[f64]| Ok(search.value(point.to_vec())?.value);
        let outcome = directions::climb(&mut value, start, problem);
        search.end(outcome)
    }
}
