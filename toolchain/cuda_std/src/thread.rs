//! The indices of a thread in its block and grid, block barriers, and memory fences.
//!
//! Indices are [`glam`] vectors ([`UVec3`], [`UVec2`]); in the published crate they are those of `vek`.

use crate::arch::thread as arch;
use glam::{UVec2, UVec3, uvec2, uvec3};

macro_rules! indices {
    ($($(#[$doc:meta])* $name:ident: $x:ident, $y:ident, $z:ident = $register:literal;)*) => {$(
        #[doc = concat!("x of [`", stringify!($name), "`]. PTX: `%", $register, ".x`. Any thread.")]
        #[inline(always)]
        pub fn $x() -> u32 {
            arch::$x()
        }

        #[doc = concat!("y of [`", stringify!($name), "`]. PTX: `%", $register, ".y`. Any thread.")]
        #[inline(always)]
        pub fn $y() -> u32 {
            arch::$y()
        }

        #[doc = concat!("z of [`", stringify!($name), "`]. PTX: `%", $register, ".z`. Any thread.")]
        #[inline(always)]
        pub fn $z() -> u32 {
            arch::$z()
        }

        $(#[$doc])*
        #[doc = concat!("\n\nPTX: `%", $register, "`. Any thread.")]
        #[inline(always)]
        pub fn $name() -> UVec3 {
            uvec3($x(), $y(), $z())
        }
    )*};
}

indices! {
    /// Index of the thread in its block.
    thread_idx: thread_idx_x, thread_idx_y, thread_idx_z = "tid";
    /// Index of the block in its grid.
    block_idx: block_idx_x, block_idx_y, block_idx_z = "ctaid";
    /// Threads in a block along each axis.
    block_dim: block_dim_x, block_dim_y, block_dim_z = "ntid";
    /// Blocks in the grid along each axis.
    grid_dim: grid_dim_x, grid_dim_y, grid_dim_z = "nctaid";
}

/// Index of the thread in the whole grid, unique for any shape of grid and block; x runs fastest.
#[inline(always)]
pub fn index() -> u32 {
    let (grid, block, at, thread) = (grid_dim(), block_dim(), block_idx(), thread_idx());
    let block_index = at.x + grid.x * (at.y + grid.y * at.z);
    let thread_index = thread.x + block.x * (thread.y + block.y * thread.z);
    block_index * (block.x * block.y * block.z) + thread_index
}

/// Index of the thread along x in the whole grid.
#[inline(always)]
pub fn index_1d() -> u32 {
    thread_idx_x() + block_idx_x() * block_dim_x()
}

/// Index of the thread along x and y in the whole grid.
#[inline(always)]
pub fn index_2d() -> UVec2 {
    uvec2(index_1d(), thread_idx_y() + block_idx_y() * block_dim_y())
}

/// Index of the thread along x, y and z in the whole grid.
#[inline(always)]
pub fn index_3d() -> UVec3 {
    index_2d().extend(thread_idx_z() + block_idx_z() * block_dim_z())
}

/// Whether this is the thread of index 0 in the block of index 0: true in exactly one thread of the grid.
#[inline(always)]
pub fn first() -> bool {
    block_idx() == UVec3::ZERO && thread_idx() == UVec3::ZERO
}

/// Threads of a warp: 32. PTX: `WARP_SZ`. Any thread.
#[inline(always)]
pub fn warp_size() -> u32 {
    32
}

/// Waits for all threads of the block; what they wrote to shared or global memory is then visible to all of them.
///
/// PTX: `bar.sync 0`. Every thread of the block must call it, from the same place.
#[inline(always)]
pub fn sync_threads() {
    arch::sync_threads();
}

/// [`sync_threads`] that returns the number of threads in which `predicate` is not 0.
///
/// PTX: `bar.red.popc.u32`. Every thread of the block must call it.
#[inline(always)]
pub fn sync_threads_count(predicate: u32) -> u32 {
    arch::sync_threads_count(predicate)
}

/// [`sync_threads`] that returns a number other than 0 if `predicate` is not 0 in every thread.
///
/// PTX: `bar.red.and.pred`. Every thread of the block must call it.
#[inline(always)]
pub fn sync_threads_and(predicate: u32) -> u32 {
    arch::sync_threads_and(predicate)
}

/// [`sync_threads`] that returns a number other than 0 if `predicate` is not 0 in at least one thread.
///
/// PTX: `bar.red.or.pred`. Every thread of the block must call it.
#[inline(always)]
pub fn sync_threads_or(predicate: u32) -> u32 {
    arch::sync_threads_or(predicate)
}

/// Memory fence between the threads of the grid. It orders writes, and does not wait.
///
/// PTX: `membar.gl`. Any thread.
#[inline(always)]
pub fn grid_fence() {
    arch::grid_fence();
}

/// Memory fence between the threads of the device. It orders writes, and does not wait.
///
/// PTX: `membar.gl`. Any thread.
#[inline(always)]
pub fn device_fence() {
    arch::device_fence();
}

/// Memory fence between device, other devices and host. It orders writes, and does not wait.
///
/// PTX: `membar.sys`. Any thread.
#[inline(always)]
pub fn system_fence() {
    arch::system_fence();
}

/// Suspends the thread for about `nanos` nanoseconds (at most 1 ms). PTX: `nanosleep.u32`. Any thread.
#[inline(always)]
pub fn nanosleep(nanos: u32) {
    arch::nanosleep(nanos);
}
