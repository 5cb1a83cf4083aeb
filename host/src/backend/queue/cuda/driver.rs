//! Driver calls that `cust` does not wrap: allocation, and the conversion of return codes to results.

use super::pool::Allocator;
use crate::{Error, Result};
use cust::context::{Context, CurrentContext};
use cust::sys;
use std::ffi::c_void;
use std::ptr;

/// Converts a return code of the driver to a result.
pub fn check(code: sys::CUresult) -> Result<()> {
    match code {
        sys::CUresult::CUDA_SUCCESS => Ok(()),
        code => Err(Error::device("cuda", format!("the CUDA driver says {}", cuda_driver::describe(code)))),
    }
}

/// The device's memory.
pub struct DeviceAllocator(pub Context);

impl Allocator for DeviceAllocator {
    fn allocate(&self, bytes: usize) -> Result<u64> {
        CurrentContext::set_current(&self.0)?;
        let mut address = 0;
        // SAFETY: the pointer is that of a local.
        check(unsafe { sys::cuMemAlloc_v2(&mut address, bytes) })?;
        Ok(address)
    }

    fn free(&self, address: u64) {
        // Errors are ignored: they mean that the device has failed, and its memory is lost anyway.
        let _ = CurrentContext::set_current(&self.0);
        // SAFETY: `allocate` returned this address, and it is freed once.
        let _ = unsafe { sys::cuMemFree_v2(address) };
    }
}

/// Page-locked memory of the host, which kernels reach at the host's address.
pub struct HostAllocator(pub Context);

impl Allocator for HostAllocator {
    fn allocate(&self, bytes: usize) -> Result<u64> {
        CurrentContext::set_current(&self.0)?;
        let mut pointer: *mut c_void = ptr::null_mut();
        // SAFETY: the pointer is that of a local.
        check(unsafe { sys::cuMemAllocHost_v2(&mut pointer, bytes) })?;
        Ok(pointer as u64)
    }

    fn free(&self, address: u64) {
        // As above.
        let _ = CurrentContext::set_current(&self.0);
        // SAFETY: `allocate` returned this address, and it is freed once.
        let _ = unsafe { sys::cuMemFreeHost(address as *mut c_void) };
    }
}
