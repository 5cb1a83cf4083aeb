//! Recorded steps, whose launches are queued all at once. On coarse levels launching a kernel takes longer than running
//! it.

use crate::backend::flow::{FlowStep, Relation};
use crate::backend::queue::Queue;

/// Identifies a recording: the step, the weights of its forces, and the relations that are measured before the step
/// (empty if none are).
#[derive(PartialEq)]
struct Key {
    relations: Vec<Relation>,
    weights: Vec<f64>,
    step: FlowStep,
}

/// The recorded launches of a step.
pub struct Recorded<Q: Queue> {
    /// What was recorded.
    of: Option<Key>,
    /// One graph for each of the two memories that the field can be in.
    graphs: [Option<Q::Graph>; 2],
}

impl<Q: Queue> Recorded<Q> {
    /// Nothing recorded yet.
    pub fn new() -> Self {
        Self { of: None, graphs: [None, None] }
    }

    /// Returns the slot for the graph of one step with these weights, preceded by measuring `relations` if there are
    /// any. Graphs of a different step are dropped. `exchanged` says in which of its two memories the field is.
    pub fn launches(
        &mut self,
        (relations, weights, step): (&[Relation], &[f64], &FlowStep),
        exchanged: bool,
    ) -> &mut Option<Q::Graph> {
        let of = Key { relations: relations.to_vec(), weights: weights.to_vec(), step: *step };
        if self.of.as_ref() != Some(&of) {
            *self = Self { of: Some(of), ..Self::new() };
        }
        &mut self.graphs[usize::from(exchanged)]
    }
}
