//! The joint histogram of two images of a level, and the forces that follow from its tables.

use super::kernels::{COPY_WORDS, FLOW_FORCE, FLOW_PAIRS};
use super::launch;
use super::table::TableOnDevice;
use crate::backend::flow::{Agreement, Relation};
use crate::backend::histogram::device::from_pairs::FromPairs;
use crate::backend::queue::{Memory, Queue, Shape};
use crate::error::Setting;
use crate::{Error, Result};
use cuda_std::global::{DeviceSlice, DeviceSliceMut};
use gpu::kernels::WARP;
use gpu::kernels::flow::table::MOST_BINS;
use gpu::params::{self, FlowImages, ForceOutput};

/// The most threads per block of the force kernel. Each block copies the tables, so large blocks copy less often; two
/// of this size share the registers of a multiprocessor.
const THREADS: u32 = 512;

/// Threads per block of the kernel that copies words.
const COPY_THREADS: u32 = 128;

/// Memory for joint indices, counts and tables.
pub struct Joint<Q: Queue> {
    bins: u32,
    pairs: FromPairs<Q>,
    /// The counts, in memory that the host reads.
    counts: Q::Pinned<u32>,
    /// The tables, in memory that the host writes (`written`) and in memory that kernels read (`tables`).
    written: Q::Pinned<f32>,
    tables: Q::Memory<f32>,
    /// Makes the tables on the device.
    pub table: TableOnDevice<Q>,
    /// The launch shape of the force kernel, with shared memory for the tables if they fit.
    force: Shape,
}

impl<Q: Queue> Joint<Q> {
    pub fn new(queue: &Q, voxels: usize, bins: u32) -> Result<Self> {
        if !(2..=MOST_BINS).contains(&bins) {
            return Err(Error::option(Setting::Bins, format!("a flow takes 2 to {MOST_BINS} bins, not {bins}")));
        }
        let table = bins * bins + bins;
        let shared_bytes = if 4 * table <= queue.shared_bytes(&FLOW_FORCE) { 4 * table } else { 0 };
        let threads = THREADS.min(queue.limits().threads);
        let blocks = queue.resident(&FLOW_FORCE, threads, shared_bytes)?;
        Ok(Self {
            bins,
            pairs: FromPairs::allocate(queue, voxels, bins * bins)?,
            counts: queue.pinned((bins * bins) as usize)?,
            written: queue.pinned(table as usize)?,
            tables: queue.zeros(table as usize)?,
            table: TableOnDevice::new(queue, bins)?,
            force: Shape { grid: [blocks, 1, 1], block: [WARP, threads / WARP, 1], shared_bytes },
        })
    }

    /// Counts and returns the joint histogram.
    pub fn agreement(&mut self, queue: &Q, images: FlowImages) -> Result<Agreement> {
        self.clear(queue)?;
        self.count(queue, images)?;
        copy(queue, self.pairs.counters().as_slice(), self.counts.view_mut())?;
        queue.wait()?;
        Ok(Agreement::Joint(self.counts.to_vec()))
    }

    /// Queues clearing the counts before the first [`Joint::measure`].
    pub fn clear(&mut self, queue: &Q) -> Result<()> {
        self.pairs.clear(queue)
    }

    /// Queues making the joint histogram, and from it the metric's value and the tables for [`Joint::force`]. Leaves
    /// the counts at 0 for the next call.
    pub fn measure(&mut self, queue: &Q, images: FlowImages, relation: Relation) -> Result<()> {
        self.count(queue, images)?;
        self.table.make(queue, self.pairs.counters(), relation, self.tables.view_mut())
    }

    /// Queues counting the images' pairs into the joint histogram.
    fn count(&mut self, queue: &Q, images: FlowImages) -> Result<()> {
        let pairs = params::FlowPairs { images, pairs: self.pairs.numbers(), bins: self.bins, unused: 0 };
        // SAFETY: the memory is as long as the sizes and bins say and lives until the queue is done.
        unsafe { launch::each(queue, &FLOW_PAIRS, images.size, pairs)? };
        self.pairs.count(queue)
    }

    /// Uploads tables that the host made: scores and their information.
    pub fn write(&mut self, queue: &Q, [scores, information]: [&[f32]; 2]) -> Result<()> {
        if [scores.len(), information.len()] != [self.bins * self.bins, self.bins].map(|n| n as usize) {
            return Err(Error::option(Setting::Bins, format!("the tables are not those of {} bins", self.bins)));
        }
        // Kernels of the step before may still be reading the tables.
        queue.wait()?;
        self.written[..scores.len()].copy_from_slice(scores);
        self.written[scores.len()..].copy_from_slice(information);
        // SAFETY: a float has the size of a word.
        unsafe { copy(queue, self.written.view().cast(), self.tables.view_mut().cast()) }
    }

    /// Queues computing the forces and precisions from the tables.
    pub fn force(&mut self, queue: &Q, images: FlowImages, output: ForceOutput) -> Result<()> {
        let params = params::FlowForce {
            images,
            tables: self.tables.view(),
            output,
            bins: self.bins,
            table_words: self.force.shared_bytes / 4,
        };
        // SAFETY: as above.
        unsafe { queue.launch(&FLOW_FORCE, self.force, params) }
    }
}

/// Queues copying all words of `from`.
fn copy<Q: Queue>(queue: &Q, from: DeviceSlice<u32>, to: DeviceSliceMut<u32>) -> Result<()> {
    let len = from.len() as u32;
    let shape = Shape { grid: [len.div_ceil(COPY_THREADS), 1, 1], block: [COPY_THREADS, 1, 1], shared_bytes: 0 };
    // SAFETY: both have that length and live until the queue is done.
    unsafe { queue.launch(&COPY_WORDS, shape, params::CopyWords { from, to, len, unused: 0 }) }
}
