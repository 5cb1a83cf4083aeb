//! Bitonic sort and count in shared memory (Shams 2009, sections 3.2, 3.5 and 3.8, listing 2). When two elements of the
//! same bin are compared, the later one takes the sum of both counters and the other one 0. After the sort, a bin has
//! at most one counter that is not 0.
//!
//! Why this is so: in a sorted sequence, the counter of a bin is at the end of the run of that bin, so that the
//! sequence is also sorted by (bin, counter > 0). Two such sequences in opposite directions form a bitonic sequence in
//! that order, and a bin has at most two counters in it. The merge puts these two next to each other. A sorting network
//! must compare elements that end up next to each other, so the two are compared at some point, and added.
//!
//! Listing 2 has misprints. `k <=< 1` and `j >=> 1` are the shifts `k <<= 1` and `j >>= 1`, and its comments exchange
//! the directions: even blocks are ascending. A deliberate difference: between steps whose elements are used by one
//! warp only, there is a warp barrier in place of a block barrier. With 512 threads, 15 block barriers remain in 55
//! steps.

use crate::kernels::{WARP, block_threads, thread_number};
use cuda_std::shared::{SharedElement, SharedSlice};
use cuda_std::thread::sync_threads;
use cuda_std::warp;

/// An integer with a bin number in its low half and a counter in its high half.
pub trait Element: SharedElement {
    /// An element; both numbers must fit.
    fn new(bin: u32, counter: u32) -> Self;
    /// The bin's number.
    fn bin(self) -> u32;
    /// The counter.
    fn counter(self) -> u32;
}

/// Bin number and counter have 16 bits each, as in the paper.
impl Element for u32 {
    #[inline(always)]
    fn new(bin: u32, counter: u32) -> Self {
        bin & 0xFFFF | counter << 16
    }

    #[inline(always)]
    fn bin(self) -> u32 {
        self & 0xFFFF
    }

    #[inline(always)]
    fn counter(self) -> u32 {
        self >> 16
    }
}

/// Bin number and counter have 32 bits each.
impl Element for u64 {
    #[inline(always)]
    fn new(bin: u32, counter: u32) -> Self {
        u64::from(bin) | u64::from(counter) << 32
    }

    #[inline(always)]
    fn bin(self) -> u32 {
        self as u32
    }

    #[inline(always)]
    fn counter(self) -> u32 {
        (self >> 32) as u32
    }
}

/// Sorts the elements by bin and adds up the counters of each bin. The caller passes a block barrier before; this
/// function ends with one.
///
/// # Safety
/// All threads of the block call this function. Their number is a power of two, at least 32. There are twice as many
/// elements, all written.
#[inline(always)]
pub unsafe fn sort_and_count<E: Element>(elements: SharedSlice<E>) {
    let (me, last) = (thread_number(), 2 * block_threads());
    let mut block = 2;
    while block <= last {
        let ascending = me & (block / 2) == 0;
        let mut offset = block / 2;
        while offset > 0 {
            let first = 2 * me - (me & (offset - 1));
            // SAFETY: no other thread uses these two elements before the next barrier.
            unsafe {
                match ascending {
                    true => compare(elements, first, first + offset),
                    false => compare(elements, first + offset, first),
                }
            }
            let next = if offset > 1 { offset / 2 } else { block };
            // Up to this distance, each warp compares only elements of its own 64.
            if offset > WARP || next > WARP {
                sync_threads();
            } else {
                // SAFETY: whole warps come here together.
                unsafe { warp::sync_warp(warp::ALL) };
            }
            offset /= 2;
        }
        block *= 2;
    }
}

/// Puts two elements in order. If they have the same bin, the later one takes the sum of the counters, and the other
/// one 0.
#[inline(always)]
unsafe fn compare<E: Element>(elements: SharedSlice<E>, early: u32, late: u32) {
    // SAFETY: by the caller's contract.
    unsafe {
        let (a, b) = (elements.load(early), elements.load(late));
        if a.bin() > b.bin() {
            elements.store(early, b);
            elements.store(late, a);
        } else if a.bin() == b.bin() {
            elements.store(early, E::new(a.bin(), 0));
            elements.store(late, E::new(a.bin(), a.counter() + b.counter()));
        }
    }
}
