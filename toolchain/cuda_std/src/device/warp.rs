//! Warp intrinsics.

use core::arch::asm;

/// Clamp and segment mask of `shfl.sync` for a whole warp; `up` clamps at lane 0, the others at lane 31.
const WHOLE_WARP: u32 = 31;
const WHOLE_WARP_UP: u32 = 0;

unsafe extern "C" {
    #[link_name = "llvm.nvvm.bar.warp.sync"]
    pub fn sync_warp(mask: u32);
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    pub fn ballot(mask: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.vote.any.sync"]
    pub fn any(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.all.sync"]
    pub fn all(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.match.any.sync.i32"]
    pub fn match_any(mask: u32, value: u32) -> u32;
    #[link_name = "llvm.nvvm.activemask"]
    safe fn activemask() -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    fn shfl_idx(mask: u32, value: u32, lane: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
    fn shfl_up(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
    fn shfl_down(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
    fn shfl_bfly(mask: u32, value: u32, lanes: u32, clamp: u32) -> u32;
}

#[cfg(target_feature = "sm_80")]
unsafe extern "C" {
    #[link_name = "llvm.nvvm.redux.sync.add"]
    fn redux_add(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.umin"]
    fn redux_min(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.umax"]
    fn redux_max(value: u32, mask: u32) -> u32;
}

#[inline(always)]
pub fn lane_id() -> u32 {
    let lane;
    // SAFETY: reads a special register.
    unsafe { asm!("mov.u32 {}, %laneid;", out(reg32) lane, options(pure, nomem, nostack, preserves_flags)) }
    lane
}

#[inline(always)]
pub fn active_mask() -> u32 {
    activemask()
}

#[inline(always)]
pub unsafe fn shuffle_idx(mask: u32, value: u32, lane: u32) -> u32 {
    // SAFETY: the caller says that all threads of `mask` call this with the same mask.
    unsafe { shfl_idx(mask, value, lane, WHOLE_WARP) }
}

#[inline(always)]
pub unsafe fn shuffle_up(mask: u32, value: u32, delta: u32) -> u32 {
    // SAFETY: the caller says that all threads of `mask` call this with the same mask.
    unsafe { shfl_up(mask, value, delta, WHOLE_WARP_UP) }
}

#[inline(always)]
pub unsafe fn shuffle_down(mask: u32, value: u32, delta: u32) -> u32 {
    // SAFETY: the caller says that all threads of `mask` call this with the same mask.
    unsafe { shfl_down(mask, value, delta, WHOLE_WARP) }
}

#[inline(always)]
pub unsafe fn shuffle_xor(mask: u32, value: u32, lanes: u32) -> u32 {
    // SAFETY: the caller says that all threads of `mask` call this with the same mask.
    unsafe { shfl_bfly(mask, value, lanes, WHOLE_WARP) }
}

macro_rules! reduce {
    ($($name:ident = $intrinsic:ident;)*) => {$(
        #[cfg(target_feature = "sm_80")]
        #[inline(always)]
        pub unsafe fn $name(mask: u32, value: u32) -> u32 {
            // SAFETY: the caller says that all threads of `mask` call this with the same mask.
            unsafe { $intrinsic(value, mask) }
        }
    )*};
}

reduce! {
    reduce_add = redux_add;
    reduce_min = redux_min;
    reduce_max = redux_max;
}
