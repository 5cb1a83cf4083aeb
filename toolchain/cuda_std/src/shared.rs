//! Shared memory: static and dynamic, as raw pointers and as checked slices.
//!
//! A [`SharedSlice`] compiles to `.shared` instructions on 32-bit addresses, and the emulator checks every access through
//! it. The raw pointers of [`shared_array!`](crate::shared_array) and [`dynamic_shared_mem`], which the published crate
//! has, are generic addresses without checks.

pub use crate::arch::shared::{SharedAdd, SharedElement};
use core::marker::PhantomData;

/// A slice of the block's shared memory: `len` elements of `T`.
///
/// Access is unchecked on the device. The emulator reports an index out of bounds, a race between two threads and a read
/// of memory that no thread has written.
#[derive(Debug)]
pub struct SharedSlice<T> {
    address: u32,
    len: u32,
    element: PhantomData<*mut T>,
}

impl<T> Clone for SharedSlice<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SharedSlice<T> {}

/// Allocates static shared memory for `[T; N]` and yields a [`SharedSlice<T>`](crate::shared::SharedSlice) of it, not
/// initialised. `N` and `T` must be known in the enclosing module: not local to the function, not generic.
///
/// One call site is one allocation, no matter how often it is run or inlined. PTX: `.shared .align 16 .b8 NAME[BYTES]`
/// and `mov.u32`. Any thread.
#[macro_export]
macro_rules! shared_slice {
    ($element:ty; $len:expr) => {
        // SAFETY: the allocation has room for this many elements and lives as long as the block.
        unsafe {
            $crate::shared::SharedSlice::<$element>::new($crate::__shared_address!($element; $len), ($len) as u32)
        }
    };
}

/// Allocates static shared memory for `[T; N]` and yields a generic `*mut T` to it, not initialised.
/// Otherwise as [`shared_slice!`](crate::shared_slice). PTX: `cvta.shared.u64`.
#[macro_export]
macro_rules! shared_array {
    ($element:ty; $len:expr) => {
        $crate::shared::generic_pointer::<$element>($crate::__shared_address!($element; $len))
    };
}

/// Yields the address of the static allocation of this call site.
#[cfg(target_arch = "nvptx64")]
#[doc(hidden)]
#[macro_export]
macro_rules! __shared_address {
    ($element:ty; $len:expr) => {
        $crate::__shared_allocation![$element; $len]
    };
}

/// Yields the address of the static allocation of this call site.
#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __shared_address {
    ($element:ty; $len:expr) => {{
        static SITE: ::core::sync::atomic::AtomicU32 = ::core::sync::atomic::AtomicU32::new(0);
        $crate::emulator::static_shared(&SITE, ::core::mem::size_of::<$element>() * ($len))
    }};
}

/// The generic pointer to a shared address.
#[doc(hidden)]
#[inline(always)]
pub fn generic_pointer<T>(address: u32) -> *mut T {
    crate::arch::shared::generic_pointer(address).cast()
}

/// Returns the block's dynamic shared memory as a generic pointer, not initialised. Every call returns the same
/// pointer.
/// PTX: `mov.u32` and `cvta.shared.u64`. Any thread.
#[inline(always)]
pub fn dynamic_shared_mem<T>() -> *mut T {
    generic_pointer(crate::arch::shared::dynamic_address())
}

/// `len` elements of the block's dynamic shared memory from `byte_offset` on, not initialised.
/// PTX: `mov.u32` and `add.u32`. Any thread.
///
/// # Safety
/// The kernel must be launched with `byte_offset + len * size_of::<T>()` bytes of dynamic shared memory or more, and
/// `byte_offset` must be a multiple of the size of `T`.
#[inline(always)]
pub unsafe fn dynamic<T: SharedElement>(byte_offset: u32, len: u32) -> SharedSlice<T> {
    #[cfg(not(target_arch = "nvptx64"))]
    crate::emulator::check_dynamic_shared(byte_offset, len, size_of::<T>());
    // SAFETY: the caller says that the launch has these bytes, and that the offset is aligned for `T`.
    unsafe { SharedSlice::new(crate::arch::shared::dynamic_address() + byte_offset, len) }
}

impl<T: SharedElement> SharedSlice<T> {
    /// The `len` elements at the shared address `address`.
    ///
    /// # Safety
    /// The memory must belong to the block and be aligned for `T`.
    #[doc(hidden)]
    #[inline(always)]
    pub const unsafe fn new(address: u32, len: u32) -> Self {
        Self { address, len, element: PhantomData }
    }

    /// Returns the same memory with its elements numbered from `first` on, in wrapping arithmetic. A bias that would
    /// have to be subtracted from every index is thus subtracted once, from the address.
    #[inline(always)]
    pub const fn numbered_from(self, first: u32) -> Self {
        let address = self.address.wrapping_sub(first.wrapping_mul(size_of::<T>() as u32));
        Self { address, len: first.wrapping_add(self.len), element: PhantomData }
    }

    /// Number of elements.
    #[inline(always)]
    pub const fn len(self) -> u32 {
        self.len
    }

    /// Whether there is no element.
    #[inline(always)]
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Returns the address of element `index`. The emulator stops the kernel if there is none.
    #[inline(always)]
    fn at(self, index: u32) -> u32 {
        #[cfg(not(target_arch = "nvptx64"))]
        crate::emulator::check_shared_index(index, self.len);
        self.address.wrapping_add(index.wrapping_mul(size_of::<T>() as u32))
    }

    /// Element `index`. PTX: `ld.shared`. Any thread.
    ///
    /// # Safety
    /// `index` must be in bounds, and the element written, with a barrier between if another thread wrote it.
    #[inline(always)]
    pub unsafe fn load(self, index: u32) -> T {
        // SAFETY: the caller says that `index` is in bounds and that the element is written.
        unsafe { T::load(self.at(index)) }
    }

    /// Stores `value` as element `index`. PTX: `st.shared`. Any thread.
    ///
    /// # Safety
    /// `index` must be in bounds, and no other thread may use the element without a barrier in between.
    #[inline(always)]
    pub unsafe fn store(self, index: u32, value: T) {
        // SAFETY: the caller says that `index` is in bounds and that no other thread uses the element now.
        unsafe { T::store(self.at(index), value) }
    }
}

impl<T: SharedAdd> SharedSlice<T> {
    /// Adds `value` to element `index` as one relaxed atomic step; integers wrap. PTX: `red.shared.add`. Any thread.
    ///
    /// # Safety
    /// `index` must be in bounds and the element written.
    #[inline(always)]
    pub unsafe fn add(self, index: u32, value: T) {
        // SAFETY: the caller says that `index` is in bounds and that the element is written; the access is atomic.
        unsafe { T::add(self.at(index), value) }
    }

    /// [`add`](Self::add) if `condition` holds, without a branch. PTX: `@p red.shared.add`. Any thread.
    ///
    /// # Safety
    /// If `condition` is true, as [`add`](Self::add).
    #[inline(always)]
    pub unsafe fn add_if(self, condition: bool, index: u32, value: T) {
        // SAFETY: by this function's contract, `index` is in bounds if the condition is true. Otherwise there is no
        // access.
        #[cfg(target_arch = "nvptx64")]
        unsafe {
            T::add_if(condition, self.at(index), value)
        }
        #[cfg(not(target_arch = "nvptx64"))]
        if condition {
            // SAFETY: by this function's contract, `index` is in bounds and the element written if the condition is
            // true.
            unsafe { self.add(index, value) }
        }
    }

    /// [`add`](Self::add) that returns the former value. PTX: `atom.shared.add`. Any thread.
    ///
    /// # Safety
    /// `index` must be in bounds and the element written.
    #[inline(always)]
    pub unsafe fn fetch_add(self, index: u32, value: T) -> T {
        // SAFETY: the caller says that `index` is in bounds and that the element is written; the access is atomic.
        unsafe { T::fetch_add(self.at(index), value) }
    }
}

macro_rules! fetch {
    ($($name:ident, $does:literal, $ptx:literal;)*) => {
        impl SharedSlice<u32> {$(
            #[doc = concat!($does, " as one relaxed atomic step, and returns what it was before.")]
            #[doc = concat!("PTX: `atom.shared.", $ptx, "`. Any thread.")]
            ///
            /// # Safety
            /// `index` must be in bounds and the element written.
            #[inline(always)]
            pub unsafe fn $name(self, index: u32, value: u32) -> u32 {
                // SAFETY: the caller says that `index` is in bounds and the element written; the access is atomic.
                unsafe { crate::arch::shared::$name(self.at(index), value) }
            }
        )*}
    };
}

fetch! {
    fetch_max, "Makes element `index` the greater of itself and `value`", "max.u32";
    fetch_min, "Makes element `index` the smaller of itself and `value`", "min.u32";
    fetch_or, "Makes element `index` itself or `value`", "or.b32";
    fetch_and, "Makes element `index` itself and `value`", "and.b32";
    exchange, "Makes element `index` `value`", "exch.b32";
}

impl SharedSlice<u32> {
    /// Stores `value` as element `index`. If several threads store at the same time, one of them wins, and this is no
    /// race.
    /// PTX: `st.relaxed.cta.shared.u32`. Any thread.
    ///
    /// # Safety
    /// `index` must be in bounds, and the element written; loads by other threads need a barrier in between.
    #[inline(always)]
    pub unsafe fn store_relaxed(self, index: u32, value: u32) {
        // SAFETY: the caller says that `index` is in bounds and that loads come after a barrier.
        unsafe { crate::arch::shared::store_relaxed(self.at(index), value) }
    }

    /// Sets element `index` to `new` if it is `current`, as one relaxed atomic step, and returns the former value.
    /// PTX: `atom.shared.cas.b32`. Any thread.
    ///
    /// # Safety
    /// `index` must be in bounds and the element written.
    #[inline(always)]
    pub unsafe fn compare_exchange(self, index: u32, current: u32, new: u32) -> u32 {
        // SAFETY: the caller says that `index` is in bounds and that the element is written; the access is atomic.
        unsafe { crate::arch::shared::compare_exchange(self.at(index), current, new) }
    }
}
