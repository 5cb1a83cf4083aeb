//! The kernels, one family a file: shells that index, guard, cooperate and store around [`crate::math`].

mod batch;
pub mod copy;
pub mod entropy;
pub mod flow;
pub mod histogram;
pub mod mattes;
mod ordered;
pub mod partial_volume;
pub mod recursive;
pub mod resample;
pub mod sample;
pub mod viola;

use crate::math::cubic::Taps;
use cuda_std::global::{DeviceSlice, DeviceSliceMut};
use cuda_std::{shared_slice, thread};

/// A thread's number in its block, x fastest.
#[inline(always)]
fn thread_number() -> u32 {
    thread::thread_idx_x() + thread::block_dim_x() * thread::thread_idx_y()
}

/// Threads in a block of one or two dimensions.
#[inline(always)]
fn block_threads() -> u32 {
    thread::block_dim_x() * thread::block_dim_y()
}

/// Calls `each` for this thread's share of the numbers below `n`, every so-many-th of the block's.
#[inline(always)]
fn each_of(n: u32, each: impl Fn(u32)) {
    let mut i = thread_number();
    while i < n {
        each(i);
        i += block_threads();
    }
}

/// Whether this block is the last of those along x that count themselves in `done[number]`; then it sees what the others have written.
/// Every thread of the block calls it.
///
/// # Safety
/// `done` has the number, and began at 0.
#[inline(always)]
unsafe fn is_last(done: DeviceSliceMut<u32>, number: u32) -> bool {
    let last = shared_slice![u32; 1];
    thread::device_fence();
    thread::sync_threads();
    if thread_number() == 0 {
        // SAFETY: as this function's.
        let before = unsafe { done.fetch_add(number as usize, 1) };
        unsafe { last.store(0, u32::from(before + 1 == thread::grid_dim_x())) };
    }
    thread::sync_threads();
    thread::device_fence();
    // SAFETY: stored above.
    unsafe { last.load(0) == 1 }
}

impl Taps for DeviceSlice<f32> {
    #[inline(always)]
    unsafe fn four(self, i: usize) -> [f32; 4] {
        // SAFETY: as this function's.
        unsafe { [self.get_cached(i), self.get_cached(i + 1), self.get_cached(i + 2), self.get_cached(i + 3)] }
    }
}
