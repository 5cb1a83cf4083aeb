//! NVIDIA GPUs, used through the CUDA driver.

mod driver;
mod graph;
mod loader;
mod memory;
mod pool;
mod stream;
mod transfer;

use super::{Limits, Loans, Opened};
use crate::{Error, Result};
use cust::CudaFlags;
use cust::context::{Context, CurrentContext};
use cust::device::{Device, DeviceAttribute};
use cust::memory::mem_get_info;
use driver::{DeviceAllocator, HostAllocator};
use loader::Kernels;
#[cfg(test)]
pub use loader::entry_points;
use pool::Pool;
use stream::CudaQueue;

/// The most threads per block.
const THREADS: u32 = 1024;

/// Freed memory is kept for later, up to the device's total memory divided by this.
const KEPT: usize = 2;

/// The most bytes of freed page-locked memory that are kept. Little is needed, since it holds only a few numbers for
/// each pair.
const PINNED_KEPT: usize = 64 << 20;

/// An NVIDIA GPU, for any number of threads at once, each with queues of its own. Kernels are compiled once, and freed
/// memory is reused.
pub struct Cuda {
    /// `kernels`, `memory` and `pinned` are declared before the context, so that they are dropped before it.
    kernels: Kernels,
    memory: Pool<DeviceAllocator>,
    pinned: Pool<HostAllocator>,
    context: Context,
    number: usize,
    loans: Loans,
    name: String,
    limits: Limits,
}

/// Checks whether there is a device.
///
/// # Errors
/// [`Error::Device`] says in one line why there is none.
pub fn available() -> Result<()> {
    cuda_driver::available().map_err(|why| Error::device("cuda", why))
}

/// Whether there is a driver, and so possibly a device. This check takes almost no time.
pub(crate) fn has_driver() -> bool {
    cuda_driver::found()
}

/// The PCI address of each GPU that the driver shows, as in `0000:1b:00`, in the driver's order.
///
/// # Errors
/// [`Error::Device`] if there is none.
pub fn places() -> Result<Vec<String>> {
    available()?;
    cust::init(CudaFlags::empty())?;
    let place = |number| {
        let device = Device::get_device(number)?;
        let [domain, bus, slot] =
            [DeviceAttribute::PciDomainId, DeviceAttribute::PciBusId, DeviceAttribute::PciDeviceId]
                .map(|attribute| device.get_attribute(attribute));
        Ok(format!("{:04x}:{:02x}:{:02x}", domain?, bus?, slot?))
    };
    (0..Device::num_devices()?).map(place).collect()
}

impl Cuda {
    /// Opens the first device.
    ///
    /// # Errors
    /// [`Error::Device`] if there is none.
    pub fn open() -> Result<Self> {
        Self::numbered(0)
    }

    /// Opens the device of this number, from 0.
    ///
    /// # Errors
    /// [`Error::Device`] if there is none.
    pub fn numbered(number: usize) -> Result<Self> {
        available()?;
        cust::init(CudaFlags::empty())?;
        let count = Device::num_devices()? as usize;
        if number >= count {
            return Err(Error::device(
                "cuda",
                format!("there is no GPU {number}; they are numbered from 0 to {}", count - 1),
            ));
        }
        let device = Device::get_device(number as u32)?;
        let context = Context::new(device)?;
        let capability = capability(&device)?;
        let bytes = device.total_memory()?;
        Ok(Self {
            number,
            loans: Loans::none(),
            memory: Pool::new(DeviceAllocator(context.clone()), bytes / KEPT),
            pinned: Pool::new(HostAllocator(context.clone()), PINNED_KEPT),
            kernels: Kernels::new(capability, loader::shared_memory(&device)?),
            name: format!("{} (compute capability {}.{})", device.name()?, capability / 10, capability % 10),
            limits: Limits {
                threads: THREADS,
                multiprocessors: device.get_attribute(DeviceAttribute::MultiprocessorCount)? as u32,
                memory: bytes as u64,
                clock: true,
            },
            context,
        })
    }

    /// The numbers of allocations and of kernels compiled since the device was opened. Both are kept for later, so that
    /// repeating the same run adds none.
    pub fn made(&self) -> (u64, usize) {
        (self.memory.allocations() + self.pinned.allocations(), self.kernels.compiled())
    }
}

/// The compute capability of a device as one number: 90 for 9.0.
fn capability(device: &Device) -> Result<u32> {
    let major = device.get_attribute(DeviceAttribute::ComputeCapabilityMajor)?;
    let minor = device.get_attribute(DeviceAttribute::ComputeCapabilityMinor)?;
    Ok((10 * major + minor) as u32)
}

impl Opened for Cuda {
    type Queue<'a> = CudaQueue<'a>;

    fn kind(&self) -> &'static str {
        "cuda"
    }

    fn describe(&self) -> String {
        self.name.clone()
    }

    /// The free memory that the driver reports, and the freed memory kept in the pool.
    fn free_bytes(&self) -> Option<u64> {
        CurrentContext::set_current(&self.context).ok()?;
        mem_get_info().ok().map(|(free, _)| (free + self.memory.bytes()) as u64)
    }

    fn number(&self) -> Option<usize> {
        Some(self.number)
    }

    fn loans(&self) -> &Loans {
        &self.loans
    }

    fn queue(&self) -> Result<CudaQueue<'_>> {
        CudaQueue::new(self)
    }
}

impl Drop for Cuda {
    /// Makes the context current in this thread. The fields are dropped after this, and modules are unloaded in the
    /// current context.
    fn drop(&mut self) {
        let _ = CurrentContext::set_current(&self.context);
    }
}
