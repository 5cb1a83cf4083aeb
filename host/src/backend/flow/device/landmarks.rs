//! Landmarks in a device's memory, and their forces.

use super::grid::FieldOnDevice;
use super::kernels::FLOW_LANDMARKS;
use crate::Result;
use crate::backend::flow::{FlowLandmark, FlowStep, KnownDisplacement, squares};
use crate::backend::queue::{Memory, Queue, Shape};
use gpu::params;

/// Threads per block.
const THREADS: u32 = 128;

/// The landmarks of a level.
pub struct Landmarks<Q: Queue> {
    voxels: Q::Memory<u32>,
    targets: Q::Memory<f32>,
    len: u32,
}

impl<Q: Queue> Landmarks<Q> {
    /// Uploads the landmarks.
    pub fn new(queue: &Q, landmarks: &[FlowLandmark]) -> Result<Self> {
        let voxels: Vec<_> = landmarks.iter().map(|landmark| landmark.voxel).collect();
        let numbers = |KnownDisplacement { displacement: [x, y, z], precision }| [x, y, z, precision];
        let targets: Vec<_> = landmarks.iter().flat_map(|landmark| numbers(landmark.known)).collect();
        Ok(Self { voxels: queue.upload(&voxels)?, targets: queue.upload(&targets)?, len: landmarks.len() as u32 })
    }

    /// Queues adding their forces and precisions to those in the field's second memory.
    pub fn add_forces(&self, queue: &Q, grid: &mut FieldOnDevice<Q>, step: &FlowStep) -> Result<()> {
        if self.len == 0 {
            return Ok(());
        }
        let params = params::FlowLandmarks {
            field: grid.field.view(),
            voxels: self.voxels.view(),
            targets: self.targets.view(),
            force: grid.scratch.view_mut(),
            precision: grid.precision.view_mut(),
            size: grid.size,
            squares: squares(grid.spacing_mm),
            len: self.len,
            weight: step.landmark_weight(grid.size, grid.spacing_mm),
            limit: step.limit,
            unused: 0,
        };
        let shape = Shape { grid: [self.len.div_ceil(THREADS), 1, 1], block: [THREADS, 1, 1], shared_bytes: 0 };
        // SAFETY: the memory is as long as the sizes say and lives until the queue is done.
        unsafe { queue.launch(&FLOW_LANDMARKS, shape, params) }
    }
}
