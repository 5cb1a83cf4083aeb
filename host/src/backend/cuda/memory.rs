//! Memory of the device and page-locked memory of the host: copies in the order of a stream, and views for kernels.

use crate::Result;
use cuda_std::global::{DeviceSlice, DeviceSliceMut};
use cust::memory::{AsyncCopyDestination, DeviceBuffer, DeviceCopy, LockedBuffer};
use cust::stream::Stream;

/// A copy on the device. It is there when this returns; the driver's plain copies may still be under way.
pub fn upload<T: DeviceCopy>(host: &[T], stream: &Stream) -> Result<DeviceBuffer<T>> {
    // SAFETY: filled before anything reads it.
    let mut buffer = unsafe { DeviceBuffer::uninitialized(host.len())? };
    write(host, &mut buffer, stream)?;
    Ok(buffer)
}

/// Copies to the beginning of a buffer.
pub fn write<T: DeviceCopy>(host: &[T], buffer: &mut DeviceBuffer<T>, stream: &Stream) -> Result<()> {
    // SAFETY: both ends are there until the copy is done.
    unsafe { buffer.index(..host.len()).async_copy_from(host, stream)? };
    Ok(stream.synchronize()?)
}

/// The first `len` elements of a buffer, after what the stream has queued.
pub fn download<T: DeviceCopy + Default>(buffer: &DeviceBuffer<T>, len: usize, stream: &Stream) -> Result<Vec<T>> {
    let mut host = vec![T::default(); len];
    // SAFETY: both ends are there until the copy is done.
    unsafe { buffer.index(..len).async_copy_to(&mut host[..], stream)? };
    stream.synchronize()?;
    Ok(host)
}

/// A buffer as kernels see it.
pub fn slice<T: DeviceCopy>(buffer: &DeviceBuffer<T>) -> DeviceSlice<T> {
    // SAFETY: the address and the length of an allocation.
    unsafe { DeviceSlice::new(buffer.as_device_ptr().as_ptr(), buffer.len() as u64) }
}

/// A buffer that kernels write.
pub fn slice_mut<T: DeviceCopy>(buffer: &DeviceBuffer<T>) -> DeviceSliceMut<T> {
    // SAFETY: the address and the length of an allocation, which the host does not touch while kernels run.
    unsafe { DeviceSliceMut::new(buffer.as_device_ptr().as_mut_ptr(), buffer.len() as u64) }
}

/// Page-locked host memory as kernels see it: at the same address.
pub fn locked<T: DeviceCopy>(buffer: &LockedBuffer<T>) -> DeviceSlice<T> {
    // SAFETY: the address and the length of an allocation.
    unsafe { DeviceSlice::new(buffer.as_ptr(), buffer.len() as u64) }
}

/// Page-locked host memory that kernels write.
pub fn locked_mut<T: DeviceCopy>(buffer: &mut LockedBuffer<T>) -> DeviceSliceMut<T> {
    // SAFETY: the address and the length of an allocation, which the host does not touch while kernels run.
    unsafe { DeviceSliceMut::new(buffer.as_mut_ptr(), buffer.len() as u64) }
}
