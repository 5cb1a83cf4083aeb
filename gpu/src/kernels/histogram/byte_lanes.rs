//! The joint histogram and both marginals in one pass, all three in shared memory (Ge's slides "Mutual Information in
//! CUDA", after Podlozhnyuk's histogram64 and histogram256).
//!
//! Marginals of up to 64 bins have one byte per bin and thread, to which only that thread adds, without atomics. The
//! positions of the bytes are permuted such that the bytes of a warp's threads are in words of different banks,
//! whatever the bins are, so that there are no bank conflicts. A thread adds at most 1 per bin and step, and the block
//! adds up the bytes after 255 steps, so that no byte overflows. Marginals of up to 256 bins have one histogram per
//! warp, with atomics. There is one joint histogram per block, with atomics.
//!
//! Deliberate differences: the slides permute for 16 banks; today there are 32. The slides have 64 or 256 bins and
//! divide intensities by 4; here, any number of bins up to 64 or 256 is possible. A joint histogram that does not fit
//! in shared memory is counted in ranges, one for each z of the grid; the blocks at z = 0 count the marginals. Blocks
//! add to the results by atomics, whereas the slides store partial histograms and sum them in another launch.

use super::pair::{self, NONE};
use crate::kernels::{WARP, each_along_x};
use crate::params::ByteLanes;
use cuda_std::kernel;
use cuda_std::shared::{self, SharedSlice};
use cuda_std::thread::{block_dim_x, block_idx_x, block_idx_z, grid_dim_x, sync_threads, thread_idx_x};

/// Steps after which the bytes are added up, before they overflow.
const STEPS: u32 = 255;

/// Counts up to 64 bins of each image. Blocks of 128, 256, 384 or 512; [`Lanes::bytes`] of dynamic shared memory, then `range`
/// words.
///
/// # Safety
/// The images are as their documentation says, and every size is at least 1.
#[kernel]
pub unsafe fn byte_lanes_64(p: ByteLanes) {
    // SAFETY: by this function's contract.
    unsafe { count::<Lanes>(&p) }
}

/// Counts up to 256 bins of each image. Blocks of whole warps; [`Warps::bytes`] of dynamic shared memory, then `range` words.
///
/// # Safety
/// As [`byte_lanes_64`].
#[kernel]
pub unsafe fn byte_lanes_256(p: ByteLanes) {
    // SAFETY: by this function's contract.
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
    /// `bin` is one of the bins, whose counters have been initialised. A thread calls this at most 255 times for a bin
    /// before all counters are taken by [`take`](Self::take).
    unsafe fn add(self, bin: u32);

    /// Returns the block's count of a bin, and sets it to 0.
    ///
    /// # Safety
    /// `bin` is one of the bins. No other thread uses it between the last block barrier and the next one.
    unsafe fn take(self, bin: u32) -> u32;
}

/// One byte per bin and thread.
#[derive(Clone, Copy)]
pub struct Lanes {
    bytes: SharedSlice<u8>,
    /// The same memory, as words.
    words: SharedSlice<u32>,
}

/// Returns the position of a thread's byte in the bytes of a bin. Within each 128 threads, bits 0 to 4 of the thread
/// number select the word, and bits 5 and 6 the byte in the word.
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
        // SAFETY: by this function's contract.
        unsafe { Self { bytes: shared::dynamic(0, bytes), words: shared::dynamic(0, bytes / 4) } }
    }

    #[inline(always)]
    unsafe fn add(self, bin: u32) {
        let at = bin * block_dim_x() + position(thread_idx_x());
        // SAFETY: the byte of a bin is this thread's own.
        unsafe { self.bytes.store(at, self.bytes.load(at) + 1) }
    }

    /// Adds two bytes at a time, in the halves of a word. A half sums two bytes from each of up to 128 words, at most
    /// 65280, which fits in 16 bits.
    #[inline(always)]
    unsafe fn take(self, bin: u32) -> u32 {
        let words = block_dim_x() / 4;
        let (mut column, mut sums) = (bin % WARP, 0);
        for _ in 0..words {
            // Threads take neighbouring bins, and each bin begins at another word, so that there are no bank conflicts.
            let at = bin * words + column;
            // SAFETY: by this function's contract.
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
        // SAFETY: by this function's contract.
        Self { counters: unsafe { shared::dynamic(0, Self::bytes(bins, block_dim_x()) / 4) }, bins }
    }

    #[inline(always)]
    unsafe fn add(self, bin: u32) {
        // SAFETY: by this function's contract.
        unsafe { self.counters.add(thread_idx_x() / WARP * self.bins + bin, 1) }
    }

    #[inline(always)]
    unsafe fn take(self, bin: u32) -> u32 {
        let mut sum = 0;
        for warp in 0..block_dim_x() / WARP {
            // SAFETY: by this function's contract.
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
    // SAFETY: only one thread uses each word before the barrier.
    unsafe {
        let all = shared::dynamic::<u32>(0, bytes / 4 + p.range);
        each_along_x(all.len(), |word| all.store(word, 0));
    }
    sync_threads();
    let (mut first, mut steps) = (block_idx_x() * threads, 0);
    while first < width * height * depth {
        // SAFETY: pairs of samples inside are in the joint histogram, and bytes are added up before they overflow.
        unsafe {
            let pair = pair::pair_or_none(&p.images, first + thread_idx_x());
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
    // SAFETY: all threads come here; only pairs of the joint histogram have counts.
    unsafe {
        add_up(p, marginals);
        each_along_x(p.range, |index| {
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
        each_along_x(p.images.bins[0] + p.images.bins[1], |bin| {
            // SAFETY: only this thread uses the bin between the barriers.
            let count = unsafe { marginals.take(bin) };
            if count > 0 {
                // SAFETY: one of the bins.
                unsafe { p.marginals.add(bin as usize, count) };
            }
        });
    }
    sync_threads();
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
