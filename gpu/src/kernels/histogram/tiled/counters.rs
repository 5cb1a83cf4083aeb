//! The counters of a thread block in shared memory: whole words, or halves of words if whole words do not fit. Also the
//! index of the global counter to which each is added.

use crate::kernels::{block_threads, thread_number};
use crate::params::Tiled;
use cuda_std::shared::SharedSlice;
use cuda_std::thread::{block_idx_y, sync_threads};
use cuda_std::warp;

/// A block's counters.
pub trait Counters: Copy {
    /// Creates counters in these words of shared memory.
    fn new(words: SharedSlice<u32>) -> Self;

    /// Adds 1 to counter `i - bias`. The bias is the same for many calls, so that it can be folded into the address.
    ///
    /// # Safety
    /// `i - bias` is the number of a counter.
    unsafe fn count(self, i: u32, bias: u32);

    /// [`count`](Self::count) if `condition` holds.
    ///
    /// # Safety
    /// If the condition holds, as [`count`](Self::count).
    unsafe fn count_if(self, condition: bool, i: u32, bias: u32);

    /// The words.
    fn words(self) -> SharedSlice<u32>;

    /// Returns whether counters have overflowed in a round in which this thread counted `mine` samples. Every thread of
    /// the block calls this function, with `scratch` of one word.
    ///
    /// # Safety
    /// No thread counts meanwhile.
    unsafe fn overflowed(self, mine: u32, scratch: SharedSlice<u32>) -> bool;

    /// Whether counters are so narrow that they must be emptied after every round.
    const NARROW: bool;
}

/// One word per counter, which cannot overflow.
#[derive(Clone, Copy)]
pub struct Words(SharedSlice<u32>);

impl Counters for Words {
    const NARROW: bool = false;

    #[inline(always)]
    fn new(words: SharedSlice<u32>) -> Self {
        Self(words)
    }

    #[inline(always)]
    unsafe fn count(self, i: u32, bias: u32) {
        // SAFETY: by this function's contract. The hardware combines the additions of a constant 1 to equal addresses
        // in one operation.
        unsafe { self.0.numbered_from(bias).add(i, 1) };
    }

    #[inline(always)]
    unsafe fn count_if(self, condition: bool, i: u32, bias: u32) {
        // SAFETY: by this function's contract.
        unsafe { self.0.numbered_from(bias).add_if(condition, i, 1) };
    }

    #[inline(always)]
    fn words(self) -> SharedSlice<u32> {
        self.0
    }

    #[inline(always)]
    unsafe fn overflowed(self, _: u32, _: SharedSlice<u32>) -> bool {
        false
    }
}

/// Two 16-bit counters per word. The low halves are the counters of the lower half of the moving bins, the high halves
/// those of the upper half.
///
/// A counter that overflows carries into the other counter or out of the word. Either makes the sum of all counters too
/// small, by 65535 or by 65536. So every overflow is detected: [`Counters::overflowed`] compares the sum with the
/// number of counted samples.
#[derive(Clone, Copy)]
pub struct Halves(SharedSlice<u32>);

impl Halves {
    /// Returns the word of a counter, and the number to add to the word to count 1.
    #[inline(always)]
    fn place(self, i: u32) -> (u32, u32) {
        if i < self.0.len() { (i, 1) } else { (i.wrapping_sub(self.0.len()), 1 << 16) }
    }
}

impl Counters for Halves {
    const NARROW: bool = true;

    #[inline(always)]
    fn new(words: SharedSlice<u32>) -> Self {
        Self(words)
    }

    #[inline(always)]
    unsafe fn count(self, i: u32, bias: u32) {
        let (word, one) = self.place(i.wrapping_sub(bias));
        // SAFETY: by this function's contract.
        unsafe { self.0.add(word, one) };
    }

    #[inline(always)]
    unsafe fn count_if(self, condition: bool, i: u32, bias: u32) {
        let (word, one) = self.place(i.wrapping_sub(bias));
        // SAFETY: by this function's contract.
        unsafe { self.0.add_if(condition, word, one) };
    }

    #[inline(always)]
    fn words(self) -> SharedSlice<u32> {
        self.0
    }

    #[inline(always)]
    unsafe fn overflowed(self, mine: u32, scratch: SharedSlice<u32>) -> bool {
        if thread_number() == 0 {
            // SAFETY: one word; a barrier before others use it.
            unsafe { scratch.store(0, 0) };
        }
        sync_threads();
        let mut missing = mine;
        let mut i = thread_number();
        while i < self.0.len() {
            // SAFETY: in bounds, and no thread counts meanwhile.
            let word = unsafe { self.0.load(i) };
            missing = missing.wrapping_sub((word & 0xFFFF) + (word >> 16));
            i += block_threads();
        }
        // SAFETY: whole warps come here.
        unsafe {
            let missing = warp::reduce_add(warp::ALL, missing);
            if warp::lane_id() == 0 {
                scratch.add(0, missing);
            }
        }
        sync_threads();
        // SAFETY: written before the barrier, and read before the next one.
        let missing = unsafe { scratch.load(0) };
        sync_threads();
        missing != 0
    }
}

/// Returns the index of the global counter of a pair of bins, in the joint histogram of this block's transform.
#[inline(always)]
pub fn global(p: &Tiled, fixed: u32, moving: u32) -> usize {
    let [fixed_bins, moving_bins] = p.images.bins;
    (block_idx_y() * fixed_bins * moving_bins + fixed + fixed_bins * moving) as usize
}
