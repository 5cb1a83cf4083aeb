//! Loads from, stores to, and atomics on shared memory. A block runs on one thread of the CPU, so that plain accesses
//! suffice.

use crate::emulator::current::{give_way, shared_access, with};
use crate::emulator::fault::Access;

/// A type that can be an element of a [`SharedSlice`](crate::shared::SharedSlice).
pub trait SharedElement: Copy + private::Sealed {
    #[doc(hidden)]
    #[inline]
    unsafe fn load(address: u32) -> Self {
        let pointer = shared_access(address, size_of::<Self>(), Access::Read).cast::<Self>();
        // SAFETY: `shared_access` points to as many bytes, and no other thread of the block runs.
        unsafe { pointer.read_unaligned() }
    }

    #[doc(hidden)]
    #[inline]
    unsafe fn store(address: u32, value: Self) {
        let pointer = shared_access(address, size_of::<Self>(), Access::Write).cast::<Self>();
        // SAFETY: as in `load`.
        unsafe { pointer.write_unaligned(value) }
    }
}

/// A type that can be added to atomically in shared memory.
pub trait SharedAdd: SharedElement {
    #[doc(hidden)]
    unsafe fn fetch_add(address: u32, value: Self) -> Self;
    #[doc(hidden)]
    #[inline]
    unsafe fn add(address: u32, value: Self) {
        // SAFETY: `fetch_add` has the same contract.
        unsafe { Self::fetch_add(address, value) };
    }
}

mod private {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($element:ty)*) => {$(
        impl private::Sealed for $element {}
        impl SharedElement for $element {}
    )*};
}

elements! { u8 u16 u32 i32 u64 i64 f32 f64 }

macro_rules! adds {
    ($($element:ty: $add:expr;)*) => {$(
        impl SharedAdd for $element {
            #[inline]
            unsafe fn fetch_add(address: u32, value: Self) -> Self {
                update(address, |before| $add(before, value))
            }
        }
    )*};
}

adds! {
    u32: u32::wrapping_add;
    i32: i32::wrapping_add;
    u64: u64::wrapping_add;
    i64: i64::wrapping_add;
    f32: |a: f32, b: f32| a + b;
    f64: |a: f64, b: f64| a + b;
}

/// Replaces the element at `address` and returns its former value.
#[inline]
fn update<T: Copy>(address: u32, change: impl FnOnce(T) -> T) -> T {
    let pointer = shared_access(address, size_of::<T>(), Access::Atomic).cast::<T>();
    // SAFETY: `shared_access` points to as many bytes, and no other thread runs.
    unsafe {
        let before = pointer.read_unaligned();
        pointer.write_unaligned(change(before));
        before
    }
}

macro_rules! fetches {
    ($($name:ident = $change:expr;)*) => {$(
        #[inline]
        pub unsafe fn $name(address: u32, value: u32) -> u32 {
            update(address, |before| $change(before, value))
        }
    )*};
}

fetches! {
    fetch_max = u32::max;
    fetch_min = u32::min;
    fetch_or = |a, b| a | b;
    fetch_and = |a, b| a & b;
    exchange = |_, new| new;
}

#[inline]
pub unsafe fn store_relaxed(address: u32, value: u32) {
    update(address, |_| value);
}

/// If the exchange fails, the thread lets others run, since it may be spinning on a lock.
pub unsafe fn compare_exchange(address: u32, current: u32, new: u32) -> u32 {
    let before = update(address, |before| if before == current { new } else { before });
    if before != current {
        give_way();
    }
    before
}

/// Returns the address of dynamic memory, which is before static memory.
#[inline]
pub fn dynamic_address() -> u32 {
    0
}

/// Returns a pointer. Accesses through it are not checked.
pub fn generic_pointer(address: u32) -> *mut u8 {
    with(|current| {
        let memory = &mut current.state.borrow_mut().memory;
        memory.raw_dynamic |= address < memory.dynamic();
        memory.pointer(address)
    })
}
