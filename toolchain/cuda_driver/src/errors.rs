//! Names and messages of error codes. They must be available without a driver, since `cust` then reports errors by
//! them.

use crate::library;
use cust_raw::CUresult;
use std::ffi::{CStr, c_char};
use std::sync::OnceLock;

type Lookup = unsafe extern "C" fn(CUresult, *mut *const c_char) -> CUresult;

/// Writes the name of `error`, such as `CUDA_ERROR_NO_DEVICE`, to `text`.
///
/// # Safety
/// `text` must be valid for a write.
#[allow(non_snake_case)]
#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetErrorName(error: CUresult, text: *mut *const c_char) -> CUresult {
    const _: Lookup = cust_raw::cuGetErrorName;
    static FUNCTION: OnceLock<Result<Lookup, CUresult>> = OnceLock::new();
    // SAFETY: the driver's function has this type.
    let driver = FUNCTION.get_or_init(|| unsafe { library::function("cuGetErrorName") });
    // SAFETY: by the contract of this function.
    unsafe { look_up(driver, error, text, without_driver(error).0) }
}

/// Writes a description of `error` to `text`.
///
/// # Safety
/// `text` must be valid for a write.
#[allow(non_snake_case)]
#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetErrorString(error: CUresult, text: *mut *const c_char) -> CUresult {
    const _: Lookup = cust_raw::cuGetErrorString;
    static FUNCTION: OnceLock<Result<Lookup, CUresult>> = OnceLock::new();
    // SAFETY: the driver's function has this type.
    let driver = FUNCTION.get_or_init(|| unsafe { library::function("cuGetErrorString") });
    // SAFETY: by the contract of this function.
    unsafe { look_up(driver, error, text, without_driver(error).1) }
}

/// Calls the driver's function or, if there is no driver, writes `fallback`.
///
/// # Safety
/// `text` must be valid for a write.
unsafe fn look_up(
    driver: &Result<Lookup, CUresult>,
    error: CUresult,
    text: *mut *const c_char,
    fallback: &'static CStr,
) -> CUresult {
    match driver {
        // SAFETY: by the contract of this function.
        Ok(function) => unsafe { function(error, text) },
        Err(_) => {
            // SAFETY: by the contract of this function.
            unsafe { text.write(fallback.as_ptr()) };
            CUresult::CUDA_SUCCESS
        }
    }
}

/// Returns the name and the description of a code that this crate itself returns.
fn without_driver(error: CUresult) -> (&'static CStr, &'static CStr) {
    match error {
        CUresult::CUDA_SUCCESS => (c"CUDA_SUCCESS", c"no error"),
        CUresult::CUDA_ERROR_NO_DEVICE => (c"CUDA_ERROR_NO_DEVICE", c"no CUDA-capable device is detected"),
        CUresult::CUDA_ERROR_NOT_FOUND => (c"CUDA_ERROR_NOT_FOUND", c"named symbol not found"),
        _ => (c"CUDA_ERROR_UNKNOWN", c"unknown error"),
    }
}
