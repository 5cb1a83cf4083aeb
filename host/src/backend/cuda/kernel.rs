//! The kernels of the PTX: looked up once, when the device opens.

use crate::{Error, Result};
use cust::module::{Module, ModuleJitOption};
use cust::stream::Stream;
use cust::sys;
use std::ffi::c_void;

/// The PTX for each architecture, lowest first, as `(compute capability, text)`.
const PTX: &[(u32, &str)] = include!(concat!(env!("OUT_DIR"), "/ptx.rs"));

/// Registers a thread: what lets blocks of 1024 threads run on every GPU.
const REGISTERS: u32 = 64;

/// Loads the PTX made for the highest compute capability that a device of capability `capability` (90 for 9.0) can run.
pub fn load(capability: u32) -> Result<Module> {
    let (_, text) = PTX.iter().rev().find(|(arch, _)| *arch <= capability).unwrap_or(&PTX[0]);
    Ok(Module::from_ptx(text, &[ModuleJitOption::MaxRegisters(REGISTERS)])?)
}

/// A kernel of a module that is kept loaded.
#[derive(Clone, Copy)]
pub struct Kernel(sys::CUfunction);

// SAFETY: a handle; the driver may be called from any thread.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

impl Kernel {
    /// The kernel of this name.
    pub fn find(module: &Module, name: &str) -> Result<Self> {
        Ok(Self(module.get_function(name)?.to_raw()))
    }

    /// Lets a block have all of `bytes` that its static shared memory leaves, and returns how much that is.
    pub fn allow_shared(self, bytes: u32) -> Result<u32> {
        use sys::CUfunction_attribute as Attribute;
        let mut fixed = 0;
        // SAFETY: the function lives as long as its module; the pointer is that of a local.
        check(unsafe { sys::cuFuncGetAttribute(&mut fixed, Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, self.0) })?;
        let left = bytes - fixed as u32;
        let attribute = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: as above.
        check(unsafe { sys::cuFuncSetAttribute(self.0, attribute, left as i32) })?;
        Ok(left)
    }

    /// Blocks of `threads` threads and `shared` bytes that fit on a multiprocessor.
    pub fn blocks_per_multiprocessor(self, threads: u32, shared: u32) -> Result<u32> {
        let mut blocks = 0;
        // SAFETY: as above; the pointer is that of a local.
        let code = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, self.0, threads as i32, shared as usize)
        };
        check(code)?;
        Ok(blocks as u32)
    }

    /// Queues a launch; `shared` is in bytes.
    ///
    /// # Safety
    /// `params` is what the kernel takes, what it points to is there until the stream is done, and the shape is one that the kernel
    /// allows.
    pub unsafe fn launch<P>(
        self,
        stream: &Stream,
        grid: [u32; 3],
        block: [u32; 3],
        shared: u32,
        params: &P,
    ) -> Result<()> {
        let mut arguments = [std::ptr::from_ref(params).cast_mut().cast::<c_void>()];
        let [gx, gy, gz] = grid;
        let [bx, by, bz] = block;
        // SAFETY: as this function's; the driver copies the parameters before it returns.
        check(unsafe {
            sys::cuLaunchKernel(
                self.0,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                shared,
                stream.as_inner(),
                arguments.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        })
    }
}

/// A driver's answer as a result.
pub fn check(code: sys::CUresult) -> Result<()> {
    match code {
        sys::CUresult::CUDA_SUCCESS => Ok(()),
        code => Err(Error::Device(format!("the CUDA driver says {}", cuda_driver::describe(code)))),
    }
}
