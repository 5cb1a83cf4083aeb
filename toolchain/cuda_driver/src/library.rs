//! The driver's library, opened when it is first asked for.

use cust_raw::CUresult;
use libloading::Library;
use std::sync::OnceLock;

/// The library that NVIDIA's driver installs.
pub(crate) const NAME: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };

fn library() -> Option<&'static Library> {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    // SAFETY: the initialisers of NVIDIA's driver library ask nothing of the caller.
    LIBRARY.get_or_init(|| unsafe { Library::new(NAME) }.ok()).as_ref()
}

/// Whether the driver's library is there.
pub fn found() -> bool {
    library().is_some()
}

/// The driver's function of this name. `CUDA_ERROR_NO_DEVICE` where there is no driver, `CUDA_ERROR_NOT_FOUND` where
/// the driver is too old to have it.
///
/// # Safety
/// `F` must be the type of that function.
pub(crate) unsafe fn function<F: Copy>(name: &str) -> Result<F, CUresult> {
    let library = library().ok_or(CUresult::CUDA_ERROR_NO_DEVICE)?;
    // SAFETY: by the contract of this function.
    unsafe { library.get::<F>(name.as_bytes()) }.map(|symbol| *symbol).map_err(|_| CUresult::CUDA_ERROR_NOT_FOUND)
}
