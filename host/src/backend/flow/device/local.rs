//! The local correlation of two images of a level, and its forces.

use super::grid::{FieldOnDevice, allocate_field};
use super::kernels::{
    FLOW_LOCAL_AGREEMENT, FLOW_LOCAL_FIXED, FLOW_LOCAL_FORCE, FLOW_LOCAL_MOVING, FLOW_LOCAL_VARIANCE,
};
use super::launch;
use crate::Result;
use crate::backend::flow::Agreement;
use crate::backend::queue::{Memory, Queue};
use gpu::math::flow::{CORRELATION_UNIT, mean};
use gpu::params::{self, FlowImages, ForceOutput};

/// Local means of the fixed image, and memory for sums.
pub struct Local<Q: Queue> {
    window_mm: f64,
    fixed: Q::Memory<f32>,
    totals: Q::Memory<u64>,
    /// Local means of the last agreement, if there are several metrics. With one metric they are kept in the field's
    /// second memory.
    kept: Option<Q::Memory<f32>>,
}

impl<Q: Queue> Local<Q> {
    /// Allocates the memory. `several` says that there are other metrics, so that the local means need memory of their
    /// own.
    pub fn new(queue: &Q, grid: &FieldOnDevice<Q>, window_mm: f64, several: bool) -> Result<Self> {
        let kept = several.then(|| allocate_field(queue, grid.size)).transpose()?;
        Ok(Self { window_mm, fixed: queue.zeros(2 * grid.voxels())?, totals: queue.zeros(2)?, kept })
    }

    fn params(&mut self, images: FlowImages, grid: &mut FieldOnDevice<Q>) -> params::FlowLocal {
        params::FlowLocal {
            images,
            fixed: self.fixed.view_mut(),
            output: grid.force_output(1.0, false),
            planes: self.kept.as_mut().unwrap_or(&mut grid.scratch).view_mut(),
            totals: self.totals.view_mut(),
        }
    }

    /// Queues smoothing the first planes of the local means.
    fn smooth(&mut self, queue: &Q, grid: &mut FieldOnDevice<Q>, planes: usize) -> Result<()> {
        grid.smooth(queue, self.window_mm, self.kept.as_mut(), planes)
    }

    /// Queues computing the local means and variances of the fixed image.
    pub fn prepare_fixed(&mut self, queue: &Q, images: FlowImages, grid: &mut FieldOnDevice<Q>) -> Result<()> {
        let params = self.params(images, grid);
        // SAFETY: the memory is as long as the sizes say and lives until the queue is done.
        unsafe { launch::each(queue, &FLOW_LOCAL_FIXED, grid.size, params)? };
        self.smooth(queue, grid, 2)?;
        // SAFETY: as above.
        unsafe { launch::each(queue, &FLOW_LOCAL_VARIANCE, grid.size, params) }
    }

    /// Computes the mean squared correlation. Leaves the local means in memory for [`Local::force`].
    pub fn agreement(&mut self, queue: &Q, images: FlowImages, grid: &mut FieldOnDevice<Q>) -> Result<Agreement> {
        let params = self.params(images, grid);
        // SAFETY: as above.
        unsafe { launch::each(queue, &FLOW_LOCAL_MOVING, grid.size, params)? };
        self.smooth(queue, grid, 3)?;
        queue.clear(&mut self.totals)?;
        // SAFETY: as above.
        unsafe { launch::sum(queue, &FLOW_LOCAL_AGREEMENT, grid.size, params)? };
        let totals = queue.download(&self.totals, 2)?;
        Ok(Agreement::Local { correlation: mean(totals[0], CORRELATION_UNIT, totals[1]), overlap: totals[1] })
    }

    /// Queues computing forces and precisions from the local means of the last agreement.
    pub fn force(
        &mut self,
        queue: &Q,
        images: FlowImages,
        (grid, output): (&mut FieldOnDevice<Q>, ForceOutput),
    ) -> Result<()> {
        let params = params::FlowLocal { output, ..self.params(images, grid) };
        // SAFETY: as above.
        unsafe { launch::each(queue, &FLOW_LOCAL_FORCE, grid.size, params) }
    }
}
