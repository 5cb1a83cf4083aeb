//! The kernels, one family a file: shells that index, guard, cooperate and store around [`crate::math`].

mod batch;
pub mod entropy;
pub mod histogram;
mod ordered;
pub mod partial_volume;
pub mod resample;
pub mod sample;
pub mod viola;

use crate::math::cubic::Taps;
use cuda_std::global::DeviceSlice;
use cuda_std::thread;

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

impl Taps for DeviceSlice<f32> {
    #[inline(always)]
    unsafe fn four(self, i: usize) -> [f32; 4] {
        // SAFETY: as this function's.
        unsafe { [self.get_cached(i), self.get_cached(i + 1), self.get_cached(i + 2), self.get_cached(i + 3)] }
    }
}
