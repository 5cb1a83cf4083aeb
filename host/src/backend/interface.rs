//! What a backend is asked for, by family.

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

    /// Whether a thread that asks for something small mostly waits for it, so that several ask at once in the time of one.
    fn waits(&self) -> bool {
        false
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

    /// Displacements of the cells of a search: three planes on their grid, x fastest, in cells.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where memory is short.
    fn search(&self, search: &Search) -> Result<Vec<f32>>;

    /// Two displacement fields that are 0.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn flow_pair<'a>(&'a self) -> Result<Box<dyn FlowPair + 'a>>;

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
    fn resample(&self, moving: &Volume, size: [usize; 3], affine: &Affine, how: Interpolator) -> Result<Vec<f32>>;

    /// A volume smoothed and thinned along its axes.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where memory is short.
    fn filtered(&self, volume: &Volume, filters: &Filters) -> Result<Volume> {
        Ok(pyramid::filtered(volume, filters))
    }

    /// A caller's numbers as intensities, i fastest, on the host and in the device's memory; `None` where they lie on another device.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where memory is short.
    fn gathered(&self, _tensor: &Tensor) -> Result<Option<(Vec<f32>, Resident<'_>)>> {
        Ok(None)
    }

    /// The same backend for a run that uses these images more than once: a device keeps what it has of them until that is dropped.
    fn keeping<'a>(&'a self, images: &[&'a Volume]) -> Box<dyn Backend + 'a>;

    /// Smooths volumes of `size`, one after the other in `planes`, by a Gaussian of `sigmas` voxels, as [`smooth`](crate::backend::cpu::smooth)
    /// does.
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
    ) -> Result<Option<SmoothingSeconds>> {
        Ok(None)
    }
}
