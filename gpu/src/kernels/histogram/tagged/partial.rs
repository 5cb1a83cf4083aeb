//! Partial histograms in shared memory, one per warp, whose counters are tagged with the lane that wrote them last
//! (Shams 2009 section 4.1.1, Ledig section 2.2; after Podlozhnyuk).
//!
//! A word holds the tag in its upper 5 bits and `N` counters in the other 27: one of 27 bits, or two of 13 (Ledig section 2.3, figure 1).
//! To add, every lane reads its word, writes it back with its own tag and its counter incremented, and reads it again.
//! Of the lanes that share a word, the one whose tag is now there has counted. The others try again.
//!
//! The papers rely on the lanes of a warp running in lockstep, which GPUs no longer guarantee since Volta. All lanes
//! must have read before one writes; otherwise a lane could increment what another lane has just written, and overwrite
//! it, and both could be counted. All lanes must have written before one reads again. Two warp barriers per round
//! ensure this. Several lanes deliberately write one word, so that the store is a relaxed one: the last one wins,
//! whichever it is.

use crate::kernels::{WARP, block_warps, each_of, warp_number};
use cuda_std::global::DeviceSliceMut;
use cuda_std::shared::{self, SharedSlice};
use cuda_std::thread::sync_threads;
use cuda_std::warp::{self, ALL, lane_id, sync_warp};

/// Bits of a word below the tag.
const TAG: u32 = 27;

/// The partial histograms of a block's warps, with `N` counters in a word.
#[derive(Clone, Copy)]
pub struct Partial<const N: u32> {
    /// The partial histograms of all warps, one after the other.
    words: SharedSlice<u32>,
    /// Words of a partial histogram.
    len: u32,
    /// The first word of this warp's partial histogram.
    mine: u32,
}

impl<const N: u32> Partial<N> {
    /// Bits of a counter: 27, or 13.
    pub const BITS: u32 = TAG / N;

    /// The largest number that a counter holds.
    pub const MOST: u32 = (1 << Self::BITS) - 1;

    /// The number of calls of [`add`](Self::add) after which no counter can exceed [`MOST`](Self::MOST), as each call
    /// adds at most one per lane.
    pub const ADDS: u32 = Self::MOST / WARP;

    /// Returns a block's partial histograms of `counters` counters per warp, not yet cleared.
    ///
    /// # Safety
    /// The block consists of whole warps, and has `counters / N` words of dynamic shared memory, rounded up, for each
    /// of them.
    #[inline(always)]
    pub unsafe fn new(counters: u32) -> Self {
        let len = counters.div_ceil(N);
        // SAFETY: by this function's contract.
        let words = unsafe { shared::dynamic(0, block_warps() * len) };
        Self { words, len, mine: warp_number() * len }
    }

    /// Sets all counters to 0.
    ///
    /// # Safety
    /// All threads of the block call it.
    #[inline(always)]
    pub unsafe fn clear(self) {
        // SAFETY: the word is in bounds, and only this thread uses it between barriers.
        each_of(self.words.len(), |word| unsafe { self.words.store(word, 0) });
        sync_threads();
    }

    /// Adds 1 to counter `counter` of the warp's partial histogram, if `counted`.
    ///
    /// # Safety
    /// All lanes of the warp call this function. If `counted`, `counter` is one of the counters. A warp calls it at
    /// most [`ADDS`](Self::ADDS) times after [`clear`](Self::clear).
    #[inline(always)]
    pub unsafe fn add(self, counted: bool, counter: u32) {
        let (word, one) = (self.mine.wrapping_add(counter / N), 1 << (counter % N * Self::BITS));
        let tag = lane_id() << TAG;
        let mut waiting = counted;
        // SAFETY: by this function's contract; all lanes of the warp take the same branches to the barriers.
        unsafe {
            if !warp::any(ALL, waiting) {
                return;
            }
            let mut seen = if waiting { self.words.load(word) } else { 0 };
            loop {
                let mine = tag | ((seen & ((1 << TAG) - 1)) + one);
                sync_warp(ALL);
                if waiting {
                    self.words.store_relaxed(word, mine);
                }
                sync_warp(ALL);
                if waiting {
                    seen = self.words.load(word);
                    waiting = seen != mine;
                }
                if !warp::any(ALL, waiting) {
                    return;
                }
            }
        }
    }

    /// Adds the counters, summed over the warps, to `out` at the indices that `place` gives; they are not cleared.
    ///
    /// # Safety
    /// All threads of the block call it, and `out` has those indices.
    #[inline(always)]
    pub unsafe fn flush(self, out: DeviceSliceMut<u32>, place: impl Fn(u32) -> u32) {
        sync_threads();
        each_of(self.len, |word| {
            for i in 0..N {
                // SAFETY: a word of the first warp; between the barriers it and those of the others are this thread's alone.
                let count = unsafe { self.sum(word, i) };
                if count > 0 {
                    // SAFETY: by this function's contract.
                    unsafe { out.add(place(N * word + i) as usize, count) };
                }
            }
        });
        sync_threads();
    }

    /// Returns the sum over all warps of counter `i` of a word. A block has at most 32 warps, so that the sum of 27-bit
    /// numbers fits into 32 bits.
    #[inline(always)]
    unsafe fn sum(self, mut word: u32, i: u32) -> u32 {
        let mut sum = 0;
        while word < self.words.len() {
            // SAFETY: there is this word, and it has been cleared.
            sum += unsafe { self.words.load(word) } >> (i * Self::BITS) & Self::MOST;
            word += self.len;
        }
        sum
    }
}
