//! Bitonic sort and count in shared memory (Shams 2009, sections 3.2, 3.5 and 3.8, listing 2): where two elements of the same bin are
//! compared, the later one takes both counters. At the end a bin has at most one counter that is not 0.
//!
//! The reason: within a sorted block a bin's counter stands at the end of its run, so the block is sorted by (bin, counter > 0) as well.
//! Two such blocks in opposite directions are a bitonic sequence in that order, in which a bin has two counters at most. They end
//! up next to each other, and a network that sorts must compare what ends up next to each other: they meet, and are added.
//!
//! Listing 2 is misprinted. `k <=< 1` and `j >=> 1` are shifts, `k <<= 1` and `j >>= 1`, and its comments have the directions the
//! wrong way round: even blocks are the ascending ones. A deliberate difference: elements that only one warp uses need a barrier of the
//! warp in place of one of the block. With 512 threads that leaves 15 barriers of the block in 55 steps.

use crate::kernels::{block_threads, thread_number};
use cuda_std::shared::{SharedElement, SharedSlice};
use cuda_std::thread::sync_threads;
use cuda_std::warp;

/// The largest distance between two elements of one warp.
const WARP: u32 = 32;

/// A bin's number in the low half and a counter in the high half.
pub trait Element: SharedElement {
    /// An element; both numbers must fit.
    fn new(bin: u32, counter: u32) -> Self;
    /// The bin's number.
    fn bin(self) -> u32;
    /// The counter.
    fn counter(self) -> u32;
}

/// 16 bits each, as in the paper.
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

/// 32 bits each.
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

/// Sorts by bin and adds up the counters of each. Starts after, and ends with, a barrier of the block.
///
/// # Safety
/// All threads of the block call it; they are a power of two, 32 or more, and the elements twice as many and written.
#[inline(always)]
pub unsafe fn sort_and_count<E: Element>(elements: SharedSlice<E>) {
    let (me, last) = (thread_number(), 2 * block_threads());
    let mut block = 2;
    while block <= last {
        let ascending = me & (block / 2) == 0;
        let mut offset = block / 2;
        while offset > 0 {
            let first = 2 * me - (me & (offset - 1));
            // SAFETY: no other thread has these two elements before the next barrier.
            unsafe {
                match ascending {
                    true => compare(elements, first, first + offset),
                    false => compare(elements, first + offset, first),
                }
            }
            let next = if offset > 1 { offset / 2 } else { block };
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

/// Puts two elements in order; of the same bin, the later one takes both counters.
#[inline(always)]
unsafe fn compare<E: Element>(elements: SharedSlice<E>, early: u32, late: u32) {
    // SAFETY: as the caller's.
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
