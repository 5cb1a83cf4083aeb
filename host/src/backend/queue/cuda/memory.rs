//! Memory of the device and page-locked memory of the host, as kernels see it.

use crate::backend::queue::{Element, Memory};
use cuda_std::global::{DeviceSlice, DeviceSliceMut};
use cust::memory::{DeviceBuffer, LockedBuffer};

impl<T: Element> Memory<T> for DeviceBuffer<T> {
    fn view(&self) -> DeviceSlice<T> {
        // SAFETY: the address and the length of an allocation.
        unsafe { DeviceSlice::new(self.as_device_ptr().as_ptr(), self.len() as u64) }
    }

    fn view_mut(&mut self) -> DeviceSliceMut<T> {
        // SAFETY: the address and the length of an allocation, which the host does not touch while kernels run.
        unsafe { DeviceSliceMut::new(self.as_device_ptr().as_mut_ptr(), self.len() as u64) }
    }
}

/// Kernels see page-locked memory at the host's address.
impl<T: Element> Memory<T> for LockedBuffer<T> {
    fn view(&self) -> DeviceSlice<T> {
        // SAFETY: the address and the length of an allocation.
        unsafe { DeviceSlice::new(self.as_ptr(), self.len() as u64) }
    }

    fn view_mut(&mut self) -> DeviceSliceMut<T> {
        // SAFETY: the address and the length of an allocation, which the host does not touch while kernels run.
        unsafe { DeviceSliceMut::new(self.as_mut_ptr(), self.len() as u64) }
    }
}
