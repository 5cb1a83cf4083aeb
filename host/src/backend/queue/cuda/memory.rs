//! Device memory and page-locked host memory. Dropped memory returns to its pool.

use super::driver::{DeviceAllocator, HostAllocator};
use super::pool::{Allocator, Block, Pool};
use crate::Result;
use crate::backend::queue::{Element, Memory};
use cuda_std::global::{DeviceSlice, DeviceSliceMut};
use cust::stream::Stream;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A block of a pool that is used by a stream.
pub struct Lease<'a, A: Allocator> {
    pool: &'a Pool<A>,
    stream: Arc<Stream>,
    block: Block,
}

impl<'a, A: Allocator> Lease<'a, A> {
    /// Takes a block of at least this many bytes, with undefined contents.
    pub fn new(pool: &'a Pool<A>, stream: &Arc<Stream>, bytes: usize) -> Result<Self> {
        Ok(Self { pool, stream: stream.clone(), block: pool.take(bytes)? })
    }

    pub fn address(&self) -> u64 {
        self.block.address
    }
}

impl<A: Allocator> Drop for Lease<'_, A> {
    fn drop(&mut self) {
        // The next user of the block may be another stream, which does not wait for the work queued on this one. An
        // error means that the device has failed, and the next call to it returns that error too.
        let _ = self.stream.synchronize();
        self.pool.give(self.block);
    }
}

/// Elements in device memory.
pub struct DeviceMemory<'a, T> {
    lease: Lease<'a, DeviceAllocator>,
    len: usize,
    of: PhantomData<T>,
}

impl<'a, T: Element> DeviceMemory<'a, T> {
    /// Takes memory for this many elements, with undefined contents.
    pub fn new(pool: &'a Pool<DeviceAllocator>, stream: &Arc<Stream>, len: usize) -> Result<Self> {
        Ok(Self { lease: Lease::new(pool, stream, len * size_of::<T>())?, len, of: PhantomData })
    }

    pub fn address(&self) -> u64 {
        self.lease.address()
    }

    pub fn len(&self) -> usize {
        self.len
    }
}

impl<T: Element> Memory<T> for DeviceMemory<'_, T> {
    fn view(&self) -> DeviceSlice<T> {
        // SAFETY: the address and the length of an allocation.
        unsafe { DeviceSlice::new(self.address() as *const T, self.len as u64) }
    }

    fn view_mut(&mut self) -> DeviceSliceMut<T> {
        // SAFETY: the address and the length of an allocation, which the host does not touch while kernels run.
        unsafe { DeviceSliceMut::new(self.address() as *mut T, self.len as u64) }
    }
}

/// Elements in page-locked host memory.
pub struct PinnedMemory<'a, T> {
    lease: Lease<'a, HostAllocator>,
    len: usize,
    of: PhantomData<T>,
}

impl<'a, T: Element> PinnedMemory<'a, T> {
    /// Takes memory for this many elements, set to their default.
    pub fn new(pool: &'a Pool<HostAllocator>, stream: &Arc<Stream>, len: usize) -> Result<Self> {
        let pinned = Self { lease: Lease::new(pool, stream, len * size_of::<T>())?, len, of: PhantomData };
        for i in 0..len {
            // SAFETY: within the block, which is aligned to pages and used by nothing else.
            unsafe { pinned.pointer().add(i).write(T::default()) };
        }
        Ok(pinned)
    }
}

impl<T> PinnedMemory<'_, T> {
    fn pointer(&self) -> *mut T {
        self.lease.address() as *mut T
    }
}

impl<T> Deref for PinnedMemory<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the block has `len` elements, all initialised in `new`.
        unsafe { std::slice::from_raw_parts(self.pointer(), self.len) }
    }
}

impl<T> DerefMut for PinnedMemory<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.pointer(), self.len) }
    }
}

/// Kernels see page-locked memory at the host's address.
impl<T: Element> Memory<T> for PinnedMemory<'_, T> {
    fn view(&self) -> DeviceSlice<T> {
        // SAFETY: the address and the length of an allocation.
        unsafe { DeviceSlice::new(self.pointer(), self.len as u64) }
    }

    fn view_mut(&mut self) -> DeviceSliceMut<T> {
        // SAFETY: the address and the length of an allocation, which the host does not touch while kernels run.
        unsafe { DeviceSliceMut::new(self.pointer(), self.len as u64) }
    }
}
