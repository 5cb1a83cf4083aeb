//! What several forces add up to.

use super::grid::{FieldOnDevice, room};
use super::kernels::FLOW_ADD;
use super::launch;
use crate::Result;
use crate::backend::queue::{Memory, Queue};
use gpu::params;

/// A sum of forces and of their precisions.
pub struct Sum<Q: Queue> {
    /// As large as a field.
    force: Q::Memory<f32>,
    precision: Q::Memory<f32>,
}

impl<Q: Queue> Sum<Q> {
    pub fn new(queue: &Q, grid: &FieldOnDevice<Q>) -> Result<Self> {
        Ok(Self { force: room(queue, grid.size)?, precision: queue.zeros(grid.voxels())? })
    }

    /// Begins anew.
    pub fn clear(&mut self, queue: &Q) -> Result<()> {
        queue.clear(&mut self.force)?;
        queue.clear(&mut self.precision)
    }

    /// Queues adding a multiple of the forces beside the field.
    pub fn add(&mut self, queue: &Q, grid: &FieldOnDevice<Q>, weight: f32) -> Result<()> {
        let params = params::FlowAdd {
            force: grid.other.view(),
            precision: grid.precision.view(),
            force_sum: self.force.view_mut(),
            precision_sum: self.precision.view_mut(),
            size: grid.size,
            weight,
        };
        // SAFETY: the memory is as long as the sizes say and lives until the queue is done.
        unsafe { launch::each(queue, &FLOW_ADD, grid.size, params) }
    }

    /// Puts the sum beside the field.
    pub fn exchange(&mut self, grid: &mut FieldOnDevice<Q>) {
        std::mem::swap(&mut self.force, &mut grid.other);
        std::mem::swap(&mut self.precision, &mut grid.precision);
    }
}
