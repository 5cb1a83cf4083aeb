//! Launches `global-copies` and `global-copies-marginals`: decides on the number of copies and on how the marginals are
//! made.

use crate::Result;
use crate::backend::histogram::Pair;
use crate::backend::histogram::device::counter::{Counter, UploadedPair};
use crate::backend::histogram::device::marginals::Marginals;
use crate::backend::histogram::device::partials::{Partials, worth_having};
use crate::backend::image::device::Images;
use crate::backend::queue::{Kernel, Memory, Queue, Shape, kernels};
use gpu::kernels::histogram::global_copies;
use gpu::kernels::histogram::global_copies::{PROJECT_THREADS, THREADS};
use gpu::params::{self, Affine};

kernels! {
    COUNT_COPIES = global_copies::count_copies(params::GlobalCopies);
    COUNT_COPIES_AND_MARGINALS = global_copies::count_copies_and_marginals(params::GlobalCopies);
    PROJECT = global_copies::project(params::Projection);
}

/// The most counters in all copies, per voxel of the fixed image.
const A_VOXEL: u64 = 16;

/// A pair of images and the launches that count it.
pub struct GlobalCopies<Q: Queue> {
    images: UploadedPair<Q>,
    copies: Partials<Q>,
    copies_len: u32,
    marginals: Marginals<Q>,
    /// Whether the marginals are summed from the joint histogram (version 2), or counted along with it (version 1).
    projected: bool,
    kernel: Kernel<params::GlobalCopies>,
    shape: Shape,
}

impl<Q: Queue> GlobalCopies<Q> {
    /// `projected` is as the field of that name.
    pub fn new(images: &Images<Q>, pair: &Pair, projected: bool) -> Result<Self> {
        let queue = images.queue;
        let (kernel, shared_bytes) = match projected {
            true => (COUNT_COPIES, 0),
            false => (COUNT_COPIES_AND_MARGINALS, 4 * (pair.bins[0] + pair.bins[1])),
        };
        let threads = queue.limits().threads.min(THREADS);
        let most = pair.fixed.voxels().div_ceil(threads as usize) as u32;
        let blocks = queue.resident(&kernel, threads, shared_bytes)?.min(most);
        let copies_len = worth_having(queue, pair, THREADS, A_VOXEL);
        Ok(Self {
            images: UploadedPair::new(images, pair)?,
            copies: Partials::new(queue, pair, copies_len)?,
            copies_len,
            marginals: Marginals::new(queue, pair.bins)?,
            projected,
            kernel,
            shape: Shape { grid: [blocks, 1, 1], block: [threads, 1, 1], shared_bytes },
        })
    }

    /// Queues summing the marginals from the joint histogram of transform `number`.
    fn project(&mut self, queue: &Q, counters: &Q::Memory<u32>, number: usize) -> Result<()> {
        let bins = self.images.params.bins;
        let params = params::Projection {
            counters: counters.view(),
            marginals: self.marginals.view_mut(),
            bins,
            first: number as u32 * bins[0] * bins[1],
            unused: 0,
        };
        let blocks = bins[0].max(bins[1]).div_ceil(PROJECT_THREADS);
        let shape = Shape { grid: [blocks, 1, 1], block: [PROJECT_THREADS, 1, 1], shared_bytes: 0 };
        // SAFETY: the memory is as long as the bins say and lives until the queue is done.
        unsafe { queue.launch(&PROJECT, shape, params) }
    }
}

impl<Q: Queue> Counter<Q> for GlobalCopies<Q> {
    fn count(&mut self, queue: &Q, transforms: &[Affine], counters: &mut Q::Memory<u32>) -> Result<()> {
        for (number, transform) in transforms.iter().enumerate() {
            if !self.projected {
                self.marginals.clear(queue)?;
            }
            let params = params::GlobalCopies {
                images: self.images.params(transform),
                copies: self.copies.view_mut(),
                marginals: self.marginals.view_mut(),
                copies_len: self.copies_len,
                unused: 0,
            };
            // SAFETY: the memory is as long as the sizes say and lives until the queue is done.
            unsafe { queue.launch(&self.kernel, self.shape, params)? };
            self.copies.add_up(queue, counters, number)?;
            if self.projected {
                self.project(queue, counters, number)?;
            }
        }
        Ok(())
    }

    fn marginals(&self, queue: &Q) -> Result<Option<[Vec<u32>; 2]>> {
        self.marginals.download(queue).map(Some)
    }
}
