//! Where the metric is evaluated. The registration loop sees only the traits here.

pub mod cpu;
pub mod cuda;
pub mod emulated;
mod evaluator;
mod histogram;
mod kernels;
mod queue;
mod resample;

pub use histogram::HistogramMethod;

use crate::image::{BinImage, StoredImage};
use crate::{Observer, Result};
use gpu::math::entropy::Entropies;
use gpu::math::interpolate::Interpolator;
use gpu::params::Affine;

/// The backend asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum BackendKind {
    /// CUDA where there is a device, else the CPU.
    Auto,
    /// All cores of this machine.
    Cpu,
    /// The first NVIDIA GPU.
    Cuda,
    /// The GPU's kernels in the SIMT emulator: slow, for checking.
    Emulated,
}

/// One pair of images to compare, as at one level of the pyramid.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'a> {
    pub fixed: &'a BinImage,
    pub moving: &'a StoredImage,
    /// Bins of the fixed and of the moving image, 2 to 1024 each.
    pub bins: [u32; 2],
    pub interpolator: Interpolator,
}

/// A place where metrics are evaluated and images resampled, always with the same bits.
pub trait Backend: Send + Sync {
    /// `cpu`, `cuda` or `emulated`.
    fn name(&self) -> &'static str;

    /// The device's own name.
    fn device(&self) -> String;

    /// Brings a pair of images to where the metric is evaluated, to be counted by `method`.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the images do not fit, [`crate::Error::Input`] where the method is not there or cannot count
    /// this pair.
    fn load<'a>(&'a self, pair: Pair<'a>, method: HistogramMethod) -> Result<Box<dyn Evaluator + 'a>>;

    /// The moving image's intensities at the voxels of a grid of `size`, through `affine` from that grid's voxels to the moving
    /// image's; 0 outside.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the images do not fit.
    fn resample(
        &self,
        moving: &crate::Volume,
        size: [usize; 3],
        affine: &Affine,
        how: Interpolator,
    ) -> Result<Vec<f32>>;
}

/// A loaded pair.
pub trait Evaluator {
    /// The name of the method that counts; what `auto` chose.
    fn method(&self) -> &'static str;

    /// Entropies, MI and NMI for each transform, from voxels of the fixed image to voxels of the moving image.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn evaluate(&mut self, transforms: &[Affine]) -> Result<Vec<Entropies>>;

    /// The joint histogram for one transform: the pair (f, m) is at `f + fixed_bins * m`.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn histogram(&mut self, transform: &Affine) -> Result<Vec<u32>>;

    /// The marginal histograms of the fixed and the moving image for the last transform that was counted, by a method
    /// that counts them beside the joint one; `None` by the others. They are the sums of its rows and of its columns.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn marginals(&mut self) -> Result<Option<[Vec<u32>; 2]>> {
        Ok(None)
    }

    /// Seconds that the device spends on a joint histogram alone, as the mean of `times` in a row; `None` where it has no clock.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn histogram_seconds(&mut self, _transform: &Affine, _times: u32) -> Result<Option<f64>> {
        Ok(None)
    }
}

/// Opens a backend, and tells the observer what `auto` chose.
///
/// # Errors
/// [`crate::Error::Device`] where it is not there.
pub fn open(kind: BackendKind, observer: &dyn Observer) -> Result<Box<dyn Backend>> {
    match kind {
        BackendKind::Cpu => Ok(Box::new(cpu::Cpu)),
        BackendKind::Emulated => Ok(Box::new(emulated::Emulated::default())),
        BackendKind::Cuda => Ok(Box::new(cuda::Cuda::open()?)),
        BackendKind::Auto => match cuda::Cuda::open() {
            Ok(cuda) => Ok(Box::new(cuda)),
            Err(reason) => {
                observer.note(&format!("{reason}: using the CPU"));
                Ok(Box::new(cpu::Cpu))
            }
        },
    }
}

/// A backend of this machine, for `mireg devices`.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Device {
    /// `cpu`, `cuda` or `emulated`.
    pub backend: &'static str,
    pub available: bool,
    /// What it is, or why it is not there.
    pub detail: String,
}

/// Every backend, and whether it can be used here.
pub fn devices() -> Vec<Device> {
    [("cpu", BackendKind::Cpu), ("cuda", BackendKind::Cuda), ("emulated", BackendKind::Emulated)]
        .map(|(backend, kind)| match open(kind, &()) {
            Ok(opened) => Device { backend, available: true, detail: opened.device() },
            Err(error) => Device { backend, available: false, detail: error.to_string() },
        })
        .into()
}
