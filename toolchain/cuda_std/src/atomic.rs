//! Atomic floats. Atomic integers are those of `core`, which the compiler also turns into `atom` and `red`
//! instructions.
//!
//! All of them use generic addresses. In hot loops, use the atomics of [`SharedSlice`](crate::shared::SharedSlice) and
//! [`DeviceSliceMut`](crate::global::DeviceSliceMut), whose instructions name the address space.

use crate::arch::atomic as arch;
pub use core::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering};

macro_rules! atomic_float {
    ($($name:ident: $float:ident in $bits:ident, $scope:literal, $fetch_add:ident $(, $unsafe:ident)?;)*) => {$(
        #[doc = concat!("A `", stringify!($float), "` that threads of ", $scope, " can share; as large as the float.")]
        ///
        /// Any thread may call its methods. Those that are `unsafe` ask that no thread outside the block uses the value
        /// meanwhile.
        #[repr(transparent)]
        #[derive(Debug, Default)]
        pub struct $name {
            bits: $bits,
        }

        #[allow(clippy::missing_safety_doc, reason = "the type says what its unsafe methods ask for")]
        impl $name {
            /// An atomic of value `v`.
            pub const fn new(v: $float) -> Self {
                Self { bits: $bits::new(v.to_bits()) }
            }

            /// The value.
            pub fn into_inner(self) -> $float {
                $float::from_bits(self.bits.into_inner())
            }

            /// Adds `val` and returns the value before. PTX: `atom.add`.
            #[inline(always)]
            pub $($unsafe)? fn fetch_add(&self, val: $float, order: Ordering) -> $float {
                arch::$fetch_add(&self.bits, val, order)
            }

            /// Subtracts `val`, as the addition of `-val`, and returns the value before. PTX: `atom.add`.
            #[inline(always)]
            pub $($unsafe)? fn fetch_sub(&self, val: $float, order: Ordering) -> $float {
                arch::$fetch_add(&self.bits, -val, order)
            }

            /// Bitwise "and" with `val`; returns the value before. PTX: `atom.and`.
            #[inline(always)]
            pub $($unsafe)? fn fetch_and(&self, val: $float, order: Ordering) -> $float {
                $float::from_bits(self.bits.fetch_and(val.to_bits(), order))
            }

            /// Bitwise "or" with `val`; returns the value before. PTX: `atom.or`.
            #[inline(always)]
            pub $($unsafe)? fn fetch_or(&self, val: $float, order: Ordering) -> $float {
                $float::from_bits(self.bits.fetch_or(val.to_bits(), order))
            }

            /// Bitwise "xor" with `val`; returns the value before. PTX: `atom.xor`.
            #[inline(always)]
            pub $($unsafe)? fn fetch_xor(&self, val: $float, order: Ordering) -> $float {
                $float::from_bits(self.bits.fetch_xor(val.to_bits(), order))
            }

            /// The value; `order` is `Relaxed`, `Acquire` or `SeqCst`. PTX: `ld` with that order.
            #[inline(always)]
            pub $($unsafe)? fn load(&self, order: Ordering) -> $float {
                $float::from_bits(self.bits.load(order))
            }

            /// Makes the value `val`; `order` is `Relaxed`, `Release` or `SeqCst`. PTX: `st` with that order.
            #[inline(always)]
            pub $($unsafe)? fn store(&self, val: $float, order: Ordering) {
                self.bits.store(val.to_bits(), order);
            }
        }
    )*};
}

atomic_float! {
    AtomicF32: f32 in AtomicU32, "a device", fetch_add_f32_device;
    AtomicF64: f64 in AtomicU64, "a device", fetch_add_f64_device;
    BlockAtomicF32: f32 in AtomicU32, "a block", fetch_add_f32_block, unsafe;
    BlockAtomicF64: f64 in AtomicU64, "a block", fetch_add_f64_block, unsafe;
    SystemAtomicF32: f32 in AtomicU32, "the whole system", fetch_add_f32_system;
    SystemAtomicF64: f64 in AtomicU64, "the whole system", fetch_add_f64_system;
}
