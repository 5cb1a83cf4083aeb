//! The kernels, one module per family. They compute indices, check bounds, divide the work among threads and store
//! results; the formulas are in [`crate::math`]. Code that several families share is in this file and in [`sample`],
//! `batch`, `ordered` and `tiles`.

mod batch;
pub mod flow;
pub mod gaussian;
pub mod histogram;
pub mod image;
pub mod mattes;
mod ordered;
pub mod resample;
pub mod sample;
pub mod search;
mod tiles;
pub mod viola;

use crate::math::cubic::Taps;
use crate::math::entropy::LANES;
use cuda_std::global::{DeviceSlice, DeviceSliceMut};
use cuda_std::{shared_slice, thread};

/// Lanes of a warp.
pub const WARP: u32 = LANES as u32;

/// The number of the calling thread in its thread block, x fastest.
#[inline(always)]
fn thread_number() -> u32 {
    thread::thread_idx_x() + thread::block_dim_x() * thread::thread_idx_y()
}

/// The number of threads in a thread block of one or two dimensions.
#[inline(always)]
fn block_threads() -> u32 {
    thread::block_dim_x() * thread::block_dim_y()
}

/// The number of the calling thread's warp in its thread block.
#[inline(always)]
fn warp_number() -> u32 {
    thread_number() / WARP
}

/// The number of warps in a thread block.
#[inline(always)]
fn block_warps() -> u32 {
    block_threads() / WARP
}

/// Calls `each` with this thread's share of the numbers below `n` (a block-stride loop).
#[inline(always)]
fn each_of(n: u32, each: impl Fn(u32)) {
    let mut i = thread_number();
    while i < n {
        each(i);
        i += block_threads();
    }
}

/// As [`each_of`], for blocks of threads along x alone. Kernels that count atomically in a loop are up to 14 % faster with
/// it.
#[inline(always)]
fn each_along_x(n: u32, each: impl Fn(u32)) {
    let mut i = thread::thread_idx_x();
    while i < n {
        each(i);
        i += thread::block_dim_x();
    }
}

/// Returns whether this thread block is the last of `blocks()` to call this function for `done[number]`. The last block
/// sees everything that the others wrote before their calls. It has to set the element back to 0 for the next launch.
///
/// # Safety
/// Every thread of the block calls this function. `done` has an element `number`, which was 0 at launch.
#[inline(always)]
unsafe fn is_last(done: DeviceSliceMut<u32>, number: u32, blocks: impl FnOnce() -> u32) -> bool {
    let last = shared_slice![u32; 1];
    thread::device_fence();
    thread::sync_threads();
    if thread_number() == 0 {
        // SAFETY: the caller says that `done` has this element.
        let before = unsafe { done.fetch_add(number as usize, 1) };
        // SAFETY: the slice has one word, which other threads read after the barrier only.
        unsafe { last.store(0, u32::from(before + 1 == blocks())) };
    }
    thread::sync_threads();
    thread::device_fence();
    // SAFETY: thread 0 stored it before the barrier.
    unsafe { last.load(0) == 1 }
}

impl Taps for DeviceSlice<f32> {
    #[inline(always)]
    unsafe fn four(self, i: usize) -> [f32; 4] {
        // SAFETY: by this function's contract, these four elements are in the volume.
        unsafe { [self.get_cached(i), self.get_cached(i + 1), self.get_cached(i + 2), self.get_cached(i + 3)] }
    }
}
