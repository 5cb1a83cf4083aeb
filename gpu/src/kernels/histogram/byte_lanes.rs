//! The joint histogram and both marginals in one pass, all three in shared memory (Ge's slides "Mutual Information in
//! CUDA", after Podlozhnyuk's histogram64 and histogram256).
//!
//! Marginals of up to 64 bins have one byte per bin and thread, to which that thread alone adds, without atomics. The
//! positions of the bytes are shuffled such that the threads of a warp have the same byte of words in different banks,
//! whatever their bins. A thread adds at most 1 per bin and step, and after 255 steps the block adds up the bytes: none
//! overflows. Marginals of up to 256 bins have one histogram per warp, with atomics. The joint histogram is one per block,
//! with atomics.
//!
//! Deliberate differences: the slides shuffle for 16 banks; today there are 32. They count 64 or 256 bins and divide
//! intensities by 4; here any number of bins up to these will do. A joint histogram that does not fit is counted a range
//! at a time, one for each z of the grid; z 0 counts the marginals. Blocks add to the results by atomics, where the slides
//! store partial histograms and launch a sum.

use super::pair::{self, NONE};
use crate::params::ByteLanes;
use cuda_std::kernel;
use cuda_std::shared::{self, SharedSlice};
use cuda_std::thread::{block_dim_x, block_idx_x, block_idx_z, grid_dim_x, sync_threads, thread_idx_x};

/// Lanes of a warp, and banks of shared memory.
const WARP: u32 = 32;

/// Steps after which bytes are added up.
const STEPS: u32 = 255;

/// Counts up to 64 bins of each image. Blocks of 128, 256, 384 or 512; [`Lanes::bytes`] of dynamic shared memory, then `range`
/// words.
///
/// # Safety
/// The images are as their documentation says, and every size is at least 1.
#[kernel]
pub unsafe fn byte_lanes_64(p: ByteLanes) {
    // SAFETY: as this function's.
    unsafe { count::<Lanes>(&p) }
}

/// Counts up to 256 bins of each image. Blocks of whole warps; [`Warps::bytes`] of dynamic shared memory, then `range` words.
///
/// # Safety
/// As [`byte_lanes_64`].
#[kernel]
pub unsafe fn byte_lanes_256(p: ByteLanes) {
    // SAFETY: as this function's.
    unsafe { count::<Warps>(&p) }
}

/// A block's marginals: the bins of the fixed image, then those of the moving image.
pub trait Marginals: Copy {
    /// Bytes of shared memory of a block, a multiple of 4.
    fn bytes(bins: u32, threads: u32) -> u32;

    /// The marginals at the start of the dynamic shared memory.
    ///
    /// # Safety
    /// There is as much as [`bytes`](Self::bytes) says.
    unsafe fn new(bins: u32) -> Self;

    /// Adds 1.
    ///
    /// # Safety
    /// `bin` is one of the bins, and is written. A thread may call it 255 times for a bin between two barriers with a
    /// [`take`](Self::take).
    unsafe fn add(self, bin: u32);

    /// Returns what the block has counted, and sets it to 0.
    ///
    /// # Safety
    /// `bin` is one of the bins; no other thread uses it up to the next barrier, nor has since the last.
    unsafe fn take(self, bin: u32) -> u32;
}

/// One byte per bin and thread.
#[derive(Clone, Copy)]
pub struct Lanes {
    bytes: SharedSlice<u8>,
    /// The same memory.
    words: SharedSlice<u32>,
}

/// The byte of a thread in each row of them: within 128 threads, bits 0 to 4 say the word and bits 5 and 6 the byte of
/// it.
#[inline(always)]
fn position(thread: u32) -> u32 {
    thread & !(4 * WARP - 1) | (thread & (WARP - 1)) << 2 | (thread & (3 * WARP)) >> 5
}

impl Marginals for Lanes {
    #[inline(always)]
    fn bytes(bins: u32, threads: u32) -> u32 {
        bins * threads
    }

    #[inline(always)]
    unsafe fn new(bins: u32) -> Self {
        let bytes = Self::bytes(bins, block_dim_x());
        // SAFETY: as this function's.
        unsafe { Self { bytes: shared::dynamic(0, bytes), words: shared::dynamic(0, bytes / 4) } }
    }

    #[inline(always)]
    unsafe fn add(self, bin: u32) {
        let at = bin * block_dim_x() + position(thread_idx_x());
        // SAFETY: the byte of a bin is this thread's own.
        unsafe { self.bytes.store(at, self.bytes.load(at) + 1) }
    }

    /// Two bytes at a time, in halves of a word: up to 128 words with two bytes of at most 255 a half make 65280, which
    /// 16 bits hold.
    #[inline(always)]
    unsafe fn take(self, bin: u32) -> u32 {
        let words = block_dim_x() / 4;
        let (mut column, mut sums) = (bin % WARP, 0);
        for _ in 0..words {
            // Neighbouring bins begin at neighbouring words: they lie in different banks.
            let at = bin * words + column;
            // SAFETY: as this function's.
            unsafe {
                let word = self.words.load(at);
                self.words.store(at, 0);
                sums += (word & 0x00FF_00FF) + (word >> 8 & 0x00FF_00FF);
            }
            column = if column + 1 < words { column + 1 } else { 0 };
        }
        (sums & 0xFFFF) + (sums >> 16)
    }
}

/// One histogram per warp.
#[derive(Clone, Copy)]
pub struct Warps {
    counters: SharedSlice<u32>,
    bins: u32,
}

impl Marginals for Warps {
    #[inline(always)]
    fn bytes(bins: u32, threads: u32) -> u32 {
        4 * bins * (threads / WARP)
    }

    #[inline(always)]
    unsafe fn new(bins: u32) -> Self {
        // SAFETY: as this function's.
        Self { counters: unsafe { shared::dynamic(0, Self::bytes(bins, block_dim_x()) / 4) }, bins }
    }

    #[inline(always)]
    unsafe fn add(self, bin: u32) {
        // SAFETY: as this function's.
        unsafe { self.counters.add(thread_idx_x() / WARP * self.bins + bin, 1) }
    }

    #[inline(always)]
    unsafe fn take(self, bin: u32) -> u32 {
        let mut sum = 0;
        for warp in 0..block_dim_x() / WARP {
            // SAFETY: as this function's.
            unsafe {
                sum += self.counters.load(warp * self.bins + bin);
                self.counters.store(warp * self.bins + bin, 0);
            }
        }
        sum
    }
}

#[inline(always)]
unsafe fn count<M: Marginals>(p: &ByteLanes) {
    let ([width, height, depth], [fixed_bins, moving_bins]) = (p.images.fixed_size, p.images.bins);
    let (bins, threads) = (fixed_bins + moving_bins, block_dim_x());
    let bytes = M::bytes(bins, threads);
    // SAFETY: the launch gives `M::bytes` and `range` words.
    let (marginals, joint) = unsafe { (M::new(bins), shared::dynamic::<u32>(bytes, p.range)) };
    // SAFETY: an image has bins; without this line a division by zero would bring a panic into the PTX.
    unsafe { core::hint::assert_unchecked(fixed_bins > 0) };
    let (first_pair, with_marginals) = (p.range * block_idx_z(), block_idx_z() == 0);
    // SAFETY: each word is one thread's up to the barrier.
    unsafe {
        let all = shared::dynamic::<u32>(0, bytes / 4 + p.range);
        each(all.len(), |word| all.store(word, 0));
    }
    sync_threads();
    let (mut first, mut steps) = (block_idx_x() * threads, 0);
    while first < width * height * depth {
        // SAFETY: pairs of samples inside are in the joint histogram, and bytes are added up before they overflow.
        unsafe {
            let pair = pair::pair_if_there(&p.images, first + thread_idx_x());
            let index = pair.wrapping_sub(first_pair);
            joint.add_if(pair != NONE && index < p.range, index, 1);
            if pair != NONE && with_marginals {
                marginals.add(pair % fixed_bins);
                marginals.add(fixed_bins + pair / fixed_bins);
            }
            steps += 1;
            if steps == STEPS {
                add_up(p, marginals);
                steps = 0;
            }
        }
        first += grid_dim_x() * threads;
    }
    // SAFETY: all threads are here; pairs end where the joint histogram does.
    unsafe {
        add_up(p, marginals);
        each(p.range, |index| {
            let count = joint.load(index);
            if count > 0 {
                p.counters.add((p.first + first_pair + index) as usize, count);
            }
        });
    }
}

/// Adds the block's marginals to the result. All threads of the block call it; a barrier lies before and after.
#[inline(always)]
unsafe fn add_up<M: Marginals>(p: &ByteLanes, marginals: M) {
    sync_threads();
    if block_idx_z() == 0 {
        each(p.images.bins[0] + p.images.bins[1], |bin| {
            // SAFETY: one thread's between the barriers.
            let count = unsafe { marginals.take(bin) };
            if count > 0 {
                // SAFETY: one of the bins.
                unsafe { p.marginals.add(bin as usize, count) };
            }
        });
    }
    sync_threads();
}

/// Calls `each` for this thread's share of the numbers below `n`.
#[inline(always)]
fn each(n: u32, each: impl Fn(u32)) {
    let mut i = thread_idx_x();
    while i < n {
        each(i);
        i += block_dim_x();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warp_has_the_same_byte_of_words_in_different_banks() {
        for warp in 0..16 {
            let positions: Vec<u32> = (0..WARP).map(|lane| position(warp * WARP + lane)).collect();
            assert!(positions.iter().all(|at| at % 4 == warp % 4 && at / 128 == warp / 4));
            let mut banks: Vec<u32> = positions.iter().map(|at| at / 4 % WARP).collect();
            banks.sort_unstable();
            assert!(banks.into_iter().eq(0..WARP));
        }
    }
}
