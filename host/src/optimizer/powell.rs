//! Powell's method with a memory of evaluated points (Shams 2009, section 3.7).

use super::memory::Memory;
use super::search::Search;
use super::{Maximum, Objective, Optimizer, Problem, directions};
use crate::Result;

/// Powell's direction set method with a memory: no two evaluated points are within the resolution of each other.
#[derive(Debug, Clone, Copy)]
pub struct Powell;

impl Optimizer for Powell {
    fn maximise(&self, objective: &mut dyn Objective, problem: &Problem) -> Result<Maximum> {
        let mut search = Search::new(objective, problem)?;
        let start = search.best().clone();
        let mut memory = Memory::new(&mut search, problem.resolution);
        let outcome = directions::climb(&mut |point| memory.value(point), start, problem);
        search.end(outcome)
    }
}
