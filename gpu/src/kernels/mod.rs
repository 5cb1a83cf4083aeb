//! The kernels, one folder per family: shells that index, guard, cooperate and store around [`crate::math`]. What several families need
//! lies here, in [`sample`], `batch` and `ordered`.

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

/// Calls `each` for this thread's share of the numbers below `n`: those that equal its own number modulo the threads of the block.
#[inline(always)]
fn each_of(n: u32, each: impl Fn(u32)) {
    let mut i = thread_number();
    while i < n {
        each(i);
        i += block_threads();
    }
}

/// Whether this block is the last along x to call this with its `done[number]`; if so, it sees what the other blocks have written before
/// they called it.
///
/// # Safety
/// Every thread of the block calls it. `done` has an element of this number, which was 0 at launch.
#[inline(always)]
unsafe fn is_last(done: DeviceSliceMut<u32>, number: u32) -> bool {
    let last = shared_slice![u32; 1];
    thread::device_fence();
    thread::sync_threads();
    if thread_number() == 0 {
        // SAFETY: the caller says that `done` has this element.
        let before = unsafe { done.fetch_add(number as usize, 1) };
        // SAFETY: the slice has one word, and the others read it after the barrier.
        unsafe { last.store(0, u32::from(before + 1 == thread::grid_dim_x())) };
    }
    thread::sync_threads();
    thread::device_fence();
    // SAFETY: thread 0 stored it before the barrier.
    unsafe { last.load(0) == 1 }
}

impl Taps for DeviceSlice<f32> {
    #[inline(always)]
    unsafe fn four(self, i: usize) -> [f32; 4] {
        // SAFETY: the caller says that these four are in the volume.
        unsafe { [self.get_cached(i), self.get_cached(i + 1), self.get_cached(i + 2), self.get_cached(i + 3)] }
    }
}
