//! Special registers, block barriers and fences.

use core::arch::{asm, nvptx};

macro_rules! registers {
    ($($name:ident = $intrinsic:ident;)*) => {$(
        #[inline(always)]
        pub fn $name() -> u32 {
            // SAFETY: reads a special register.
            unsafe { nvptx::$intrinsic() }
        }
    )*};
}

registers! {
    thread_idx_x = _thread_idx_x;
    thread_idx_y = _thread_idx_y;
    thread_idx_z = _thread_idx_z;
    block_idx_x = _block_idx_x;
    block_idx_y = _block_idx_y;
    block_idx_z = _block_idx_z;
    block_dim_x = _block_dim_x;
    block_dim_y = _block_dim_y;
    block_dim_z = _block_dim_z;
    grid_dim_x = _grid_dim_x;
    grid_dim_y = _grid_dim_y;
    grid_dim_z = _grid_dim_z;
}

unsafe extern "C" {
    #[link_name = "llvm.nvvm.barrier0.popc"]
    safe fn barrier_popc(predicate: u32) -> u32;
    #[link_name = "llvm.nvvm.barrier0.and"]
    safe fn barrier_and(predicate: u32) -> u32;
    #[link_name = "llvm.nvvm.barrier0.or"]
    safe fn barrier_or(predicate: u32) -> u32;
    #[link_name = "llvm.nvvm.membar.gl"]
    safe fn membar_gl();
    #[link_name = "llvm.nvvm.membar.sys"]
    safe fn membar_sys();
}

#[inline(always)]
pub fn sync_threads() {
    // SAFETY: a barrier. If not all threads arrive, the kernel hangs or fails, which is not undefined behaviour in
    // Rust.
    unsafe { nvptx::_syncthreads() }
}

#[inline(always)]
pub fn sync_threads_count(predicate: u32) -> u32 {
    barrier_popc(predicate)
}

#[inline(always)]
pub fn sync_threads_and(predicate: u32) -> u32 {
    barrier_and(predicate)
}

#[inline(always)]
pub fn sync_threads_or(predicate: u32) -> u32 {
    barrier_or(predicate)
}

#[inline(always)]
pub fn grid_fence() {
    membar_gl();
}

#[inline(always)]
pub fn device_fence() {
    membar_gl();
}

#[inline(always)]
pub fn system_fence() {
    membar_sys();
}

#[inline(always)]
pub fn nanosleep(nanos: u32) {
    // SAFETY: only waits.
    unsafe { asm!("nanosleep.u32 {};", in(reg32) nanos, options(nomem, nostack, preserves_flags)) }
}
