//! Operations in which the 32 threads of a warp take part together.
//!
//! A `mask` has bit `i` set for lane `i`. If a function takes a mask, each thread of the mask must call it, with the
//! same mask and from the same place, and the caller must be in the mask. Anything else is undefined on the device and
//! a fault in the emulator. Only [`sync_warp`] orders memory; the other functions only exchange values.

use crate::arch::warp as arch;

/// The mask of all 32 lanes.
pub const ALL: u32 = u32::MAX;

/// Lane of the thread in its warp, 0 to 31. PTX: `mov.u32 %laneid`. Any thread.
#[inline(always)]
pub fn lane_id() -> u32 {
    arch::lane_id()
}

/// Returns the lanes that execute this call together now. This is a hint, and no synchronisation. PTX:
/// `activemask.b32`. Any thread.
#[inline(always)]
pub fn active_mask() -> u32 {
    arch::active_mask()
}

/// Waits for the lanes of `mask`; what they wrote to memory is then visible to all of them. PTX: `bar.warp.sync`.
///
/// # Safety
/// Every thread of `mask` must call it with the same `mask`.
#[inline(always)]
pub unsafe fn sync_warp(mask: u32) {
    // SAFETY: the caller says that all threads of `mask` call this with the same mask.
    unsafe { arch::sync_warp(mask) }
}

/// Lanes of `mask` in which `predicate` holds. PTX: `vote.sync.ballot.b32`.
///
/// # Safety
/// Every thread of `mask` must call it with the same `mask`.
#[inline(always)]
pub unsafe fn ballot(mask: u32, predicate: bool) -> u32 {
    // SAFETY: the caller says that all threads of `mask` call this with the same mask.
    unsafe { arch::ballot(mask, predicate) }
}

/// Whether `predicate` holds in any lane of `mask`. PTX: `vote.sync.any.pred`.
///
/// # Safety
/// Every thread of `mask` must call it with the same `mask`.
#[inline(always)]
pub unsafe fn any(mask: u32, predicate: bool) -> bool {
    // SAFETY: the caller says that all threads of `mask` call this with the same mask.
    unsafe { arch::any(mask, predicate) }
}

/// Whether `predicate` holds in all lanes of `mask`. PTX: `vote.sync.all.pred`.
///
/// # Safety
/// Every thread of `mask` must call it with the same `mask`.
#[inline(always)]
pub unsafe fn all(mask: u32, predicate: bool) -> bool {
    // SAFETY: the caller says that all threads of `mask` call this with the same mask.
    unsafe { arch::all(mask, predicate) }
}

/// Lanes of `mask` that have the caller's `value`. PTX: `match.any.sync.b32`.
///
/// # Safety
/// Every thread of `mask` must call it with the same `mask`.
#[inline(always)]
pub unsafe fn match_any(mask: u32, value: u32) -> u32 {
    // SAFETY: the caller says that all threads of `mask` call this with the same mask.
    unsafe { arch::match_any(mask, value) }
}

/// Returns `mask` if all its lanes have the same `value`, else 0. PTX: `match.any.sync.b32` and a comparison, which
/// together are `match.all.sync` by definition.
///
/// # Safety
/// Every thread of `mask` must call it with the same `mask`.
#[inline(always)]
pub unsafe fn match_all(mask: u32, value: u32) -> u32 {
    // SAFETY: the caller says that all threads of `mask` call this with the same mask.
    let same = unsafe { arch::match_any(mask, value) };
    if same == mask { mask } else { 0 }
}

/// A value that fits one or two 32-bit registers, for the shuffles.
pub trait Shuffle: Copy + private::Sealed {
    /// Applies a shuffle of one register to each register of the value.
    #[doc(hidden)]
    fn each_register(self, shuffle: impl Fn(u32) -> u32) -> Self;
}

mod private {
    pub trait Sealed {}
}

macro_rules! shuffle_32 {
    ($($value:ty: $to:expr, $from:expr;)*) => {$(
        impl private::Sealed for $value {}
        impl Shuffle for $value {
            #[inline(always)]
            fn each_register(self, shuffle: impl Fn(u32) -> u32) -> Self {
                $from(shuffle($to(self)))
            }
        }
    )*};
}

macro_rules! shuffle_64 {
    ($($value:ty: $to:expr, $from:expr;)*) => {$(
        impl private::Sealed for $value {}
        impl Shuffle for $value {
            #[inline(always)]
            fn each_register(self, shuffle: impl Fn(u32) -> u32) -> Self {
                let bits: u64 = $to(self);
                let low = shuffle(bits as u32);
                let high = shuffle((bits >> 32) as u32);
                $from(u64::from(high) << 32 | u64::from(low))
            }
        }
    )*};
}

shuffle_32! {
    u32: |value| value, |bits| bits;
    i32: i32::cast_unsigned, u32::cast_signed;
    f32: f32::to_bits, f32::from_bits;
}

shuffle_64! {
    u64: |value| value, |bits| bits;
    i64: i64::cast_unsigned, u64::cast_signed;
    f64: f64::to_bits, f64::from_bits;
}

/// `value` of lane `lane` (modulo 32). PTX: `shfl.sync.idx.b32`, twice for 64 bits.
///
/// # Safety
/// Every thread of `mask` must call it with the same `mask`, and `lane` must be in the mask.
#[inline(always)]
pub unsafe fn shuffle_idx<T: Shuffle>(mask: u32, value: T, lane: u32) -> T {
    // SAFETY: the caller says that all threads of `mask` call this with the same mask, and that it has the lane read.
    value.each_register(|register| unsafe { arch::shuffle_idx(mask, register, lane) })
}

/// `value` of the lane `delta` below; the lowest `delta` lanes keep theirs. PTX: `shfl.sync.up.b32`, twice for 64 bits.
///
/// # Safety
/// Every thread of `mask` must call it with the same `mask`, and the lane read must be in the mask.
#[inline(always)]
pub unsafe fn shuffle_up<T: Shuffle>(mask: u32, value: T, delta: u32) -> T {
    // SAFETY: the caller says that all threads of `mask` call this with the same mask, and that it has the lane read.
    value.each_register(|register| unsafe { arch::shuffle_up(mask, register, delta) })
}

/// `value` of the lane `delta` above; the highest `delta` lanes keep theirs. PTX: `shfl.sync.down.b32`, twice for 64 bits.
///
/// # Safety
/// Every thread of `mask` must call it with the same `mask`, and the lane read must be in the mask.
#[inline(always)]
pub unsafe fn shuffle_down<T: Shuffle>(mask: u32, value: T, delta: u32) -> T {
    // SAFETY: the caller says that all threads of `mask` call this with the same mask, and that it has the lane read.
    value.each_register(|register| unsafe { arch::shuffle_down(mask, register, delta) })
}

/// Returns `value` of the lane whose number is that of the caller xor `lanes`. PTX: `shfl.sync.bfly.b32`, twice for 64
/// bits.
///
/// # Safety
/// Every thread of `mask` must call it with the same `mask`, and the lane read must be in the mask.
#[inline(always)]
pub unsafe fn shuffle_xor<T: Shuffle>(mask: u32, value: T, lanes: u32) -> T {
    // SAFETY: the caller says that all threads of `mask` call this with the same mask, and that it has the lane read.
    value.each_register(|register| unsafe { arch::shuffle_xor(mask, register, lanes) })
}

/// Sum of `value` over the lanes of `mask`, wrapping. PTX: `redux.sync.add.u32` from sm_80 on, shuffles below.
///
/// # Safety
/// Every thread of `mask` must call it with the same `mask`.
#[inline(always)]
pub unsafe fn reduce_add(mask: u32, value: u32) -> u32 {
    // SAFETY: the caller says that all threads of `mask` call this with the same mask.
    #[cfg(all(target_arch = "nvptx64", target_feature = "sm_80"))]
    return unsafe { arch::reduce_add(mask, value) };
    // SAFETY: the caller says that all threads of `mask` call this with the same mask.
    #[cfg(not(all(target_arch = "nvptx64", target_feature = "sm_80")))]
    unsafe {
        reduce_by_shuffles(mask, value, u32::wrapping_add)
    }
}

/// Least `value` in the lanes of `mask`. PTX: `redux.sync.min.u32` from sm_80 on, shuffles below.
///
/// # Safety
/// Every thread of `mask` must call it with the same `mask`.
#[inline(always)]
pub unsafe fn reduce_min(mask: u32, value: u32) -> u32 {
    // SAFETY: the caller says that all threads of `mask` call this with the same mask.
    #[cfg(all(target_arch = "nvptx64", target_feature = "sm_80"))]
    return unsafe { arch::reduce_min(mask, value) };
    // SAFETY: the caller says that all threads of `mask` call this with the same mask.
    #[cfg(not(all(target_arch = "nvptx64", target_feature = "sm_80")))]
    unsafe {
        reduce_by_shuffles(mask, value, u32::min)
    }
}

/// Greatest `value` in the lanes of `mask`. PTX: `redux.sync.max.u32` from sm_80 on, shuffles below.
///
/// # Safety
/// Every thread of `mask` must call it with the same `mask`.
#[inline(always)]
pub unsafe fn reduce_max(mask: u32, value: u32) -> u32 {
    // SAFETY: the caller says that all threads of `mask` call this with the same mask.
    #[cfg(all(target_arch = "nvptx64", target_feature = "sm_80"))]
    return unsafe { arch::reduce_max(mask, value) };
    // SAFETY: the caller says that all threads of `mask` call this with the same mask.
    #[cfg(not(all(target_arch = "nvptx64", target_feature = "sm_80")))]
    unsafe {
        reduce_by_shuffles(mask, value, u32::max)
    }
}

/// Reduces by a butterfly if the mask has all lanes, else lane after lane.
///
/// # Safety
/// Every thread of `mask` must call it with the same `mask`.
#[cfg(not(all(target_arch = "nvptx64", target_feature = "sm_80")))]
#[inline(always)]
unsafe fn reduce_by_shuffles(mask: u32, value: u32, combine: fn(u32, u32) -> u32) -> u32 {
    if mask == ALL {
        // SAFETY: all lanes of the warp are in the mask, and the caller says that all come here.
        let other = |sum, lanes| unsafe { shuffle_xor(mask, sum, lanes) };
        return [16, 8, 4, 2, 1].into_iter().fold(value, |sum, lanes| combine(sum, other(sum, lanes)));
    }
    // SAFETY: called below with lanes of the mask, by all its threads.
    let of_lane = |lane| unsafe { shuffle_idx(mask, value, lane) };
    let mut rest = mask & mask.wrapping_sub(1);
    let mut sum = of_lane(mask.trailing_zeros());
    while rest != 0 {
        sum = combine(sum, of_lane(rest.trailing_zeros()));
        rest &= rest - 1;
    }
    sum
}
