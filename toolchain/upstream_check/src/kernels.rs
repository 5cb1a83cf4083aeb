//! Kernels that use only the API of the published `cuda_std` 0.2.2.

use cuda_std::atomic::{AtomicF32, AtomicF64};
use cuda_std::{GpuFloat, gpu_only, kernel, shared, shared_array, thread, warp};
use std::sync::atomic::Ordering;

const BLOCK: usize = 64;

/// A struct that is passed to a kernel by value.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Line {
    pub slope: f32,
    pub offset: f32,
    pub count: usize,
}

/// `y[i] = slope * x[i] + offset`, for any shape of grid and block.
///
/// # Safety
/// `x` and `y` must hold `line.count` elements.
#[kernel]
pub unsafe fn evaluate_line(line: Line, x: *const f32, y: *mut f32) {
    let i = thread::index() as usize;
    if i < line.count {
        // SAFETY: the caller says that both hold `count` elements; this one is this thread's.
        unsafe { *y.add(i) = (*x.add(i)).mul_add(line.slope, line.offset) }
    }
}

/// Reverses the `BLOCK` or fewer values of each block, through static shared memory.
///
/// # Safety
/// `values` must hold one element for each thread of the grid, whose blocks have at most `BLOCK` threads.
#[kernel]
pub unsafe fn reverse_blocks(values: *mut i32) {
    let staged = shared_array![i32; BLOCK];
    let lane = thread::thread_idx_x() as usize;
    let last = thread::block_dim_x() as usize - 1;
    let i = thread::index_1d() as usize;
    // SAFETY: a block has at most `BLOCK` threads, and the caller says that each has an element.
    unsafe { *staged.add(lane) = *values.add(i) }
    thread::sync_threads();
    // SAFETY: as above; the barrier is behind all writes of the block.
    unsafe { *values.add(i) = *staged.add(last - lane) }
}

/// Adds the squares of the block's thread indices, using dynamic shared memory, barriers and atomics.
///
/// # Safety
/// The launch must have four bytes of dynamic shared memory for each thread of a block, and the pointers must be valid.
#[kernel]
pub unsafe fn sum_of_squares(total: *const AtomicF32, threads_seen: *mut u32, exact: *const AtomicF64) {
    let squares = shared::dynamic_shared_mem::<f32>();
    let index = thread::thread_idx();
    let threads = thread::block_dim();
    // SAFETY: the caller says that each thread has four bytes.
    unsafe { *squares.add(index.x as usize) = (index.x as f32).powi(2) }
    let even = thread::sync_threads_count(u32::from(index.x.is_multiple_of(2)));
    if index.x == 0 {
        let mut sum = 0.0;
        for i in 0..threads.x {
            // SAFETY: `i` is a thread of the block; the barrier is behind all writes.
            sum += unsafe { *squares.add(i as usize) };
        }
        // SAFETY: the caller's atomics outlive the launch.
        unsafe {
            (*total).fetch_add(sum, Ordering::Relaxed);
            (*exact).fetch_add(f64::from(sum), Ordering::AcqRel);
        }
        thread::device_fence();
    }
    if thread::first() {
        // SAFETY: one thread of the grid writes it.
        unsafe { *threads_seen = 2 * even }
    }
}

/// Writes each thread's lane after a warp barrier, or `u32::MAX` if its 2-D and 3-D indices disagree.
///
/// # Safety
/// `lanes` must hold one element for each thread of the grid, and blocks must be whole warps.
#[kernel]
pub unsafe fn lanes(lanes: *mut u32) {
    // SAFETY: the caller says that blocks are whole warps, all of which begin here.
    unsafe { warp::sync_warp(u32::MAX) }
    let at = thread::index_3d();
    let plane = thread::index_2d();
    let inside = at.x == plane.x && at.y == plane.y && at.z == thread::thread_idx_z() && thread::warp_size() == 32;
    // SAFETY: the caller says that each thread of the grid has an element.
    unsafe { *lanes.add(thread::index() as usize) = if inside { warp::lane_id() } else { u32::MAX } }
}

/// The methods of `GpuFloat`, each through its trait.
#[rustfmt::skip]
#[must_use]
pub fn float_methods<T: GpuFloat>(x: T, y: T) -> [T; 32] {
    let (sine, cosine) = x.sin_cos();
    [
        x.floor(), x.ceil(), x.round(), x.trunc(), x.fract(), x.abs(), x.signum(), x.copysign(y),
        x.mul_add(y, x), x.div_euclid(y), x.rem_euclid(y), x.powi(3), x.powf(y), x.sqrt(), x.exp(), x.exp2(),
        x.ln(), x.log(y), x.log2(), x.log10(), x.cbrt(), x.hypot(y), sine, cosine,
        x.tan(), x.atan(), x.atan2(y), x.exp_m1(), x.ln_1p(), x.sinh(), x.tanh(), x.asinh(),
    ]
}

/// A function that is available on the device only.
#[gpu_only]
#[must_use]
pub fn on_the_device() -> u32 {
    1
}
