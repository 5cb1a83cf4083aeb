//! Looks and steps that are queued as a whole: on coarse levels a launch takes longer than its kernel.

use crate::backend::flow::{FlowStep, Relation};
use crate::backend::queue::Queue;

/// The launches of a look and of a step.
pub struct Recorded<Q: Queue> {
    looks: Graphs<Relation, Q>,
    steps: Graphs<FlowStep, Q>,
}

/// Launches of one kind.
struct Graphs<K, Q: Queue> {
    /// What was recorded.
    of: Option<K>,
    /// With the field in one of its two memories, and in the other.
    graphs: [Option<Q::Graph>; 2],
}

impl<Q: Queue> Recorded<Q> {
    /// Of nothing yet.
    pub fn new() -> Self {
        Self { looks: Graphs::new(None), steps: Graphs::new(None) }
    }

    /// Where those of a look are remembered; those of another one are forgotten. `exchanged`: in which of its memories the field is.
    pub fn look(&mut self, relation: Relation, exchanged: bool) -> &mut Option<Q::Graph> {
        self.looks.of(relation, exchanged)
    }

    /// The same of a step.
    pub fn step(&mut self, step: &FlowStep, exchanged: bool) -> &mut Option<Q::Graph> {
        self.steps.of(*step, exchanged)
    }
}

impl<K: PartialEq, Q: Queue> Graphs<K, Q> {
    fn new(of: Option<K>) -> Self {
        Self { of, graphs: [None, None] }
    }

    fn of(&mut self, of: K, exchanged: bool) -> &mut Option<Q::Graph> {
        if self.of.as_ref() != Some(&of) {
            *self = Self::new(Some(of));
        }
        &mut self.graphs[usize::from(exchanged)]
    }
}
