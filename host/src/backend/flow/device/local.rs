//! Local correlation of the level's images, and its force.

use super::grid::{FieldOnDevice, room};
use super::kernels::{
    FLOW_LOCAL_AGREEMENT, FLOW_LOCAL_FIXED, FLOW_LOCAL_FORCE, FLOW_LOCAL_MOVING, FLOW_LOCAL_VARIANCE,
};
use super::launch;
use crate::Result;
use crate::backend::flow::Agreement;
use crate::backend::queue::{Memory, Queue};
use gpu::math::flow::{CORRELATION_UNIT, mean};
use gpu::params::{self, FlowImages};

/// Local means of the fixed image, and room for sums.
pub struct Local<Q: Queue> {
    window_mm: f64,
    fixed: Q::Memory<f32>,
    totals: Q::Memory<u64>,
    /// The means of the last agreement, where those of another metric are computed in the same place.
    kept: Option<Q::Memory<f32>>,
}

impl<Q: Queue> Local<Q> {
    /// One of `several` metrics keeps its means.
    pub fn new(queue: &Q, grid: &FieldOnDevice<Q>, window_mm: f64, several: bool) -> Result<Self> {
        let kept = several.then(|| room(queue, grid.size)).transpose()?;
        Ok(Self { window_mm, fixed: queue.zeros(2 * grid.voxels())?, totals: queue.zeros(2)?, kept })
    }

    /// Takes the means from beside the field, or puts them back there.
    fn exchange(&mut self, grid: &mut FieldOnDevice<Q>) {
        if let Some(kept) = &mut self.kept {
            std::mem::swap(kept, &mut grid.other);
        }
    }

    fn params(&mut self, images: FlowImages, grid: &mut FieldOnDevice<Q>) -> params::FlowLocal {
        params::FlowLocal {
            images,
            fixed: self.fixed.view_mut(),
            planes: grid.other.view_mut(),
            precision: grid.precision.view_mut(),
            totals: self.totals.view_mut(),
            per_square: grid.per_square(),
            unused: 0,
        }
    }

    /// Makes the fixed image's local means, with the memory beside the field.
    pub fn look_at_fixed(&mut self, queue: &Q, images: FlowImages, grid: &mut FieldOnDevice<Q>) -> Result<()> {
        let params = self.params(images, grid);
        // SAFETY: the memory is as long as the sizes say and lives until the queue is done.
        unsafe { launch::each(queue, &FLOW_LOCAL_FIXED, grid.size, params)? };
        grid.smooth_other(queue, self.window_mm, 2)?;
        let params = self.params(images, grid);
        // SAFETY: as above.
        unsafe { launch::each(queue, &FLOW_LOCAL_VARIANCE, grid.size, params) }
    }

    /// The mean squared correlation; leaves local means beside the field, unless it keeps them.
    pub fn agreement(&mut self, queue: &Q, images: FlowImages, grid: &mut FieldOnDevice<Q>) -> Result<Agreement> {
        let params = self.params(images, grid);
        // SAFETY: as above.
        unsafe { launch::each(queue, &FLOW_LOCAL_MOVING, grid.size, params)? };
        grid.smooth_other(queue, self.window_mm, 3)?;
        queue.clear(&mut self.totals)?;
        let params = self.params(images, grid);
        // SAFETY: as above.
        unsafe { launch::sum(queue, &FLOW_LOCAL_AGREEMENT, grid.size, params)? };
        let totals = queue.download(&self.totals, 2)?;
        self.exchange(grid);
        Ok(Agreement::Local { correlation: mean(totals[0], CORRELATION_UNIT, totals[1]), overlap: totals[1] })
    }

    /// Queues the forces from the means that the last agreement left, in their place.
    pub fn force(&mut self, queue: &Q, images: FlowImages, grid: &mut FieldOnDevice<Q>) -> Result<()> {
        self.exchange(grid);
        let params = self.params(images, grid);
        // SAFETY: as above.
        unsafe { launch::each(queue, &FLOW_LOCAL_FORCE, grid.size, params) }
    }
}
