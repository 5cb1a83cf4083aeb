//! `per-thread`: how many threads, and how many bits a counter.

use crate::Result;
use crate::backend::histogram::Pair;
use crate::backend::histogram::device::counter::{Counter, UploadedPair};
use crate::backend::histogram::device::partials::{Partials, worth_having};
use crate::backend::image::device::Images;
use crate::backend::queue::{Queue, Shape, kernels};
use gpu::kernels::histogram::per_thread;
use gpu::kernels::histogram::per_thread::THREADS;
use gpu::params::{self, Affine};

kernels! {
    HISTOGRAM_PER_THREAD = per_thread::histogram_per_thread(params::PerThread);
}

/// Blocks that are to share a multiprocessor's shared memory: each has but one warp.
const BLOCKS: u32 = 8;

/// Counters in partial histograms for each voxel. A thread's voxels come one after the other, each a wait for memory, so that many threads
/// pay, even at the price of a long sum.
const A_VOXEL: u64 = 16;

/// A pair and its launches.
pub struct PerThread<Q: Queue> {
    images: UploadedPair<Q>,
    partials: Partials<Q>,
    packing: Packing,
    shape: Shape,
}

/// How counters share words.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Packing {
    /// Words of a thread; 0 for no counters in shared memory.
    words: u32,
    /// log2 of the counters in a word.
    shift: u32,
}

impl Packing {
    /// The widest counters, from 16 bits down, of which a block has one a pair and thread in `words` words (Shams 2009, eq. 10).
    fn new(pairs: u32, words: u32) -> Self {
        let packings = (1..=5).map(|shift| Self { words: pairs.div_ceil(1 << shift), shift });
        packings.into_iter().find(|packing| packing.words * THREADS <= words).unwrap_or(Self { words: 0, shift: 5 })
    }
}

impl<Q: Queue> PerThread<Q> {
    pub fn new(images: &Images<Q>, pair: &Pair) -> Result<Self> {
        let queue = images.queue;
        let words = queue.shared_bytes(&HISTOGRAM_PER_THREAD) / 4 / BLOCKS;
        let packing = Packing::new(pair.bins[0] * pair.bins[1], words);
        let shared_bytes = 4 * THREADS * packing.words;
        let most = pair.fixed.voxels().div_ceil(THREADS as usize) as u32;
        let useful = queue.resident(&HISTOGRAM_PER_THREAD, THREADS, shared_bytes)?.min(most);
        let blocks = worth_having(queue, pair, THREADS * useful, A_VOXEL).div_ceil(THREADS);
        Ok(Self {
            images: UploadedPair::new(images, pair)?,
            partials: Partials::new(queue, pair, THREADS * blocks)?,
            packing,
            shape: Shape { grid: [blocks, 1, 1], block: [THREADS, 1, 1], shared_bytes },
        })
    }
}

impl<Q: Queue> Counter<Q> for PerThread<Q> {
    fn count(&mut self, queue: &Q, transforms: &[Affine], counters: &mut Q::Memory<u32>) -> Result<()> {
        for (number, transform) in transforms.iter().enumerate() {
            let params = params::PerThread {
                images: self.images.params(transform),
                partials: self.partials.view_mut(),
                words: self.packing.words,
                shift: self.packing.shift,
            };
            // SAFETY: the memory is as long as the sizes say and lives until the queue is done.
            unsafe { queue.launch(&HISTOGRAM_PER_THREAD, self.shape, params)? };
            self.partials.add_up(queue, counters, number)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_as_wide_as_equation_10_allows() {
        for pairs in [4, 9, 600, 2500, 4096, 65_536] {
            let packing = Packing::new(pairs, 7424);
            let bits = 7424 * 32 / (pairs * THREADS);
            let found = if packing.words == 0 { 0 } else { 32 >> packing.shift };
            assert!(found <= bits && (bits < 2 * found || found == 16 || bits == 0), "{pairs}: {found} of {bits} bits");
            assert!(packing.words * THREADS <= 7424 && packing.words << packing.shift >= pairs || packing.words == 0);
        }
    }
}
