//! The kernels of the PTX: looked up once, when the device opens.

use crate::backend::queue::Shape;
use crate::{Error, Result};
use cust::device::Device;
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

/// An entry point of a module that is kept loaded.
#[derive(Clone, Copy)]
pub struct Entry {
    function: sys::CUfunction,
    /// Dynamic shared memory that a block may have.
    pub shared_bytes: u32,
}

// SAFETY: a handle; the driver may be called from any thread.
unsafe impl Send for Entry {}
// SAFETY: as above.
unsafe impl Sync for Entry {}

impl Entry {
    /// The entry point of this name, whose blocks may have all of `shared` bytes that its static shared memory leaves.
    pub fn find(module: &Module, name: &str, shared: u32) -> Result<Self> {
        use sys::CUfunction_attribute as Attribute;
        let function = module.get_function(name)?.to_raw();
        let mut fixed = 0;
        // SAFETY: the function lives as long as its module; the pointer is that of a local.
        check(unsafe {
            sys::cuFuncGetAttribute(&mut fixed, Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function)
        })?;
        let shared_bytes = shared - fixed as u32;
        let attribute = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: as above.
        check(unsafe { sys::cuFuncSetAttribute(function, attribute, shared_bytes as i32) })?;
        Ok(Self { function, shared_bytes })
    }

    /// Blocks of `threads` threads and `shared` bytes that fit on a multiprocessor.
    pub fn blocks_per_multiprocessor(self, threads: u32, shared: u32) -> Result<u32> {
        let mut blocks = 0;
        // SAFETY: as above; the pointer is that of a local.
        let code = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &mut blocks,
                self.function,
                threads as i32,
                shared as usize,
            )
        };
        check(code)?;
        Ok(blocks as u32)
    }

    /// Queues a launch.
    ///
    /// # Safety
    /// `params` is what the kernel takes, what it points to is there until the stream is done, and the shape is one that the kernel
    /// allows.
    pub unsafe fn launch<P>(self, stream: &Stream, shape: Shape, params: &P) -> Result<()> {
        let mut arguments = [std::ptr::from_ref(params).cast_mut().cast::<c_void>()];
        let ([gx, gy, gz], [bx, by, bz]) = (shape.grid, shape.block);
        // SAFETY: as this function's; the driver copies the parameters before it returns.
        check(unsafe {
            sys::cuLaunchKernel(
                self.function,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                shape.shared_bytes,
                stream.as_inner(),
                arguments.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        })
    }
}

/// Bytes of shared memory that a block may have when it asks for them.
pub fn shared_memory(device: &Device) -> Result<u32> {
    let attribute = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
    let mut bytes = 0;
    // SAFETY: the pointer is that of a local.
    check(unsafe { sys::cuDeviceGetAttribute(&mut bytes, attribute, device.as_raw()) })?;
    Ok(bytes as u32)
}

/// A driver's answer as a result.
pub fn check(code: sys::CUresult) -> Result<()> {
    match code {
        sys::CUresult::CUDA_SUCCESS => Ok(()),
        code => Err(Error::Device(format!("the CUDA driver says {}", cuda_driver::describe(code)))),
    }
}
