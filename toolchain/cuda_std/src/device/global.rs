//! Loads from, stores to, and atomics on global memory.

use core::arch::asm;

/// A type that can be an element of a [`DeviceSlice`](crate::global::DeviceSlice).
pub trait GlobalElement: Copy + private::Sealed {
    #[doc(hidden)]
    unsafe fn load(pointer: *const Self) -> Self;
    #[doc(hidden)]
    unsafe fn load_cached(pointer: *const Self) -> Self;
    #[doc(hidden)]
    unsafe fn store(pointer: *mut Self, value: Self);
}

/// A type that can be read and added to atomically in global memory.
pub trait GlobalAdd: GlobalElement {
    #[doc(hidden)]
    unsafe fn load_relaxed(pointer: *const Self) -> Self;
    #[doc(hidden)]
    unsafe fn add(pointer: *mut Self, value: Self);
    #[doc(hidden)]
    unsafe fn fetch_add(pointer: *mut Self, value: Self) -> Self;
}

mod private {
    pub trait Sealed {}
}

/// Assembly for one instruction on the global address `%at`, which is converted from the generic pointer `{pointer}`.
macro_rules! at_global {
    ($($instruction:expr),*) => {
        concat!("{{ .reg .u64 %at; cvta.to.global.u64 %at, {pointer}; ", $($instruction,)* " }}")
    };
}

macro_rules! scalars {
    ($($element:ty: $class:ident, $register:ty, $suffix:literal;)*) => {$(
        impl private::Sealed for $element {}
        impl GlobalElement for $element {
            #[inline(always)]
            unsafe fn load(pointer: *const Self) -> Self {
                let value: $register;
                // SAFETY: by the caller's contract, the element exists and is aligned. It is in global memory, as the
                // instruction requires.
                unsafe {
                    asm!(
                        at_global!("ld.global.", $suffix, " {value}, [%at];"),
                        pointer = in(reg64) pointer, value = out($class) value,
                        options(pure, readonly, nostack, preserves_flags)
                    );
                }
                value as Self
            }

            #[inline(always)]
            unsafe fn load_cached(pointer: *const Self) -> Self {
                let value: $register;
                // SAFETY: by the caller's contract, the element exists and is aligned. It is in global memory, as the
                // instruction requires.
                unsafe {
                    asm!(
                        at_global!("ld.global.nc.", $suffix, " {value}, [%at];"),
                        pointer = in(reg64) pointer, value = out($class) value,
                        options(pure, nomem, nostack, preserves_flags)
                    );
                }
                value as Self
            }

            #[inline(always)]
            unsafe fn store(pointer: *mut Self, value: Self) {
                // SAFETY: by the caller's contract, the element exists and is aligned. It is in global memory, as the
                // instruction requires.
                unsafe {
                    asm!(
                        at_global!("st.global.", $suffix, " [%at], {value};"),
                        pointer = in(reg64) pointer, value = in($class) value as $register,
                        options(nostack, preserves_flags)
                    );
                }
            }
        }
    )*};
}

scalars! {
    u8: reg16, u16, "u8";
    i8: reg16, i16, "s8";
    u16: reg16, u16, "u16";
    i16: reg16, i16, "s16";
    u32: reg32, u32, "u32";
    i32: reg32, i32, "s32";
    u64: reg64, u64, "u64";
    i64: reg64, i64, "s64";
    f32: reg32, f32, "f32";
    f64: reg64, f64, "f64";
}

macro_rules! vectors {
    ($($element:ty: [$($name:ident),*] $class:ident, $suffix:literal, $list:literal;)*) => {$(
        impl private::Sealed for $element {}
        impl GlobalElement for $element {
            #[inline(always)]
            unsafe fn load(pointer: *const Self) -> Self {
                let ($($name),*);
                // SAFETY: by the caller's contract, the element exists and is aligned. It is in global memory, as the
                // instruction requires.
                unsafe {
                    asm!(
                        at_global!("ld.global.", $suffix, " ", $list, ", [%at];"),
                        pointer = in(reg64) pointer, $($name = out($class) $name,)*
                        options(pure, readonly, nostack, preserves_flags)
                    );
                }
                [$($name),*]
            }

            #[inline(always)]
            unsafe fn load_cached(pointer: *const Self) -> Self {
                let ($($name),*);
                // SAFETY: by the caller's contract, the element exists and is aligned. It is in global memory, as the
                // instruction requires.
                unsafe {
                    asm!(
                        at_global!("ld.global.nc.", $suffix, " ", $list, ", [%at];"),
                        pointer = in(reg64) pointer, $($name = out($class) $name,)*
                        options(pure, nomem, nostack, preserves_flags)
                    );
                }
                [$($name),*]
            }

            #[inline(always)]
            unsafe fn store(pointer: *mut Self, value: Self) {
                let [$($name),*] = value;
                // SAFETY: by the caller's contract, the element exists and is aligned. It is in global memory, as the
                // instruction requires.
                unsafe {
                    asm!(
                        at_global!("st.global.", $suffix, " [%at], ", $list, ";"),
                        pointer = in(reg64) pointer, $($name = in($class) $name,)*
                        options(nostack, preserves_flags)
                    );
                }
            }
        }
    )*};
}

vectors! {
    [u32; 2]: [a, b] reg32, "v2.u32", "{{{a}, {b}}}";
    [f32; 2]: [a, b] reg32, "v2.f32", "{{{a}, {b}}}";
    [u64; 2]: [a, b] reg64, "v2.u64", "{{{a}, {b}}}";
    [f64; 2]: [a, b] reg64, "v2.f64", "{{{a}, {b}}}";
    [u32; 4]: [a, b, c, d] reg32, "v4.u32", "{{{a}, {b}, {c}, {d}}}";
    [f32; 4]: [a, b, c, d] reg32, "v4.f32", "{{{a}, {b}, {c}, {d}}}";
}

macro_rules! adds {
    ($($element:ty: $class:ident, $suffix:literal;)*) => {$(
        impl GlobalAdd for $element {
            #[inline(always)]
            unsafe fn load_relaxed(pointer: *const Self) -> Self {
                let value;
                // SAFETY: by the caller's contract, the element exists and is aligned. It is in global memory, as the
                // instruction requires.
                unsafe {
                    asm!(
                        at_global!("ld.relaxed.gpu.global.", $suffix, " {value}, [%at];"),
                        pointer = in(reg64) pointer, value = out($class) value,
                        options(nostack, preserves_flags)
                    );
                }
                value
            }

            #[inline(always)]
            unsafe fn add(pointer: *mut Self, value: Self) {
                // SAFETY: by the caller's contract, the element exists and is aligned. It is in global memory, as the
                // instruction requires.
                unsafe {
                    asm!(
                        at_global!("red.global.add.", $suffix, " [%at], {value};"),
                        pointer = in(reg64) pointer, value = in($class) value,
                        options(nostack, preserves_flags)
                    );
                }
            }

            #[inline(always)]
            unsafe fn fetch_add(pointer: *mut Self, value: Self) -> Self {
                let before;
                // SAFETY: by the caller's contract, the element exists and is aligned. It is in global memory, as the
                // instruction requires.
                unsafe {
                    asm!(
                        at_global!("atom.global.add.", $suffix, " {before}, [%at], {value};"),
                        pointer = in(reg64) pointer, value = in($class) value, before = out($class) before,
                        options(nostack, preserves_flags)
                    );
                }
                before
            }
        }
    )*};
}

adds! {
    u32: reg32, "u32";
    i32: reg32, "s32";
    u64: reg64, "u64";
    i64: reg64, "u64";
    f32: reg32, "f32";
    f64: reg64, "f64";
}

#[inline(always)]
pub unsafe fn max_u32(pointer: *mut u32, value: u32) {
    // SAFETY: by the caller's contract, the element exists and is aligned. It is in global memory, as the instruction
    // requires.
    unsafe {
        asm!(
            at_global!("red.global.max.u32 [%at], {value};"),
            pointer = in(reg64) pointer, value = in(reg32) value,
            options(nostack, preserves_flags)
        );
    }
}
