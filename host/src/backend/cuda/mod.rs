//! An NVIDIA GPU, through the driver.

mod kernel;
mod memory;
mod pair;

use super::plan::{self, Limits};
use super::{Backend, Evaluator, Pair};
use crate::image::CubicImage;
use crate::{Error, Result, Volume};
use cust::context::{Context, CurrentContext};
use cust::device::{Device, DeviceAttribute};
use cust::memory::DeviceBuffer;
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use cust::{CudaFlags, sys};
use gpu::kernels::histogram::WIDTH;
use gpu::math::interpolate::Interpolator;
use gpu::params::Affine;
use kernel::Kernel;

/// Warps of a block that counts.
const ROWS: u32 = 32;

/// The first NVIDIA GPU.
pub struct Cuda {
    /// Holds the kernels; declared before the context, so that it is gone first.
    _module: Module,
    context: Context,
    name: String,
    linear: Kernel,
    nearest: Kernel,
    entropies: Kernel,
    resample: Kernel,
    /// Words of shared memory that a block may have.
    words: u32,
    multiprocessors: u32,
}

/// Whether there is a device; the error says in one line why not.
///
/// # Errors
/// [`Error::Device`]
pub fn available() -> Result<()> {
    cuda_driver::available().map_err(Error::Device)
}

impl Cuda {
    /// Opens the first device and compiles the kernels for it.
    ///
    /// # Errors
    /// [`Error::Device`] where there is none, or its driver cannot compile the kernels.
    pub fn open() -> Result<Self> {
        available()?;
        cust::init(CudaFlags::empty())?;
        let device = Device::get_device(0)?;
        let context = Context::new(device)?;
        let capability = capability(&device)?;
        let module = kernel::load(capability)?;
        let find = |name| Kernel::find(&module, name);
        let (linear, nearest) = (find("joint_histogram_linear")?, find("joint_histogram_nearest")?);
        let shared = shared_memory(&device)?;
        let shared = linear.allow_shared(shared)?.min(nearest.allow_shared(shared)?);
        Ok(Self {
            linear,
            nearest,
            entropies: find("entropies")?,
            resample: find("resample")?,
            name: format!("{} (compute capability {}.{})", device.name()?, capability / 10, capability % 10),
            words: shared / 4,
            multiprocessors: device.get_attribute(DeviceAttribute::MultiprocessorCount)? as u32,
            context,
            _module: module,
        })
    }

    /// Makes the device this thread's.
    fn enter(&self) -> Result<()> {
        Ok(CurrentContext::set_current(&self.context)?)
    }

    fn histogram_kernel(&self, how: Interpolator) -> Kernel {
        match how {
            Interpolator::Linear => self.linear,
            // `load` refuses the others.
            _ => self.nearest,
        }
    }

    /// What a launch of `pair` may use.
    fn limits(&self, pair: &Pair) -> Result<Limits> {
        let words = (pair.bins[0] * pair.bins[1]).min(self.words);
        let kernel = self.histogram_kernel(pair.interpolator);
        let each = kernel.blocks_per_multiprocessor(WIDTH * ROWS, 4 * words)?;
        Ok(Limits { rows: ROWS, words: self.words, blocks: each.max(1) * self.multiprocessors })
    }
}

/// A device's compute capability as one number: 90 for 9.0.
fn capability(device: &Device) -> Result<u32> {
    let major = device.get_attribute(DeviceAttribute::ComputeCapabilityMajor)?;
    let minor = device.get_attribute(DeviceAttribute::ComputeCapabilityMinor)?;
    Ok((10 * major + minor) as u32)
}

/// Bytes of shared memory that a block may have when it asks for them.
fn shared_memory(device: &Device) -> Result<u32> {
    let attribute = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
    let mut bytes = 0;
    // SAFETY: the pointer is that of a local.
    kernel::check(unsafe { sys::cuDeviceGetAttribute(&mut bytes, attribute, device.as_raw()) })?;
    Ok(bytes as u32)
}

/// A stream of its own, which waits for no other.
fn new_stream() -> Result<Stream> {
    Ok(Stream::new(StreamFlags::NON_BLOCKING, None)?)
}

impl Backend for Cuda {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn device(&self) -> String {
        self.name.clone()
    }

    fn load<'a>(&'a self, pair: Pair<'a>) -> Result<Box<dyn Evaluator + 'a>> {
        plan::supported(&pair)?;
        self.enter()?;
        Ok(Box::new(pair::Loaded::new(self, pair)?))
    }

    fn resample(&self, moving: &Volume, size: [usize; 3], affine: &Affine, how: Interpolator) -> Result<Vec<f32>> {
        self.enter()?;
        let stream = new_stream()?;
        let samples = memory::upload(&CubicImage::samples(moving, how)?, &stream)?;
        // SAFETY: the kernel writes every voxel.
        let out: DeviceBuffer<f32> = unsafe { DeviceBuffer::uninitialized(size.iter().product())? };
        let (source, target) = (memory::slice(&samples), memory::slice_mut(&out));
        let params = plan::resample_params(source, moving.geometry.size, target, size, affine, how);
        let [x, y, z] = params.size;
        // SAFETY: the buffers are as long as the sizes say and outlive the launch.
        unsafe { self.resample.launch(&stream, [x.div_ceil(32), y.div_ceil(8), z], [32, 8, 1], 0, &params)? };
        memory::download(&out, out.len(), &stream)
    }
}
