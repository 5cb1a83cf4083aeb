//! Memory of the device and page-locked memory of the host, as kernels see it. What is dropped goes back to the pool that it is of.

use super::driver::{OfDevice, OfHost};
use super::pool::{Allocator, Block, Pool};
use crate::Result;
use crate::backend::queue::{Element, Memory};
use cuda_std::global::{DeviceSlice, DeviceSliceMut};
use cust::stream::Stream;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A block that a stream uses.
pub struct Lease<'a, A: Allocator> {
    pool: &'a Pool<A>,
    stream: Arc<Stream>,
    block: Block,
}

impl<'a, A: Allocator> Lease<'a, A> {
    /// At least so many bytes, which hold anything.
    pub fn new(pool: &'a Pool<A>, stream: &Arc<Stream>, bytes: usize) -> Result<Self> {
        Ok(Self { pool, stream: stream.clone(), block: pool.take(bytes)? })
    }

    pub fn address(&self) -> u64 {
        self.block.address
    }
}

impl<A: Allocator> Drop for Lease<'_, A> {
    fn drop(&mut self) {
        // Another stream may be the next to use the block, and knows nothing of what is queued here. An error means that the device has
        // given up; whoever asks it next hears so.
        let _ = self.stream.synchronize();
        self.pool.give(self.block);
    }
}

/// Memory of the device.
pub struct DeviceMemory<'a, T> {
    lease: Lease<'a, OfDevice>,
    len: usize,
    of: PhantomData<T>,
}

impl<'a, T: Element> DeviceMemory<'a, T> {
    /// Room for so many elements, which hold anything.
    pub fn new(pool: &'a Pool<OfDevice>, stream: &Arc<Stream>, len: usize) -> Result<Self> {
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

/// Page-locked memory.
pub struct PinnedMemory<'a, T> {
    lease: Lease<'a, OfHost>,
    len: usize,
    of: PhantomData<T>,
}

impl<'a, T: Element> PinnedMemory<'a, T> {
    /// So many default elements.
    pub fn new(pool: &'a Pool<OfHost>, stream: &Arc<Stream>, len: usize) -> Result<Self> {
        let pinned = Self { lease: Lease::new(pool, stream, len * size_of::<T>())?, len, of: PhantomData };
        for i in 0..len {
            // SAFETY: within the block, which is aligned to pages and nobody else's.
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
        // SAFETY: so many elements, written when it was made.
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
