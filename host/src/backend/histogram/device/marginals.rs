//! Marginal histograms in a device's memory.

use crate::Result;
use crate::backend::queue::{Memory, Queue};
use cuda_std::global::DeviceSliceMut;

/// The marginal histogram of the fixed image, then that of the moving image.
pub struct Marginals<Q: Queue> {
    memory: Q::Memory<u32>,
    bins: [u32; 2],
}

impl<Q: Queue> Marginals<Q> {
    pub fn new(queue: &Q, bins: [u32; 2]) -> Result<Self> {
        Ok(Self { memory: queue.zeros((bins[0] + bins[1]) as usize)?, bins })
    }

    /// Queues setting them to 0.
    pub fn clear(&mut self, queue: &Q) -> Result<()> {
        queue.clear(&mut self.memory)
    }

    pub fn view_mut(&mut self) -> DeviceSliceMut<u32> {
        self.memory.view_mut()
    }

    /// Downloads both, after all work queued before.
    pub fn download(&self, queue: &Q) -> Result<[Vec<u32>; 2]> {
        let mut fixed = queue.download(&self.memory, (self.bins[0] + self.bins[1]) as usize)?;
        let moving = fixed.split_off(self.bins[0] as usize);
        Ok([fixed, moving])
    }
}
