//! The interface of a backend.

use super::flow::{Flow, FlowPair};
use super::gaussian::SmoothingSeconds;
use super::histogram::{Evaluator, HistogramMethod, Pair};
use super::image::Tensor;
use super::mattes::{MattesPair, SmoothEvaluator};
use super::queue::Resident;
use super::search::Search;
use super::viola::{ViolaEvaluator, ViolaPair};
use crate::image::pyramid::{self, Filters};
use crate::{Result, Volume};
use gpu::math::interpolate::Interpolator;
use gpu::params::Affine;

/// Evaluates metrics, optimises displacement fields, smooths and resamples images. All backends give the same bits.
pub trait Backend: Send + Sync {
    /// `cpu`, `cuda` or `emulated`.
    fn name(&self) -> &'static str;

    /// A description of the device, such as its name or the number of threads.
    fn device(&self) -> String;

    /// Bytes of the device's memory that are free; `None` if it uses the host's memory, or does not know.
    fn free_memory(&self) -> Option<u64> {
        None
    }

    /// Whether small requests mostly wait for the device. If so, several threads can make requests at once in the time
    /// of one.
    fn waits(&self) -> bool {
        false
    }

    /// Loads a pair of images, whose joint histogram is to be counted by `method`.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the images do not fit, [`crate::Error::Option`] if the backend does not have the
    /// method or the method cannot count this pair.
    fn load<'a>(&'a self, pair: Pair<'a>, method: HistogramMethod) -> Result<Box<dyn Evaluator + 'a>>;

    /// Loads a pair of images, to be compared by Mattes mutual information.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the images do not fit into memory.
    fn load_mattes<'a>(&'a self, pair: MattesPair<'a>) -> Result<Box<dyn SmoothEvaluator + 'a>>;

    /// Loads samples, to be compared by Viola's mutual information.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if they do not fit into memory.
    fn load_viola<'a>(&'a self, pair: ViolaPair<'a>) -> Result<Box<dyn ViolaEvaluator + 'a>>;

    /// Makes a displacement field, which is 0.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn flow<'a>(&'a self) -> Result<Box<dyn Flow + 'a>>;

    /// Searches for the displacement of each cell of a grid. Returns three planes on that grid, x fastest, in cells.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if there is not enough memory.
    fn search(&self, search: &Search) -> Result<Vec<f32>>;

    /// Makes two displacement fields that meet in the middle, which are 0.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn flow_pair<'a>(&'a self) -> Result<Box<dyn FlowPair + 'a>>;

    /// The time that the device spends on a histogram of `bins` counters alone, from 16-bit numbers in its memory, in
    /// seconds, as the mean of `times` in a row; `None` if it has no clock.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the numbers do not fit into memory.
    fn numbers_seconds(&self, _numbers: &[u16], _bins: u32, _times: u32) -> Result<Option<f64>> {
        Ok(None)
    }

    /// Resamples the moving image on a grid of `size`. `affine` maps voxels of that grid to voxels of the moving image.
    /// The intensity is 0 outside the image.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the images do not fit into memory.
    fn resample(&self, moving: &Volume, size: [usize; 3], affine: &Affine, how: Interpolator) -> Result<Vec<f32>>;

    /// Smooths and subsamples a volume along its axes.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if there is not enough memory.
    fn filtered(&self, volume: &Volume, filters: &Filters) -> Result<Volume> {
        Ok(pyramid::filtered(volume, filters))
    }

    /// Copies a caller's tensor as intensities, i fastest, to the host and within the device's memory; `None` if the
    /// tensor is on another device.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if there is not enough memory.
    fn gathered(&self, _tensor: &Tensor) -> Result<Option<(Vec<f32>, Resident<'_>)>> {
        Ok(None)
    }

    /// The same backend for a run that uses these images more than once. A device keeps them in its memory until the
    /// returned backend is dropped.
    fn keeping<'a>(&'a self, images: &[&'a Volume]) -> Box<dyn Backend + 'a>;

    /// Smooths volumes of `size`, one after the other in `planes`, by a Gaussian of `sigmas` voxels: see
    /// [`smooth`](crate::backend::cpu::smooth).
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the volumes do not fit into memory.
    ///
    /// # Panics
    /// If `planes` are not whole volumes.
    fn smooth(&self, planes: &mut [f32], size: [usize; 3], sigmas: [f64; 3]) -> Result<()>;

    /// The time that the device spends on smoothing this many volumes of `size`, for each pass over them, and on a
    /// plain copy of them, as means of `times` in a row; `None` if it has no clock.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if two copies of the volumes do not fit into memory.
    fn smoothing_seconds(
        &self,
        _size: [usize; 3],
        _volumes: usize,
        _sigmas: [f64; 3],
        _times: u32,
    ) -> Result<Option<SmoothingSeconds>> {
        Ok(None)
    }
}
