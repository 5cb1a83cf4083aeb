//! Launches `per-thread`: decides on the number of threads and on the bits per counter.

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

/// Blocks that should share the shared memory of a multiprocessor, since each has only one warp.
const BLOCKS: u32 = 8;

/// The most counters in all partial histograms, per voxel of the fixed image. A thread takes its voxels one after the
/// other and waits for memory each time. This many threads pay off, although they make the final sum longer.
const A_VOXEL: u64 = 16;

/// A pair of images and the launches that count it.
pub struct PerThread<Q: Queue> {
    images: UploadedPair<Q>,
    partials: Partials<Q>,
    packing: Packing,
    shape: Shape,
}

/// How counters are packed into words.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Packing {
    /// Words per thread; 0 for no counters in shared memory.
    words: u32,
    /// log2 of the counters in a word.
    log2_per_word: u32,
}

impl Packing {
    /// The widest counters, of 16 bits or fewer, of which one per pair of bins and thread of a block fit into `words`
    /// words (Shams 2009, eq. 10).
    fn new(pairs: u32, words: u32) -> Self {
        let packings = (1..=5).map(|log2_per_word| Self { words: pairs.div_ceil(1 << log2_per_word), log2_per_word });
        packings
            .into_iter()
            .find(|packing| packing.words * THREADS <= words)
            .unwrap_or(Self { words: 0, log2_per_word: 5 })
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
                log2_per_word: self.packing.log2_per_word,
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
            let found = if packing.words == 0 { 0 } else { 32 >> packing.log2_per_word };
            assert!(found <= bits && (bits < 2 * found || found == 16 || bits == 0), "{pairs}: {found} of {bits} bits");
            assert!(
                packing.words * THREADS <= 7424 && packing.words << packing.log2_per_word >= pairs
                    || packing.words == 0
            );
        }
    }
}
