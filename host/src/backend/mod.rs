//! Where the metric is evaluated. The registration loop sees only the traits here.

pub mod cpu;
pub mod cuda;
pub mod emulated;
mod evaluator;
mod flow;
mod flow_device;
pub mod gaussian;
mod histogram;
mod kernels;
mod mattes;
mod mattes_device;
mod queue;
mod resample;
mod viola;

pub(crate) use flow::bytes as flow_bytes;
pub use flow::{Agreement, Compare, Flow, FlowInverse, FlowLevel, FlowStep, Score};
pub(crate) use histogram::BATCH;
pub use histogram::HistogramMethod;
pub use mattes::MattesImages;

use crate::error::{Setting, message};
use crate::image::{BinImage, StoredImage};
use crate::{Error, Observer, Result};
use gpu::math::entropy::Entropies;
use gpu::math::interpolate::Interpolator;
use gpu::math::{bin, partial_volume};
use gpu::params::Affine;
use strum::{Display, EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// The backend asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, EnumMessage, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
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
    /// [`crate::Error::Option`] where the counts of a fixed image with partial volumes would not fit 32 bits.
    pub fn unit(&self) -> Result<u32> {
        if self.interpolator != Interpolator::PartialVolume {
            return Ok(1);
        }
        let [x, y, z] = self.fixed.size;
        let refused = || {
            Error::option(
                Setting::Interpolator,
                message!("{x} x {y} x {z} voxels are too many for partial volumes"; "use ", Interpolator, " linear"),
            )
        };
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

/// A pair of images to compare by Mattes windows.
#[derive(Debug, Clone, Copy)]
pub struct MattesPair<'a> {
    /// With windows on the moving side alone a bin number a voxel; with both, the stored 16-bit value, which [`bin::MASKED`] is not.
    /// [`bin::MASKED`] where a voxel is not to be counted.
    pub fixed: &'a BinImage,
    /// 16-bit values.
    pub moving: &'a StoredImage,
    /// Bins of the fixed and of the moving image with their padding, [`gpu::math::mattes::LEAST_BINS`] to 1024 each.
    pub bins: [u32; 2],
    pub windows: Windows,
}

/// Which intensities a cubic B-spline window spreads over the bins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Windows {
    /// The moving image's; a fixed intensity falls into one bin.
    Moving,
    /// Those of both images.
    Both,
}

/// A smooth metric at one map.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Smooth {
    /// Mutual information, nats.
    pub mi: f64,
    /// Samples inside the moving image.
    pub overlap: u64,
}

/// A smooth metric at one map, and how it changes with the map.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Slope {
    pub at: Smooth,
    /// The derivative of the mutual information by each of the map's twelve numbers, nats: rows as in [`Affine`].
    pub by_map: [[f64; 4]; 3],
}

/// A pair that was loaded for a smooth metric.
pub trait SmoothEvaluator {
    /// The metric at each map, from voxels of the fixed image to voxels of the moving image.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn values(&mut self, maps: &[Affine]) -> Result<Vec<Smooth>>;

    /// The metric and its derivative at a map.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn slope(&mut self, map: &Affine) -> Result<Slope>;

    /// Seconds that the device spends on the metric, and on it with its derivative, as the mean of `times` in a row; `None` where it
    /// has no clock.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn seconds(&mut self, _map: &Affine, _times: u32) -> Result<Option<[f64; 2]>> {
        Ok(None)
    }
}

/// A voxel of the fixed image.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    pub voxel: [u32; 3],
    /// Its intensity as a fraction of the range, 0 to [`bin::FULL`].
    pub value: f32,
}

/// The two sample sets of Lin & Medioni, section 2.1, of one part of the image that has a map of its own: numbers of samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// What the densities are made of.
    pub a: std::ops::Range<u32>,
    /// Where they are looked at.
    pub b: std::ops::Range<u32>,
}

/// Standard deviations of the Gaussian windows, in stored values (0 to [`bin::FULL`]).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sigmas {
    pub fixed: f64,
    pub moving: f64,
    /// Those of the joint density along the fixed and the moving intensity; `None` for the same again, which saves an exponential a
    /// pair of samples.
    pub joint: Option<[f64; 2]>,
}

/// How exponentials are computed.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Default,
    Display,
    EnumMessage,
    EnumString,
    IntoStaticStr,
    VariantArray,
    serde::Serialize,
)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum Exponentials {
    /// By a polynomial, with the same bits on CPU and GPU
    #[default]
    Exact,
    /// On a GPU in part by its special-function units: faster, but bits depend on the GPU
    Fast,
    /// From a table of 256 levels, to which intensities are rounded
    Quantised,
}

/// Samples to compare by Gaussian windows.
#[derive(Debug, Clone, Copy)]
pub struct ViolaPair<'a> {
    pub samples: &'a [Sample],
    pub groups: &'a [Group],
    /// 16-bit values.
    pub moving: &'a StoredImage,
    pub sigmas: Sigmas,
    pub exponentials: Exponentials,
}

/// Viola's mutual information of a group at a map.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Viola {
    /// h(u), h(v) and h(u, v) of eq. 5, nats, of intensities as stored values.
    pub fixed: f64,
    pub moving: f64,
    pub joint: f64,
    /// Eq. 6; 0 unless A and B both have samples inside the moving image.
    pub mi: f64,
    /// Samples of A and of B inside the moving image.
    pub overlap: [u32; 2],
}

/// Samples that were loaded.
pub trait ViolaEvaluator {
    /// Each group at its own map, from voxels of the fixed image to voxels of the moving image.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn values(&mut self, maps: &[Affine]) -> Result<Vec<Viola>>;

    /// The same, with the derivative of each group's mutual information by the twelve numbers of its map, rows as in [`Affine`].
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn slopes(&mut self, maps: &[Affine]) -> Result<Vec<(Viola, [[f64; 4]; 3])>>;

    /// Seconds that the device spends on values, or on slopes, as the mean of `times` in a row; `None` where it has no clock.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn seconds(&mut self, _maps: &[Affine], _slopes: bool, _times: u32) -> Result<Option<f64>> {
        Ok(None)
    }
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
    /// [`crate::Error::Device`] where the images do not fit, [`crate::Error::Option`] where the method is not there or cannot count
    /// this pair.
    fn load<'a>(&'a self, pair: Pair<'a>, method: HistogramMethod) -> Result<Box<dyn Evaluator + 'a>>;

    /// Brings a pair of images to where it is compared by Mattes windows.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the images do not fit.
    fn load_mattes<'a>(&'a self, pair: MattesPair<'a>) -> Result<Box<dyn SmoothEvaluator + 'a>>;

    /// Brings samples to where they are compared by Gaussian windows.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where they do not fit.
    fn load_viola<'a>(&'a self, pair: ViolaPair<'a>) -> Result<Box<dyn ViolaEvaluator + 'a>>;

    /// A displacement field that is 0.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn flow<'a>(&'a self) -> Result<Box<dyn Flow + 'a>>;

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

    /// Smooths volumes of `size`, one after the other in `planes`, by a Gaussian of `sigmas` voxels: see [`cpu::gaussian::smooth`].
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the volumes do not fit.
    ///
    /// # Panics
    /// Where `planes` are not whole volumes.
    fn smooth(&self, planes: &mut [f32], size: [usize; 3], sigmas: [f64; 3]) -> Result<()>;

    /// Seconds that the device spends on smoothing this many volumes of `size`, on each pass over them, and on a plain copy of them, as the
    /// means of `times` in a row; `None` where it has no clock.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where two copies of the volumes do not fit.
    fn smoothing_seconds(
        &self,
        _size: [usize; 3],
        _volumes: usize,
        _sigmas: [f64; 3],
        _times: u32,
    ) -> Result<Option<gaussian::Seconds>> {
        Ok(None)
    }
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
        .map(|(backend, kind)| match open(kind, &crate::Silent) {
            Ok(opened) => Device { backend, available: true, detail: opened.device() },
            Err(error) => Device { backend, available: false, detail: error.to_string() },
        })
        .into()
}
