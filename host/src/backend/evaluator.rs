//! A pair of images on a device, and its evaluation: the launches of a histogram method and one for the entropies.

use super::emulated::Emulated;
use super::histogram::{self, BATCH, Counter, HistogramMethod};
use super::kernels::ENTROPIES;
use super::queue::{Memory, Queue, Shape};
use super::{Evaluator, Pair, Wanted, per_sample};
use crate::Result;
use gpu::kernels::histogram::entropy::{COLUMNS, RESULTS, THREADS};
use gpu::math::entropy::Entropies;
use gpu::params::{self, Affine};

/// A loaded pair.
pub struct Loaded<'a, Q: Queue> {
    queue: Q,
    bins: [u32; 2],
    /// What a sample counts.
    unit: u32,
    method: HistogramMethod,
    counter: Box<dyn Counter<Q> + 'a>,
    /// Working space for as many transforms as have been asked for at once.
    space: Space<Q>,
}

impl<'a, Q: Queue + 'a> Loaded<'a, Q> {
    /// Uploads a pair.
    pub fn new(queue: Q, pair: &Pair, method: HistogramMethod) -> Result<Self> {
        let method = method.resolve(&queue, pair);
        let counter = histogram::load(&queue, pair, method)?;
        let space = Space::new(&queue, 1, pair.bins)?;
        Ok(Self { queue, bins: pair.bins, unit: pair.unit()?, method, counter, space })
    }

    /// Makes room for the transforms and queues their joint histograms.
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

impl<'a, Q: Queue + 'a> Evaluator for Loaded<'a, Q> {
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

/// What a batch of evaluations needs on the device, and its end on the host.
pub struct Space<Q: Queue> {
    batch: usize,
    counters: Q::Memory<u32>,
    columns: Q::Memory<f64>,
    moving: Q::Memory<u32>,
    fixed: Q::Memory<u32>,
    moving_sums: Q::Memory<u64>,
    fixed_sums: Q::Memory<u64>,
    done: Q::Memory<u32>,
    results: Q::Pinned<f64>,
}

impl<Q: Queue> Space<Q> {
    pub fn new(queue: &Q, batch: usize, bins: [u32; 2]) -> Result<Self> {
        let [fixed, moving] = bins.map(|n| n as usize);
        Self::with(queue, batch, bins, queue.zeros(batch * fixed * moving)?)
    }

    /// With joint histograms that are counted already.
    pub fn with(queue: &Q, batch: usize, bins: [u32; 2], counters: Q::Memory<u32>) -> Result<Self> {
        let [fixed, moving] = bins.map(|n| n as usize);
        Ok(Self {
            batch,
            counters,
            columns: queue.zeros(batch * moving)?,
            moving: queue.zeros(batch * moving)?,
            fixed: queue.zeros(batch * fixed)?,
            moving_sums: queue.zeros(batch * moving)?,
            fixed_sums: queue.zeros(batch * fixed)?,
            done: queue.zeros(batch)?,
            results: queue.pinned(RESULTS * batch)?,
        })
    }

    /// What is wanted of the first `batch` joint histograms, which are left at 0.
    pub fn entropies(&mut self, queue: &Q, bins: [u32; 2], batch: usize, wanted: Wanted) -> Result<Vec<Entropies>> {
        let params = params::Entropy {
            counters: self.counters.view_mut(),
            columns: self.columns.view_mut(),
            moving: self.moving.view_mut(),
            fixed: self.fixed.view_mut(),
            moving_sums: self.moving_sums.view_mut(),
            fixed_sums: self.fixed_sums.view_mut(),
            done: self.done.view_mut(),
            results: self.results.view_mut(),
            bins,
            ratios: u32::from(wanted == Wanted::Ratios),
            unused: 0,
        };
        let shape =
            Shape { grid: [bins[1].div_ceil(COLUMNS), batch as u32, 1], block: [THREADS, 1, 1], shared_bytes: 0 };
        // SAFETY: the memory is as long as the bins say and lives until the queue is done.
        unsafe { queue.launch(&ENTROPIES, shape, params)? };
        queue.wait()?;
        Ok(self.results[..RESULTS * batch].chunks_exact(RESULTS).map(result).collect())
    }
}

/// Entropies from the numbers that the kernel writes.
fn result(n: &[f64]) -> Entropies {
    Entropies { fixed: n[0], moving: n[1], joint: n[2], mi: n[3], nmi: n[4], counts: n[5] as u64, ratios: [n[6], n[7]] }
}

impl Space<Emulated> {
    /// Whether everything that must be 0 before an evaluation is.
    pub fn is_clear(&self) -> bool {
        let zero = |counts: &[u32]| counts.iter().all(|&n| n == 0);
        zero(&self.counters) && zero(&self.fixed) && zero(&self.done) && self.fixed_sums.iter().all(|&n| n == 0)
    }
}
