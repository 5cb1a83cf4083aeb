//! Launches `sort-count`, with one partial histogram per block.

use crate::Result;
use crate::backend::histogram::Pair;
use crate::backend::histogram::device::counter::{Counter, UploadedPair};
use crate::backend::histogram::device::partials::{Partials, worth_having};
use crate::backend::image::device::Images;
use crate::backend::queue::{Kernel, Queue, Shape, kernels};
use gpu::kernels::histogram::sort_count;
use gpu::math::interpolate::Interpolator;
use gpu::math::partial_volume::ROWS;
use gpu::params::{self, Affine};

kernels! {
    SORT_COUNT = sort_count::sort_count(params::SortCount);
    SORT_COUNT_WIDE = sort_count::sort_count_wide(params::SortCount);
    SORT_COUNT_PARTIAL_VOLUME = sort_count::sort_count_partial_volume(params::SortCount);
}

/// The most threads per block. With more, a step has more barriers at which all threads wait.
const THREADS: u32 = 512;

/// The most counters in all partial histograms, per voxel of the fixed image.
const A_VOXEL: u64 = 2;

/// A pair of images and the launches that count it.
pub struct SortCount<Q: Queue> {
    images: UploadedPair<Q>,
    partials: Partials<Q>,
    kernel: Kernel<params::SortCount>,
    shape: Shape,
}

impl<Q: Queue> SortCount<Q> {
    pub fn new(images: &Images<Q>, pair: &Pair) -> Result<Self> {
        let queue = images.queue;
        let threads = queue.limits().threads.min(THREADS);
        let (kernel, bytes, voxels) = match pair.bins[0] * pair.bins[1] {
            _ if pair.interpolator == Interpolator::PartialVolume => {
                (SORT_COUNT_PARTIAL_VOLUME, size_of::<u64>(), threads / ROWS)
            }
            ..=0x1_0000 => (SORT_COUNT, size_of::<u32>(), 2 * threads),
            _ => (SORT_COUNT_WIDE, size_of::<u64>(), 2 * threads),
        };
        let shared_bytes = 2 * threads * bytes as u32;
        let steps = pair.fixed.voxels().div_ceil(voxels as usize) as u32;
        let useful = queue.resident(&kernel, threads, shared_bytes)?.min(steps);
        let blocks = worth_having(queue, pair, useful, A_VOXEL);
        Ok(Self {
            images: UploadedPair::new(images, pair)?,
            partials: Partials::new(queue, pair, blocks)?,
            kernel,
            shape: Shape { grid: [blocks, 1, 1], block: [threads, 1, 1], shared_bytes },
        })
    }
}

impl<Q: Queue> Counter<Q> for SortCount<Q> {
    fn count(&mut self, queue: &Q, transforms: &[Affine], counters: &mut Q::Memory<u32>) -> Result<()> {
        for (number, transform) in transforms.iter().enumerate() {
            let params =
                params::SortCount { images: self.images.params(transform), partials: self.partials.view_mut() };
            // SAFETY: the memory is as long as the sizes say and lives until the queue is done.
            unsafe { queue.launch(&self.kernel, self.shape, params)? };
            self.partials.add_up(queue, counters, number)?;
        }
        Ok(())
    }
}
