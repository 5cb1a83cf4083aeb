//! Partial histograms in a device's memory, and their sum.

use crate::Result;
use crate::backend::histogram::Pair;
use crate::backend::queue::{Memory, Queue, Shape, kernels};
use cuda_std::global::DeviceSliceMut;
use gpu::kernels::histogram::partials;
use gpu::params;

kernels! {
    ADD_PARTIALS = partials::add_partials(params::Partials);
}

/// Threads per block of the kernel that adds.
const THREADS: u32 = 256;

/// Partial histograms that each thread adds up.
const EACH: u32 = 16;

/// Partial histograms, whose counts are 0 between transforms.
pub struct Partials<Q: Queue> {
    memory: Q::Memory<u32>,
    pairs: u32,
    len: u32,
}

impl<Q: Queue> Partials<Q> {
    /// Allocates `len` partial histograms.
    pub fn new(queue: &Q, pair: &Pair, len: u32) -> Result<Self> {
        let pairs = pair.bins[0] * pair.bins[1];
        Ok(Self { memory: queue.zeros(len as usize * pairs as usize)?, pairs, len })
    }

    pub fn view_mut(&mut self) -> DeviceSliceMut<u32> {
        self.memory.view_mut()
    }

    /// Queues adding them to the joint histogram of transform `number`.
    pub fn add_up(&mut self, queue: &Q, counters: &mut Q::Memory<u32>, number: usize) -> Result<()> {
        let params = params::Partials {
            partials: self.memory.view_mut(),
            counters: counters.view_mut(),
            pairs: self.pairs,
            partials_len: self.len,
            first: self.pairs * number as u32,
            unused: 0,
        };
        let grid = [self.pairs.div_ceil(THREADS), self.len.div_ceil(EACH), 1];
        let shape = Shape { grid, block: [THREADS, 1, 1], shared_bytes: 0 };
        // SAFETY: the memory is as long as the sizes say and lives until the queue is done.
        unsafe { queue.launch(&ADD_PARTIALS, shape, params) }
    }
}

/// Returns the number of partial histograms to use: at most `useful`, at most as many as fit into a quarter of the
/// device's memory, and at most as many as have `a_voxel` counters per voxel of the fixed image. With more, adding them
/// up would take longer than counting.
pub fn worth_having<Q: Queue>(queue: &Q, pair: &Pair, useful: u32, a_voxel: u64) -> u32 {
    let pairs = u64::from(pair.bins[0] * pair.bins[1]);
    let fit = queue.limits().memory / (4 * 4 * pairs);
    let pay = a_voxel * pair.fixed.voxels() as u64 / pairs;
    fit.min(pay).clamp(1, u64::from(useful)) as u32
}
