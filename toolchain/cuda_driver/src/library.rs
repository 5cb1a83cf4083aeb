//! The driver's library, which is opened at its first use.

use cust_raw::CUresult;
use libloading::Library;
use std::sync::OnceLock;

/// The library that NVIDIA's driver installs.
pub(crate) const NAME: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };

fn library() -> Option<&'static Library> {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    // SAFETY: the initialisers of NVIDIA's driver library have no preconditions.
    LIBRARY.get_or_init(|| unsafe { Library::new(NAME) }.ok()).as_ref()
}

/// Returns whether the driver's library is installed.
pub fn found() -> bool {
    library().is_some()
}

/// Returns the driver's function of this name. The error is `CUDA_ERROR_NO_DEVICE` if there is no driver, and
/// `CUDA_ERROR_NOT_FOUND` if the driver is too old to have the function.
///
/// # Safety
/// `F` must be the type of that function.
pub(crate) unsafe fn function<F: Copy>(name: &str) -> Result<F, CUresult> {
    let library = library().ok_or(CUresult::CUDA_ERROR_NO_DEVICE)?;
    // SAFETY: by the contract of this function.
    unsafe { library.get::<F>(name.as_bytes()) }.map(|symbol| *symbol).map_err(|_| CUresult::CUDA_ERROR_NOT_FOUND)
}
