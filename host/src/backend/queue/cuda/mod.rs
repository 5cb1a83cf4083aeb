//! An NVIDIA GPU, through the driver.

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
use driver::{OfDevice, OfHost};
use loader::Kernels;
#[cfg(test)]
pub use loader::entry_points;
use pool::Pool;
use stream::CudaQueue;

/// Threads of a block that counts.
const THREADS: u32 = 1024;

/// Memory that nothing uses is kept for later, up to the whole device's divided by this.
const KEPT: usize = 2;

/// Bytes of page-locked memory that are kept at most: it holds but a few numbers of each pair.
const PINNED_KEPT: usize = 64 << 20;

/// An NVIDIA GPU, for any number of threads at once: each works on queues of its own. A kernel is compiled once and memory that
/// is no longer used is used again.
pub struct Cuda {
    /// Declared before the context, so that they are gone first.
    kernels: Kernels,
    memory: Pool<OfDevice>,
    pinned: Pool<OfHost>,
    context: Context,
    number: usize,
    loans: Loans,
    name: String,
    limits: Limits,
}

/// Whether there is a device; the error says in one line why not.
///
/// # Errors
/// [`Error::Device`]
pub fn available() -> Result<()> {
    cuda_driver::available().map_err(|why| Error::device("cuda", why))
}

/// Whether there is a driver, and so perhaps a device; asking takes no time.
pub(crate) fn has_driver() -> bool {
    cuda_driver::found()
}

/// Where each GPU of this machine sits on its PCI bus, as in `0000:1b:00`: of all that the driver shows, in its order.
///
/// # Errors
/// [`Error::Device`] where there is none.
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
    /// [`Error::Device`] where there is none.
    pub fn open() -> Result<Self> {
        Self::numbered(0)
    }

    /// Opens the device of this number, from 0.
    ///
    /// # Errors
    /// [`Error::Device`] where there is none.
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
            memory: Pool::new(OfDevice(context.clone()), bytes / KEPT),
            pinned: Pool::new(OfHost(context.clone()), PINNED_KEPT),
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

    /// How often memory was allocated and how many kernels were compiled since it was opened: as it is kept for later, running the same
    /// once more adds nothing.
    pub fn made(&self) -> (u64, usize) {
        (self.memory.allocations() + self.pinned.allocations(), self.kernels.compiled())
    }
}

/// A device's compute capability as one number: 90 for 9.0.
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

    /// What the driver has, and what is kept.
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
    /// The fields go after this: modules are unloaded in the context that is this thread's.
    fn drop(&mut self) {
        let _ = CurrentContext::set_current(&self.context);
    }
}
