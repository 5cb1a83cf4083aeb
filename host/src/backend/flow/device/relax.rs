//! Relaxes a field where it changes volumes too much.

use super::grid::FieldOnDevice;
use super::kernels::{FLOW_MARK_OUTSIDE_LIMITS, FLOW_RELAX};
use super::launch;
use crate::Result;
use crate::backend::queue::{Memory, Queue};
use gpu::params;

/// See [`crate::backend::FieldOptimizer::relax`].
pub fn relax<Q: Queue>(queue: &Q, grid: &mut FieldOnDevice<Q>, limits: [f32; 2], rounds: u32) -> Result<()> {
    let mut outside_limits = queue.zeros(1)?;
    for _ in 0..rounds {
        // Between steps there are no precisions, so their memory can hold the marks.
        queue.clear(&mut grid.precision)?;
        queue.clear(&mut outside_limits)?;
        let params = params::FlowRelax {
            field: grid.field.view(),
            relaxed: grid.scratch.view_mut(),
            // SAFETY: floats have the size of marks, and all bits are allowed in either.
            marks: unsafe { grid.precision.view_mut().cast() },
            outside_limits: outside_limits.view_mut(),
            size: grid.size,
            limits,
            unused: 0,
        };
        // SAFETY: the memory is as long as the size says and lives until the download is done.
        unsafe { launch::each(queue, &FLOW_MARK_OUTSIDE_LIMITS, grid.size, params)? };
        if queue.download(&outside_limits, 1)? == [0] {
            break;
        }
        // SAFETY: as above. Exchanging `field` and `scratch` moves no memory, and both live until the queue is done.
        unsafe { launch::each(queue, &FLOW_RELAX, grid.size, params)? };
        grid.exchange();
    }
    Ok(())
}
