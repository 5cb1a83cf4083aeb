//! Loads from, stores to, and atomics on shared memory, by 32-bit shared addresses.

use core::arch::{asm, global_asm};

global_asm!(".extern .shared .align 16 .b8 __cuda_std_dynamic_shared[];");

/// A type that can be an element of a [`SharedSlice`](crate::shared::SharedSlice).
pub trait SharedElement: Copy + private::Sealed {
    #[doc(hidden)]
    unsafe fn load(address: u32) -> Self;
    #[doc(hidden)]
    unsafe fn store(address: u32, value: Self);
}

/// A type that can be added to atomically in shared memory.
pub trait SharedAdd: SharedElement {
    #[doc(hidden)]
    unsafe fn add(address: u32, value: Self);
    #[doc(hidden)]
    unsafe fn add_if(condition: bool, address: u32, value: Self);
    #[doc(hidden)]
    unsafe fn fetch_add(address: u32, value: Self) -> Self;
}

mod private {
    pub trait Sealed {}
}

#[inline(always)]
pub fn dynamic_address() -> u32 {
    let address;
    // SAFETY: only takes an address.
    unsafe {
        asm!(
            "mov.u32 {}, __cuda_std_dynamic_shared;",
            out(reg32) address,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    address
}

#[inline(always)]
pub fn generic_pointer(address: u32) -> *mut u8 {
    let pointer;
    // SAFETY: only computes an address.
    unsafe {
        asm!(
            "{{ .reg .u64 %at; cvt.u64.u32 %at, {address}; cvta.shared.u64 {pointer}, %at; }}",
            address = in(reg32) address, pointer = out(reg64) pointer,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    pointer
}

macro_rules! elements {
    ($($element:ty: $class:ident, $register:ty, $suffix:literal;)*) => {$(
        impl private::Sealed for $element {}
        impl SharedElement for $element {
            #[inline(always)]
            unsafe fn load(address: u32) -> Self {
                let value: $register;
                // SAFETY: by the caller's contract, the address is that of such an element in the block's shared
                // memory.
                unsafe {
                    asm!(
                        concat!("ld.shared.", $suffix, " {}, [{}];"),
                        out($class) value, in(reg32) address,
                        options(pure, readonly, nostack, preserves_flags)
                    );
                }
                value as Self
            }

            #[inline(always)]
            unsafe fn store(address: u32, value: Self) {
                // SAFETY: by the caller's contract, the address is that of such an element in the block's shared
                // memory.
                unsafe {
                    asm!(
                        concat!("st.shared.", $suffix, " [{}], {};"),
                        in(reg32) address, in($class) value as $register,
                        options(nostack, preserves_flags)
                    );
                }
            }
        }
    )*};
}

elements! {
    u8: reg16, u16, "u8";
    u16: reg16, u16, "u16";
    u32: reg32, u32, "u32";
    i32: reg32, i32, "s32";
    u64: reg64, u64, "u64";
    i64: reg64, i64, "s64";
    f32: reg32, f32, "f32";
    f64: reg64, f64, "f64";
}

macro_rules! adds {
    ($($element:ty: $class:ident, $suffix:literal;)*) => {$(
        impl SharedAdd for $element {
            #[inline(always)]
            unsafe fn add(address: u32, value: Self) {
                // SAFETY: by the caller's contract, the address is that of such an element in the block's shared
                // memory.
                unsafe {
                    asm!(
                        concat!("red.shared.add.", $suffix, " [{}], {};"),
                        in(reg32) address, in($class) value,
                        options(nostack, preserves_flags)
                    );
                }
            }

            #[inline(always)]
            unsafe fn add_if(condition: bool, address: u32, value: Self) {
                // SAFETY: by the caller's contract, the address is that of such an element in the block's shared
                // memory.
                unsafe {
                    asm!(
                        concat!(
                            "{{ .reg .pred %if; setp.ne.u32 %if, {condition}, 0; @%if red.shared.add.",
                            $suffix,
                            " [{address}], {value}; }}"
                        ),
                        condition = in(reg32) u32::from(condition), address = in(reg32) address,
                        value = in($class) value,
                        options(nostack, preserves_flags)
                    );
                }
            }

            #[inline(always)]
            unsafe fn fetch_add(address: u32, value: Self) -> Self {
                let before;
                // SAFETY: by the caller's contract, the address is that of such an element in the block's shared
                // memory.
                unsafe {
                    asm!(
                        concat!("atom.shared.add.", $suffix, " {}, [{}], {};"),
                        out($class) before, in(reg32) address, in($class) value,
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

macro_rules! fetches {
    ($($name:ident = $operation:literal;)*) => {$(
        #[inline(always)]
        pub unsafe fn $name(address: u32, value: u32) -> u32 {
            let before;
            // SAFETY: by the caller's contract, the address is that of such an element in the block's shared memory.
            unsafe {
                asm!(
                    concat!("atom.shared.", $operation, " {}, [{}], {};"),
                    out(reg32) before, in(reg32) address, in(reg32) value,
                    options(nostack, preserves_flags)
                );
            }
            before
        }
    )*};
}

fetches! {
    fetch_max = "max.u32";
    fetch_min = "min.u32";
    fetch_or = "or.b32";
    fetch_and = "and.b32";
    exchange = "exch.b32";
}

#[inline(always)]
pub unsafe fn store_relaxed(address: u32, value: u32) {
    // SAFETY: by the caller's contract, the address is that of such an element in the block's shared memory.
    unsafe {
        asm!(
            "st.relaxed.cta.shared.u32 [{}], {};",
            in(reg32) address, in(reg32) value,
            options(nostack, preserves_flags)
        );
    }
}

#[inline(always)]
pub unsafe fn compare_exchange(address: u32, current: u32, new: u32) -> u32 {
    let before;
    // SAFETY: by the caller's contract, the address is that of such an element in the block's shared memory.
    unsafe {
        asm!(
            "atom.shared.cas.b32 {}, [{}], {}, {};",
            out(reg32) before, in(reg32) address, in(reg32) current, in(reg32) new,
            options(nostack, preserves_flags)
        );
    }
    before
}
