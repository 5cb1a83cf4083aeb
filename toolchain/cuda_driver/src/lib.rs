//! Loads libcuda at run time, when one of its functions is first called.
//!
//! `cust` is meant to be linked to the CUDA driver, and a binary linked that way does not start on a machine without a
//! driver. This crate defines the driver's functions instead. Each function looks itself up in the installed driver at
//! its first call, and returns `CUDA_ERROR_NO_DEVICE` if there is no driver. A program that uses `cust` must call
//! [`available`] or contain `use cuda_driver as _;`, so that this crate is linked.

mod errors;
mod functions;
mod library;

use cust_raw::CUresult;
use std::ffi::{CStr, c_char};

pub use library::found;

/// Checks that this machine has an NVIDIA driver and a device. The error says in one line what is missing.
pub fn available() -> Result<(), String> {
    // SAFETY: cuInit takes no pointer; its one flag must be 0.
    match unsafe { cust_raw::cuInit(0) } {
        CUresult::CUDA_SUCCESS => {}
        _ if !library::found() => return Err(format!("no NVIDIA driver found ({})", library::NAME)),
        CUresult::CUDA_ERROR_NO_DEVICE => return Err("the NVIDIA driver finds no device".into()),
        code => return Err(format!("the NVIDIA driver does not start: {}", describe(code))),
    }
    let mut count = 0;
    // SAFETY: the pointer is that of a local.
    match unsafe { cust_raw::cuDeviceGetCount(&mut count) } {
        CUresult::CUDA_SUCCESS if count > 0 => Ok(()),
        CUresult::CUDA_SUCCESS => Err("the NVIDIA driver finds no device".into()),
        code => Err(format!("the NVIDIA driver does not list its devices: {}", describe(code))),
    }
}

/// The name and number of an error code.
pub fn describe(code: CUresult) -> String {
    let mut name: *const c_char = std::ptr::null();
    // SAFETY: the pointer is that of a local.
    let found = unsafe { cust_raw::cuGetErrorName(code, &mut name) };
    if found != CUresult::CUDA_SUCCESS || name.is_null() {
        return format!("error {}", code as u32);
    }
    // SAFETY: the driver's names are static C strings.
    let name = unsafe { CStr::from_ptr(name) };
    format!("{} ({})", name.to_string_lossy(), code as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cust_agrees_with_available() {
        match (available(), cust::quick_init()) {
            (Ok(()), Ok(_)) => {}
            (Err(reason), Err(error)) => {
                assert_eq!(reason.lines().count(), 1, "{reason}");
                assert!(!error.to_string().is_empty());
            }
            (ours, theirs) => panic!("available: {ours:?}; cust: {:?}", theirs.err()),
        }
    }

    #[test]
    fn without_a_driver_every_call_says_no_device() {
        if library::found() {
            return;
        }
        assert_eq!(available(), Err(format!("no NVIDIA driver found ({})", library::NAME)));
        assert!(matches!(cust::quick_init(), Err(cust::error::CudaError::NoDevice)));
        assert_eq!(cust::error::CudaError::NoDevice.to_string(), "\"no CUDA-capable device is detected\"");
        // SAFETY: without a driver, the null pointers are not used.
        let code = unsafe { cust_raw::cuGraphLaunch(std::ptr::null_mut(), std::ptr::null_mut()) };
        assert_eq!(code, CUresult::CUDA_ERROR_NO_DEVICE);
    }

    #[test]
    fn error_codes_have_names() {
        assert_eq!(describe(CUresult::CUDA_ERROR_NO_DEVICE), "CUDA_ERROR_NO_DEVICE (100)");
    }
}
