//! Mattes mutual information on a device.

mod kernels;
mod launches;
mod shapes;

use super::{MattesPair, Smooth, SmoothEvaluator, SmoothSlope};
use crate::Result;
use crate::backend::image::ImageCache;
use crate::backend::image::device::Images;
use crate::backend::queue::Queue;
use gpu::params::Affine;
#[cfg(test)]
pub use kernels::NAMES;
use launches::Launches;

/// A pair of images that is loaded on a device.
pub struct MattesOnDevice<Q: Queue> {
    queue: Q,
    launches: Launches<Q>,
}

impl<Q: Queue> MattesOnDevice<Q> {
    /// Uploads a pair to the device.
    pub fn new(queue: Q, cache: &ImageCache<Q>, pair: &MattesPair) -> Result<Self> {
        Ok(Self { launches: Launches::new(&Images { queue: &queue, cache }, pair)?, queue })
    }

    /// The mean time of `times` values in a row, with or without the derivative, in seconds.
    fn mean_seconds(&mut self, map: &Affine, times: u32, derivative: bool) -> Result<Option<f64>> {
        let (queue, launches) = (&self.queue, &mut self.launches);
        let once = |_| {
            launches.values(queue, std::slice::from_ref(map))?;
            if derivative { launches.derivative(queue, map) } else { Ok(()) }
        };
        let seconds = queue.seconds(|| (0..times).try_for_each(once))?;
        Ok(seconds.map(|seconds| seconds / f64::from(times)))
    }
}

impl<Q: Queue> SmoothEvaluator for MattesOnDevice<Q> {
    fn values(&mut self, maps: &[Affine]) -> Result<Vec<Smooth>> {
        let mut values = Vec::with_capacity(maps.len());
        for batch in maps.chunks(self.launches.batch) {
            self.launches.values(&self.queue, batch)?;
            values.extend(self.launches.wait(&self.queue, batch.len())?);
        }
        Ok(values)
    }

    fn slope(&mut self, map: &Affine) -> Result<SmoothSlope> {
        self.launches.values(&self.queue, std::slice::from_ref(map))?;
        self.launches.derivative(&self.queue, map)?;
        self.launches.wait_for_derivative(&self.queue)
    }

    fn seconds(&mut self, map: &Affine, times: u32) -> Result<Option<[f64; 2]>> {
        let value = self.mean_seconds(map, times, false)?;
        let slope = self.mean_seconds(map, times, true)?;
        Ok(value.zip(slope).map(|(value, slope)| [value, slope]))
    }
}
