//! Steps that are queued as a whole: on coarse levels a launch takes longer than its kernel.

use crate::backend::flow::{FlowStep, Relation};
use crate::backend::queue::Queue;

/// What was recorded: a step, the weights of its forces, and what was looked at before it, if that is part of it.
#[derive(PartialEq)]
struct Key {
    relations: Vec<Relation>,
    weights: Vec<f64>,
    step: FlowStep,
}

/// The launches of a step.
pub struct Recorded<Q: Queue> {
    /// Which one.
    of: Option<Key>,
    /// With the field in one of its two memories, and in the other.
    graphs: [Option<Q::Graph>; 2],
}

impl<Q: Queue> Recorded<Q> {
    /// Of no step yet.
    pub fn new() -> Self {
        Self { of: None, graphs: [None, None] }
    }

    /// Where those of looking by these relations and then a step whose forces have these weights are remembered, or without relations those of
    /// the step alone; those of another one are forgotten. `exchanged`: in which of its memories the field is.
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
