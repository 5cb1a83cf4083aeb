//! Global memory as slices that are passed to kernels by value.

use crate::arch::global::max_u32;
pub use crate::arch::global::{GlobalAdd, GlobalElement};

/// A slice of global memory that the kernel reads: a device pointer and a number of elements.
///
/// Access is unchecked on the device. The emulator reports an index out of bounds.
#[derive(Debug)]
#[repr(C)]
pub struct DeviceSlice<T> {
    pointer: *const T,
    len: u64,
}

/// A slice of global memory that the kernel reads and writes. Otherwise as [`DeviceSlice`].
#[derive(Debug)]
#[repr(C)]
pub struct DeviceSliceMut<T> {
    pointer: *mut T,
    len: u64,
}

macro_rules! plain_value {
    ($($slice:ident)*) => {$(
        impl<T> Clone for $slice<T> {
            #[inline(always)]
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T> Copy for $slice<T> {}
        // SAFETY: a slice is only an address. Reading or writing through it is unsafe, and the caller's responsibility.
        unsafe impl<T> Send for $slice<T> {}
        // SAFETY: as above.
        unsafe impl<T> Sync for $slice<T> {}
    )*};
}

plain_value! { DeviceSlice DeviceSliceMut }

macro_rules! casts {
    ($($slice:ident)*) => {$(
        impl<T> $slice<T> {
            /// The same memory as elements of another type; bytes that do not fill an element are left out.
            ///
            /// # Safety
            /// The memory must be aligned for `U`, and every bit pattern must be a valid `U`.
            #[inline(always)]
            pub const unsafe fn cast<U>(self) -> $slice<U> {
                let len = self.len * size_of::<T>() as u64 / size_of::<U>() as u64;
                $slice { pointer: self.pointer.cast(), len }
            }
        }
    )*};
}

casts! { DeviceSlice DeviceSliceMut }

impl<T> DeviceSlice<T> {
    /// The `len` elements at `pointer`.
    ///
    /// # Safety
    /// `pointer` must be aligned for `T` and hold `len` elements, in the memory of the device that runs the kernel, or
    /// in that of the host for the emulator.
    #[inline(always)]
    pub const unsafe fn new(pointer: *const T, len: u64) -> Self {
        Self { pointer, len }
    }
}

impl<T> DeviceSliceMut<T> {
    /// The `len` elements at `pointer`.
    ///
    /// # Safety
    /// As for [`DeviceSlice::new`]; while a kernel runs, nothing else may use the memory.
    #[inline(always)]
    pub const unsafe fn new(pointer: *mut T, len: u64) -> Self {
        Self { pointer, len }
    }

    /// The same memory, to read.
    #[inline(always)]
    pub const fn as_slice(self) -> DeviceSlice<T> {
        DeviceSlice { pointer: self.pointer, len: self.len }
    }
}

macro_rules! reading {
    ($($slice:ident)*) => {$(
        impl<T: GlobalElement> $slice<T> {
            /// Number of elements.
            #[inline(always)]
            pub const fn len(self) -> usize {
                self.len as usize
            }

            /// Whether there is no element.
            #[inline(always)]
            pub const fn is_empty(self) -> bool {
                self.len == 0
            }

            /// Element `index`. PTX: `ld.global`, `ld.global.v2` or `ld.global.v4`. Any thread.
            ///
            /// # Safety
            /// `index` must be in bounds.
            #[inline(always)]
            pub unsafe fn get(self, index: usize) -> T {
                // SAFETY: the caller says that `index` is in bounds, and `new`'s that the memory holds as many
                // elements.
                unsafe { T::load(self.at(index)) }
            }

            /// Returns the address of element `index`. The emulator stops the kernel if there is none.
            ///
            /// # Safety
            /// `index` must be in bounds.
            #[inline(always)]
            unsafe fn at(self, index: usize) -> *mut T {
                #[cfg(not(target_arch = "nvptx64"))]
                crate::emulator::check_device_index(index, self.len as usize);
                // SAFETY: the caller says that `index` is in bounds, so that the pointer stays within the memory.
                unsafe { self.pointer.add(index) as *mut T }
            }
        }
    )*};
}

reading! { DeviceSlice DeviceSliceMut }

impl<T: GlobalElement> DeviceSlice<T> {
    /// Element `index` by the read-only path. PTX: `ld.global.nc` and its `v2`, `v4`. Any thread.
    ///
    /// # Safety
    /// `index` must be in bounds, and nothing may write the element while the kernel runs.
    #[inline(always)]
    pub unsafe fn get_cached(self, index: usize) -> T {
        // SAFETY: the caller says that `index` is in bounds and that nothing writes the element.
        unsafe { T::load_cached(self.at(index)) }
    }
}

impl<T: GlobalElement> DeviceSliceMut<T> {
    /// Stores `value` as element `index`. PTX: `st.global`, `st.global.v2` or `st.global.v4`. Any thread.
    ///
    /// # Safety
    /// `index` must be in bounds, and no other thread may use the element without a barrier in between.
    #[inline(always)]
    pub unsafe fn set(self, index: usize, value: T) {
        // SAFETY: the caller says that `index` is in bounds and that no other thread uses the element now.
        unsafe { T::store(self.at(index), value) }
    }
}

impl<T: GlobalAdd> DeviceSliceMut<T> {
    /// Reads element `index` as one relaxed atomic step. It sees what another block has written, whereas
    /// [`get`](Self::get) may return a stale value from a cache. PTX: `ld.relaxed.gpu.global`. Any thread.
    ///
    /// # Safety
    /// `index` must be in bounds.
    #[inline(always)]
    pub unsafe fn load_relaxed(self, index: usize) -> T {
        // SAFETY: the caller says that `index` is in bounds; the access is atomic.
        unsafe { T::load_relaxed(self.at(index)) }
    }

    /// Adds `value` to element `index` as one relaxed atomic step; integers wrap. PTX: `red.global.add`. Any thread.
    ///
    /// # Safety
    /// `index` must be in bounds.
    #[inline(always)]
    pub unsafe fn add(self, index: usize, value: T) {
        // SAFETY: the caller says that `index` is in bounds; the access is atomic.
        unsafe { T::add(self.at(index), value) }
    }

    /// [`add`](Self::add) that returns the former value. PTX: `atom.global.add`. Any thread.
    ///
    /// # Safety
    /// `index` must be in bounds.
    #[inline(always)]
    pub unsafe fn fetch_add(self, index: usize, value: T) -> T {
        // SAFETY: the caller says that `index` is in bounds; the access is atomic.
        unsafe { T::fetch_add(self.at(index), value) }
    }
}

impl DeviceSliceMut<u32> {
    /// Sets element `index` to the maximum of its value and `value`, as one relaxed atomic step. PTX:
    /// `red.global.max.u32`. Any thread.
    ///
    /// # Safety
    /// `index` must be in bounds.
    #[inline(always)]
    pub unsafe fn max(self, index: usize, value: u32) {
        // SAFETY: the caller says that `index` is in bounds; the access is atomic.
        unsafe { max_u32(self.at(index), value) }
    }
}
