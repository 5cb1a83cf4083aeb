//! An NVIDIA GPU, through the driver.

mod graph;
mod kernel;
mod memory;
mod queue;

use super::evaluator::Loaded;
use super::flow_device::FlowDevice;
use super::histogram::{self, HistogramMethod};
use super::mattes_device::Mattes;
use super::queue::Limits;
use super::{
    Backend, Evaluator, Flow, MattesPair, Pair, SmoothEvaluator, ViolaEvaluator, ViolaPair, gaussian, resample, viola,
};
use crate::{Error, Result, Volume};
use cust::CudaFlags;
use cust::context::{Context, CurrentContext};
use cust::device::{Device, DeviceAttribute};
use cust::memory::mem_get_info;
use gpu::math::interpolate::Interpolator;
use gpu::params::Affine;
use kernel::Kernels;
use queue::CudaQueue;

/// Threads of a block that counts.
const THREADS: u32 = 1024;

/// The first NVIDIA GPU.
pub struct Cuda {
    /// Declared before the context, so that they are gone first.
    kernels: Kernels,
    context: Context,
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

impl Cuda {
    /// Opens the first device.
    ///
    /// # Errors
    /// [`Error::Device`] where there is none.
    pub fn open() -> Result<Self> {
        available()?;
        cust::init(CudaFlags::empty())?;
        let device = Device::get_device(0)?;
        let context = Context::new(device)?;
        let capability = capability(&device)?;
        Ok(Self {
            kernels: Kernels::new(capability, kernel::shared_memory(&device)?),
            name: format!("{} (compute capability {}.{})", device.name()?, capability / 10, capability % 10),
            limits: Limits {
                threads: THREADS,
                multiprocessors: device.get_attribute(DeviceAttribute::MultiprocessorCount)? as u32,
                memory: device.total_memory()? as u64,
            },
            context,
        })
    }

    /// How often each of the numbers below `bins`, 1 to 65536, occurs; others are not counted. Also the seconds that the device
    /// spends on it, as the mean of `times` more in a row, if that is not 0.
    ///
    /// # Errors
    /// [`Error::Option`] for other `bins`, [`Error::Device`] where the numbers do not fit or the device gives up.
    pub fn count_pairs(&self, numbers: &[u16], bins: u32, times: u32) -> Result<(Vec<u32>, Option<f64>)> {
        histogram::count_pairs(&CudaQueue::new(self)?, numbers, bins, times)
    }
}

/// A device's compute capability as one number: 90 for 9.0.
fn capability(device: &Device) -> Result<u32> {
    let major = device.get_attribute(DeviceAttribute::ComputeCapabilityMajor)?;
    let minor = device.get_attribute(DeviceAttribute::ComputeCapabilityMinor)?;
    Ok((10 * major + minor) as u32)
}

impl Backend for Cuda {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn device(&self) -> String {
        self.name.clone()
    }

    fn free_memory(&self) -> Option<u64> {
        CurrentContext::set_current(&self.context).ok()?;
        mem_get_info().ok().map(|(free, _)| free as u64)
    }

    fn load<'a>(&'a self, pair: Pair<'a>, method: HistogramMethod) -> Result<Box<dyn Evaluator + 'a>> {
        Ok(Box::new(Loaded::new(CudaQueue::new(self)?, &pair, method)?))
    }

    fn numbers_seconds(&self, numbers: &[u16], bins: u32, times: u32) -> Result<Option<f64>> {
        Ok(self.count_pairs(numbers, bins, times)?.1)
    }

    fn load_mattes<'a>(&'a self, pair: MattesPair<'a>) -> Result<Box<dyn SmoothEvaluator + 'a>> {
        Ok(Box::new(Mattes::new(CudaQueue::new(self)?, &pair)?))
    }

    fn load_viola<'a>(&'a self, pair: ViolaPair<'a>) -> Result<Box<dyn ViolaEvaluator + 'a>> {
        viola::load(CudaQueue::new(self)?, pair)
    }

    fn flow<'a>(&'a self) -> Result<Box<dyn Flow + 'a>> {
        Ok(Box::new(FlowDevice::new(CudaQueue::new(self)?)))
    }

    fn resample(&self, moving: &Volume, size: [usize; 3], affine: &Affine, how: Interpolator) -> Result<Vec<f32>> {
        resample::resample(&CudaQueue::new(self)?, moving, size, affine, how)
    }

    fn smooth(&self, planes: &mut [f32], size: [usize; 3], sigmas: [f64; 3]) -> Result<()> {
        gaussian::device::smooth(&CudaQueue::new(self)?, planes, size, sigmas)
    }

    fn smoothing_seconds(
        &self,
        size: [usize; 3],
        volumes: usize,
        sigmas: [f64; 3],
        times: u32,
    ) -> Result<Option<gaussian::Seconds>> {
        gaussian::device::seconds(&CudaQueue::new(self)?, (size, volumes), sigmas, times)
    }
}
