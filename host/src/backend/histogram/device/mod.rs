//! Joint histograms on a device: one of several methods counts, and one more launch computes the entropies.

mod counter;
mod entropy;
pub mod from_pairs;
mod marginals;
pub mod methods;
mod partials;
pub mod tiles;

use super::{Evaluator, HistogramMethod, Pair, Wanted, per_sample};
use crate::Result;
use crate::backend::image::ImageCache;
use crate::backend::image::device::Images;
use crate::backend::queue::{BATCH, Queue};
use counter::Counter;
pub use counter::write;
use entropy::Space;
use gpu::math::entropy::Entropies;
use gpu::params::Affine;

/// A pair of images that is loaded on a device.
pub struct HistogramOnDevice<'a, Q: Queue> {
    queue: Q,
    bins: [u32; 2],
    /// The count of one sample: see [`Pair::unit`].
    unit: u32,
    method: HistogramMethod,
    counter: Box<dyn Counter<Q> + 'a>,
    /// Memory for the largest number of transforms asked for at once so far.
    space: Space<Q>,
}

impl<'a, Q: Queue + 'a> HistogramOnDevice<'a, Q> {
    /// Uploads a pair to the device.
    pub fn new(queue: Q, cache: &ImageCache<Q>, pair: &Pair, method: HistogramMethod) -> Result<Self> {
        let method = method.resolve(&queue, pair);
        let counter = methods::load(&Images { queue: &queue, cache }, pair, method)?;
        let space = Space::new(&queue, 1, pair.bins)?;
        Ok(Self { queue, bins: pair.bins, unit: pair.unit()?, method, counter, space })
    }

    /// Makes memory for the transforms if there is too little, and queues counting their joint histograms.
    fn count(&mut self, transforms: &[Affine]) -> Result<()> {
        if self.space.batch < transforms.len() {
            self.space = Space::new(&self.queue, transforms.len(), self.bins)?;
        }
        self.counter.count(&self.queue, transforms, &mut self.space.counters)
    }

    fn batch(&mut self, transforms: &[Affine], wanted: Wanted) -> Result<Vec<Entropies>> {
        self.count(transforms)?;
        let entropies = self.space.entropies(&self.queue, self.bins, transforms.len(), wanted)?;
        Ok(entropies.into_iter().map(|entropies| per_sample(entropies, self.unit)).collect())
    }
}

impl<'a, Q: Queue + 'a> Evaluator for HistogramOnDevice<'a, Q> {
    fn method(&self) -> &'static str {
        self.method.name()
    }

    fn evaluate(&mut self, transforms: &[Affine], wanted: Wanted) -> Result<Vec<Entropies>> {
        let batches = transforms.chunks(BATCH).map(|batch| self.batch(batch, wanted));
        Ok(batches.collect::<Result<Vec<_>>>()?.concat())
    }

    fn histogram(&mut self, transform: &Affine) -> Result<Vec<u32>> {
        self.count(std::slice::from_ref(transform))?;
        let counts = self.queue.download(&self.space.counters, (self.bins[0] * self.bins[1]) as usize)?;
        self.queue.clear(&mut self.space.counters)?;
        Ok(counts)
    }

    fn marginals(&mut self) -> Result<Option<[Vec<u32>; 2]>> {
        self.counter.marginals(&self.queue)
    }

    fn histogram_seconds(&mut self, transform: &Affine, times: u32) -> Result<Option<f64>> {
        let transforms = std::slice::from_ref(transform);
        let (counter, space) = (&mut self.counter, &mut self.space);
        let seconds = self
            .queue
            .seconds(|| (0..times).try_for_each(|_| counter.count(&self.queue, transforms, &mut space.counters)))?;
        self.queue.clear(&mut self.space.counters)?;
        Ok(seconds.map(|seconds| seconds / f64::from(times)))
    }
}

/// The kernels of the family.
#[cfg(test)]
pub const NAMES: &[&[&[&str]]] = &[methods::NAMES, &[entropy::NAMES, from_pairs::NAMES, partials::NAMES]];
