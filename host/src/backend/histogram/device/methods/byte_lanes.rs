//! Launches `byte-lanes`: chooses the kernel by its counters for the marginals, and divides the joint histogram into
//! ranges of counters.

use crate::Result;
use crate::backend::histogram::Pair;
use crate::backend::histogram::device::counter::{Counter, UploadedPair, cannot};
use crate::backend::histogram::device::marginals::Marginals;
use crate::backend::image::device::Images;
use crate::backend::queue::{Kernel, Memory, Queue, Shape, kernels};
use gpu::kernels::histogram::byte_lanes;
use gpu::kernels::histogram::byte_lanes::{Lanes, Marginals as _, Warps};
use gpu::params::{self, Affine};

kernels! {
    BYTE_LANES_64 = byte_lanes::byte_lanes_64(params::ByteLanes);
    BYTE_LANES_256 = byte_lanes::byte_lanes_256(params::ByteLanes);
}

/// The most threads per block of the kernel that has one byte counter per thread and bin. With more threads, these
/// counters would take up the shared memory of the joint histogram.
const MOST_BYTE_COUNTER_THREADS: u32 = 256;

/// A pair of images and the launches that count it.
pub struct ByteLanes<Q: Queue> {
    images: UploadedPair<Q>,
    marginals: Marginals<Q>,
    kernel: Kernel<params::ByteLanes>,
    shape: Shape,
    /// Counters of the joint histogram per block.
    range: u32,
}

impl<Q: Queue> ByteLanes<Q> {
    pub fn new(images: &Images<Q>, pair: &Pair) -> Result<Self> {
        let queue = images.queue;
        let (threads, bins) = (queue.limits().threads, pair.bins[0] + pair.bins[1]);
        let (kernel, threads, bytes) = match pair.bins[0].max(pair.bins[1]) {
            ..=64 => (
                BYTE_LANES_64,
                threads.min(MOST_BYTE_COUNTER_THREADS),
                Lanes::bytes(bins, threads.min(MOST_BYTE_COUNTER_THREADS)),
            ),
            65..=256 => (BYTE_LANES_256, threads, Warps::bytes(bins, threads)),
            _ => return Err(cannot("byte-lanes", "takes at most 256 bins per side")),
        };
        let pairs = pair.bins[0] * pair.bins[1];
        let passes = pairs.div_ceil((queue.shared_bytes(&kernel) - bytes) / 4);
        let range = pairs.div_ceil(passes);
        let shared_bytes = bytes + 4 * range;
        let most = pair.fixed.voxels().div_ceil(threads as usize) as u32;
        let blocks = (queue.resident(&kernel, threads, shared_bytes)? / passes).clamp(1, most);
        Ok(Self {
            images: UploadedPair::new(images, pair)?,
            marginals: Marginals::new(queue, pair.bins)?,
            kernel,
            shape: Shape { grid: [blocks, 1, passes], block: [threads, 1, 1], shared_bytes },
            range,
        })
    }
}

impl<Q: Queue> Counter<Q> for ByteLanes<Q> {
    fn count(&mut self, queue: &Q, transforms: &[Affine], counters: &mut Q::Memory<u32>) -> Result<()> {
        let bins = self.images.params.bins;
        for (number, transform) in transforms.iter().enumerate() {
            self.marginals.clear(queue)?;
            let params = params::ByteLanes {
                images: self.images.params(transform),
                counters: counters.view_mut(),
                marginals: self.marginals.view_mut(),
                first: number as u32 * bins[0] * bins[1],
                range: self.range,
            };
            // SAFETY: the memory is as long as the sizes say and lives until the queue is done.
            unsafe { queue.launch(&self.kernel, self.shape, params)? };
        }
        Ok(())
    }

    fn marginals(&self, queue: &Q) -> Result<Option<[Vec<u32>; 2]>> {
        self.marginals.download(queue).map(Some)
    }
}
