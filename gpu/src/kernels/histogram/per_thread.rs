//! The joint histogram with one partial histogram per thread (Method 2: Shams 2009, section 4.1.2).
//!
//! Each thread has a histogram in global memory, to which no other thread writes. To access it rarely, the thread keeps
//! one counter of b bits per bin in shared memory, 32 / b to a word. When a counter overflows, the thread adds 2^b to
//! the histogram in global memory, so that no count is lost. b is that of eq. 10, s_max * 32 / (B * N_b), rounded down
//! to a power of two, so that no counter straddles two words. If b is below 1, every voxel is counted in global memory
//! directly.
//!
//! A deliberate difference: at the end, the counts left in a block's packed counters are summed over the threads for
//! each bin, and added to the histogram of the block's first thread. This avoids a scattered addition for each bin and
//! thread.

use super::pair::{self, NONE};
use crate::kernels::each_of;
use crate::params::PerThread;
use cuda_std::kernel;
use cuda_std::shared::{self, SharedSlice};
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, sync_threads, thread_idx_x};

/// Threads of a block: N_b.
pub const THREADS: u32 = 32;

/// Counts into one partial histogram per thread. Blocks of [`THREADS`] threads; `words` words of dynamic shared memory per thread.
///
/// # Safety
/// The images are as their documentation says, there is a partial histogram for each thread, and every size is at least 1.
#[kernel]
pub unsafe fn histogram_per_thread(p: PerThread) {
    // SAFETY: the launcher gives as many.
    let packed = unsafe { shared::dynamic::<u32>(0, p.words * THREADS) };
    let me = thread_idx_x();
    let mut word = 0;
    while word < p.words {
        // SAFETY: this thread's own.
        unsafe { packed.store(word * THREADS + me, 0) };
        word += 1;
    }
    let [width, height, depth] = p.images.fixed_size;
    let mut voxel = me + THREADS * block_idx_x();
    while voxel < width * height * depth {
        // SAFETY: the voxel is in the fixed image.
        unsafe {
            let pair = pair::pair_or_none(&p.images, voxel);
            if pair != NONE {
                count(&p, packed, pair);
            }
        }
        voxel += grid_dim_x() * block_dim_x();
    }
    if p.words > 0 {
        sync_threads();
        // SAFETY: all counters are written, and all threads are here.
        unsafe { add_rest(&p, packed) };
    }
}

/// Returns where a bin's packed counter is: the number of its word among those of a thread, its lowest bit in the word,
/// and the largest number that it can hold.
#[inline(always)]
fn place(p: &PerThread, pair: u32) -> (u32, u32, u32) {
    let bits = 32 >> p.log2_per_word;
    (pair >> p.log2_per_word, (pair & ((1 << p.log2_per_word) - 1)) * bits, (1 << bits) - 1)
}

/// Counts one voxel.
#[inline(always)]
unsafe fn count(p: &PerThread, packed: SharedSlice<u32>, pair: u32) {
    let thread = block_idx_x() * THREADS + thread_idx_x();
    if p.words == 0 {
        // SAFETY: this thread's own.
        return unsafe { add(p, thread, pair, 1) };
    }
    let (word, low, most) = place(p, pair);
    let at = word * THREADS + thread_idx_x();
    // SAFETY: this thread's own.
    unsafe {
        let counters = packed.load(at);
        if counters >> low & most < most {
            packed.store(at, counters + (1 << low));
        } else {
            packed.store(at, counters & !(most << low));
            add(p, thread, pair, most + 1);
        }
    }
}

/// Adds to a thread's histogram.
#[inline(always)]
unsafe fn add(p: &PerThread, thread: u32, pair: u32, count: u32) {
    let at = thread as usize * (p.images.bins[0] * p.images.bins[1]) as usize + pair as usize;
    // SAFETY: by the caller's contract.
    unsafe { p.partials.set(at, p.partials.get(at) + count) };
}

/// Adds the block's packed counters to the histogram of its first thread, one thread per bin.
#[inline(always)]
unsafe fn add_rest(p: &PerThread, packed: SharedSlice<u32>) {
    let me = thread_idx_x();
    each_of(p.images.bins[0] * p.images.bins[1], |pair| {
        let (word, low, most) = place(p, pair);
        let mut sum = 0;
        for i in 0..THREADS {
            // Each lane begins with another thread's word, so that there are no bank conflicts.
            let thread = (me + i) % THREADS;
            // SAFETY: within the packed counters.
            sum += unsafe { packed.load(word * THREADS + thread) } >> low & most;
        }
        if sum > 0 {
            // SAFETY: the first thread's additions lie before the barrier, and the bin is this thread's.
            unsafe { add(p, block_idx_x() * THREADS, pair, sum) };
        }
    });
}
