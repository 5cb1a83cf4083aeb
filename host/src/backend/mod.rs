//! Where the metric is evaluated. The registration loop sees only the traits here.

pub mod cpu;
pub mod cuda;
pub mod emulated;
mod evaluator;
mod histogram;
mod kernels;
mod queue;
mod resample;

pub(crate) use histogram::BATCH;
pub use histogram::HistogramMethod;

use crate::image::{BinImage, StoredImage};
use crate::{Error, Observer, Result};
use gpu::math::entropy::Entropies;
use gpu::math::interpolate::Interpolator;
use gpu::math::{bin, partial_volume};
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

impl Pair<'_> {
    /// Whether devices sample 16-bit values of the moving image: for more than 256 bins, and for partial volumes, which need each
    /// neighbour and not a mean.
    fn fine(&self) -> bool {
        self.interpolator == Interpolator::PartialVolume || bin::fine(self.bins[1])
    }

    /// What a sample counts: 1, or with partial volumes the unit of its neighbours' weights.
    ///
    /// # Errors
    /// [`crate::Error::Input`] where the counts of a fixed image with partial volumes would not fit 32 bits.
    pub fn unit(&self) -> Result<u32> {
        if self.interpolator != Interpolator::PartialVolume {
            return Ok(1);
        }
        let [x, y, z] = self.fixed.size;
        let refused = || Error::Input(format!("{x} x {y} x {z} voxels are too many for partial volumes: use linear"));
        partial_volume::unit(x as u64 * y as u64 * z as u64).ok_or_else(refused)
    }
}

/// Entropies of counts of which a sample has `unit`, with the number of samples.
pub(crate) fn per_sample(entropies: Entropies, unit: u32) -> Entropies {
    Entropies { counts: entropies.counts / u64::from(unit), ..entropies }
}

/// What to take from a joint histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Entropies and what follows from them.
    Entropies,
    /// The correlation ratios as well.
    Ratios,
}

/// A place where metrics are evaluated and images resampled, always with the same bits.
pub trait Backend: Send + Sync {
    /// `cpu`, `cuda` or `emulated`.
    fn name(&self) -> &'static str;

    /// The device's own name.
    fn device(&self) -> String;

    /// Bytes of its own memory that are free; `None` where it works in the host's, or does not know.
    fn free_memory(&self) -> Option<u64> {
        None
    }

    /// Brings a pair of images to where the metric is evaluated, to be counted by `method`.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the images do not fit, [`crate::Error::Input`] where the method is not there or cannot count
    /// this pair.
    fn load<'a>(&'a self, pair: Pair<'a>, method: HistogramMethod) -> Result<Box<dyn Evaluator + 'a>>;

    /// Seconds that the device spends on a histogram of `bins` counters alone, from 16-bit numbers in its memory, as the mean of `times`
    /// in a row; `None` where it has no clock.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the numbers do not fit.
    fn numbers_seconds(&self, _numbers: &[u16], _bins: u32, _times: u32) -> Result<Option<f64>> {
        Ok(None)
    }

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

    /// What is wanted for each transform, from voxels of the fixed image to voxels of the moving image.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn evaluate(&mut self, transforms: &[Affine], wanted: Wanted) -> Result<Vec<Entropies>>;

    /// The joint histogram for one transform: the pair (f, m) is at `f + fixed_bins * m`. A sample counts [`Pair::unit`] in all.
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
