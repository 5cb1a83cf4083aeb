//! A warp's partial histogram in shared memory, with counters under the tag of the lane that wrote last (Shams 2009 section 4.1.1,
//! Ledig section 2.2; after Podlozhnyuk).
//!
//! A word holds the tag in its upper 5 bits and `N` counters in the other 27: one of 27 bits, or two of 13 (Ledig section 2.3, figure 1).
//! To add, every lane reads its word, writes it back with its own tag and one more in its counter, and reads again: of the lanes that
//! meet in a word the one whose tag is there has counted, and the others try again.
//!
//! The papers rely on a warp in lockstep, which no GPU since Volta promises. What is needed is that all lanes have read before one
//! writes (else a lane may build on the write of another, overwrite it, and both may count it) and that all have written before one
//! reads again. Two warp barriers a round say so. That several lanes write one word is meant, so the store is a relaxed one: any
//! of them wins.

use cuda_std::global::DeviceSliceMut;
use cuda_std::shared::{self, SharedSlice};
use cuda_std::warp::{self, ALL, lane_id, sync_warp};

/// Lanes of a warp.
pub const LANES: u32 = 32;

/// Bits of a word below the tag.
const TAG: u32 = 27;

/// A partial histogram with `N` counters in a word.
#[derive(Clone, Copy)]
pub struct Partial<const N: u32> {
    words: SharedSlice<u32>,
}

impl<const N: u32> Partial<N> {
    /// Bits of a counter: 27, or 13.
    pub const BITS: u32 = TAG / N;

    /// What a counter can hold.
    pub const MOST: u32 = (1 << Self::BITS) - 1;

    /// Calls of [`add`](Self::add) after which no counter has passed [`MOST`](Self::MOST): each call adds at most one a lane.
    pub const ADDS: u32 = Self::MOST / LANES;

    /// The part of dynamic shared memory that belongs to warp number `warp` of the block; counters are still to be cleared.
    ///
    /// # Safety
    /// The block has `counters` divided by `N`, rounded up, words of dynamic shared memory for each of its warps.
    #[inline(always)]
    pub unsafe fn new(counters: u32, warp: u32) -> Self {
        let len = counters.div_ceil(N);
        // SAFETY: as this function's.
        Self { words: unsafe { shared::dynamic(4 * len * warp, len) } }
    }

    /// Sets all counters to 0.
    ///
    /// # Safety
    /// All lanes of the warp call it.
    #[inline(always)]
    pub unsafe fn clear(self) {
        let mut word = lane_id();
        // SAFETY: below the length, and this lane's alone between barriers.
        unsafe {
            while word < self.words.len() {
                self.words.store(word, 0);
                word += LANES;
            }
            sync_warp(ALL);
        }
    }

    /// Adds one to this lane's counter, if it has one.
    ///
    /// # Safety
    /// All lanes of the warp call it, after [`clear`](Self::clear), with a counter that there is; at most [`ADDS`](Self::ADDS) times
    /// before [`flush`](Self::flush).
    #[inline(always)]
    pub unsafe fn add(self, counted: bool, counter: u32) {
        let (word, one) = (counter / N, 1 << (counter % N * Self::BITS));
        let tag = lane_id() << TAG;
        let mut waiting = counted;
        // SAFETY: as this function's; the barriers are outside of all branches but those that the warp takes together.
        unsafe {
            if !warp::any(ALL, waiting) {
                return;
            }
            let mut seen = if waiting { self.words.load(word) } else { 0 };
            loop {
                let mine = (seen & ((1 << TAG) - 1)) + one | tag;
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

    /// Adds each counter to `out` at the index that `place` gives for it, and sets it to 0.
    ///
    /// # Safety
    /// All lanes of the warp call it, and `out` is long enough.
    #[inline(always)]
    pub unsafe fn flush(self, out: DeviceSliceMut<u32>, place: impl Fn(u32) -> u32) {
        let mut word = lane_id();
        // SAFETY: as this function's; between the barriers a word is this lane's alone.
        unsafe {
            sync_warp(ALL);
            while word < self.words.len() {
                let value = self.words.load(word);
                self.words.store(word, 0);
                for i in 0..N {
                    let count = value >> (i * Self::BITS) & Self::MOST;
                    if count > 0 {
                        out.add(place(N * word + i) as usize, count);
                    }
                }
                word += LANES;
            }
            sync_warp(ALL);
        }
    }
}
