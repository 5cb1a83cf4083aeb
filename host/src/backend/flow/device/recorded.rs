//! Steps that are queued as a whole: on coarse levels a launch takes longer than its kernel.

use crate::backend::flow::FlowStep;
use crate::backend::queue::Queue;

/// The launches of a step.
pub struct Recorded<Q: Queue> {
    /// Which one.
    step: Option<FlowStep>,
    /// With the field in one of its two memories, and in the other.
    graphs: [Option<Q::Graph>; 2],
}

impl<Q: Queue> Recorded<Q> {
    /// Of no step yet.
    pub fn new() -> Self {
        Self { step: None, graphs: [None, None] }
    }

    /// Where those of a step are remembered; those of another one are forgotten. `exchanged`: in which of its memories the field is.
    pub fn of(&mut self, step: &FlowStep, exchanged: bool) -> &mut Option<Q::Graph> {
        if self.step != Some(*step) {
            *self = Self { step: Some(*step), ..Self::new() };
        }
        &mut self.graphs[usize::from(exchanged)]
    }
}
