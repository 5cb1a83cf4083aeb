//! Loads from, stores to, and atomics on global memory. All are relaxed atomics, since thread blocks run in parallel.

use super::atomic::{fetch_add_f32_device, fetch_add_f64_device};
use std::sync::atomic::{
    AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed,
};

/// A type that can be an element of a [`DeviceSlice`](crate::global::DeviceSlice).
pub trait GlobalElement: Copy + private::Sealed {
    #[doc(hidden)]
    unsafe fn load(pointer: *const Self) -> Self;
    #[doc(hidden)]
    unsafe fn store(pointer: *mut Self, value: Self);
    #[doc(hidden)]
    unsafe fn load_cached(pointer: *const Self) -> Self {
        // SAFETY: by the caller's contract, the element exists.
        unsafe { Self::load(pointer) }
    }
}

/// A type that can be read and added to atomically in global memory.
pub trait GlobalAdd: GlobalElement {
    #[doc(hidden)]
    unsafe fn load_relaxed(pointer: *const Self) -> Self {
        // SAFETY: by the caller's contract, the element exists.
        unsafe { Self::load(pointer) }
    }
    #[doc(hidden)]
    unsafe fn fetch_add(pointer: *mut Self, value: Self) -> Self;
    #[doc(hidden)]
    unsafe fn add(pointer: *mut Self, value: Self) {
        // SAFETY: by the caller's contract, the element exists.
        unsafe { Self::fetch_add(pointer, value) };
    }
}

mod private {
    pub trait Sealed {}
}

macro_rules! integers {
    ($($element:ty: $atomic:ident;)*) => {$(
        impl private::Sealed for $element {}
        impl GlobalElement for $element {
            #[inline]
            unsafe fn load(pointer: *const Self) -> Self {
                // SAFETY: by the caller's contract, the element exists. A slice is aligned, and kernels access it by
                // atomics only.
                unsafe { $atomic::from_ptr(pointer.cast_mut()) }.load(Relaxed)
            }

            #[inline]
            unsafe fn store(pointer: *mut Self, value: Self) {
                // SAFETY: as in `load`.
                unsafe { $atomic::from_ptr(pointer) }.store(value, Relaxed);
            }
        }
    )*};
}

integers! {
    u8: AtomicU8;
    i8: AtomicI8;
    u16: AtomicU16;
    i16: AtomicI16;
    u32: AtomicU32;
    i32: AtomicI32;
    u64: AtomicU64;
    i64: AtomicI64;
}

macro_rules! integer_adds {
    ($($element:ty: $atomic:ident;)*) => {$(
        impl GlobalAdd for $element {
            #[inline]
            unsafe fn fetch_add(pointer: *mut Self, value: Self) -> Self {
                // SAFETY: as in `load`.
                unsafe { $atomic::from_ptr(pointer) }.fetch_add(value, Relaxed)
            }
        }
    )*};
}

integer_adds! {
    u32: AtomicU32;
    i32: AtomicI32;
    u64: AtomicU64;
    i64: AtomicI64;
}

macro_rules! floats {
    ($($element:ty: $bits:ty, $atomic:ident, $fetch_add:ident;)*) => {$(
        impl private::Sealed for $element {}
        impl GlobalElement for $element {
            #[inline]
            unsafe fn load(pointer: *const Self) -> Self {
                // SAFETY: by the caller's contract, the element exists. The integer has the same size and alignment.
                Self::from_bits(unsafe { <$bits>::load(pointer.cast()) })
            }

            #[inline]
            unsafe fn store(pointer: *mut Self, value: Self) {
                // SAFETY: as in `load`.
                unsafe { <$bits>::store(pointer.cast(), value.to_bits()) }
            }
        }

        impl GlobalAdd for $element {
            #[inline]
            unsafe fn fetch_add(pointer: *mut Self, value: Self) -> Self {
                // SAFETY: as in `load`.
                $fetch_add(unsafe { $atomic::from_ptr(pointer.cast()) }, value, Relaxed)
            }
        }
    )*};
}

floats! {
    f32: u32, AtomicU32, fetch_add_f32_device;
    f64: u64, AtomicU64, fetch_add_f64_device;
}

macro_rules! vectors {
    ($([$element:ty; $count:literal];)*) => {$(
        impl private::Sealed for [$element; $count] {}
        impl GlobalElement for [$element; $count] {
            #[inline]
            unsafe fn load(pointer: *const Self) -> Self {
                // SAFETY: by the caller's contract, the vector exists. These are its elements.
                std::array::from_fn(|i| unsafe { <$element>::load(pointer.cast::<$element>().add(i)) })
            }

            #[inline]
            unsafe fn store(pointer: *mut Self, value: Self) {
                for (i, value) in value.into_iter().enumerate() {
                    // SAFETY: as in `load`.
                    unsafe { <$element>::store(pointer.cast::<$element>().add(i), value) }
                }
            }
        }
    )*};
}

vectors! {
    [u32; 2];
    [f32; 2];
    [u64; 2];
    [f64; 2];
    [u32; 4];
    [f32; 4];
}

#[inline]
pub unsafe fn max_u32(pointer: *mut u32, value: u32) {
    // SAFETY: by the caller's contract, the element exists. A slice is aligned, and kernels access it by atomics only.
    unsafe { AtomicU32::from_ptr(pointer) }.fetch_max(value, Relaxed);
}
