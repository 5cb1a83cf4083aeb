//! A pair of images on the device, and its evaluation in two launches.

use super::memory::{download, locked, locked_mut, slice, slice_mut, upload, write};
use super::{Cuda, ROWS, new_stream};
use crate::Result;
use crate::backend::plan::{self, Limits, Plan};
use crate::backend::{Evaluator, Pair, Wanted};
use cust::memory::{DeviceBuffer, LockedBuffer};
use cust::stream::Stream;
use gpu::kernels::entropy::{COLUMNS, RESULTS, THREADS};
use gpu::kernels::histogram::WIDTH;
use gpu::math::entropy::Entropies;
use gpu::params::{self, Affine};

/// Transforms evaluated in one go at most.
const BATCH: usize = 64;

pub struct Loaded<'a> {
    cuda: &'a Cuda,
    pair: Pair<'a>,
    plan: Plan,
    limits: Limits,
    stream: Stream,
    fixed: DeviceBuffer<u8>,
    moving: DeviceBuffer<u32>,
    /// Working space for as many transforms as have been asked for at once.
    space: Space,
}

/// What a batch of evaluations needs on the device, and its ends on the host.
struct Space {
    batch: usize,
    /// Twelve coefficients a transform, on the host: the few numbers that a launch needs are read from there sooner than copied.
    transforms: LockedBuffer<f32>,
    counters: DeviceBuffer<u32>,
    columns: DeviceBuffer<f64>,
    moving: DeviceBuffer<u32>,
    fixed: DeviceBuffer<u32>,
    moving_sums: DeviceBuffer<u64>,
    fixed_sums: DeviceBuffer<u64>,
    done: DeviceBuffer<u32>,
    /// Written to the host, for the same reason.
    results: LockedBuffer<f64>,
}

impl Space {
    fn new(batch: usize, bins: [u32; 2], stream: &Stream) -> Result<Self> {
        let [fixed, moving] = bins.map(|n| n as usize);
        let zeros = |len: usize| upload(&vec![0_u32; len], stream);
        Ok(Self {
            batch,
            transforms: LockedBuffer::new(&0.0, 12 * batch)?,
            counters: zeros(batch * fixed * moving)?,
            columns: upload(&vec![0.0; batch * moving], stream)?,
            moving: zeros(batch * moving)?,
            fixed: zeros(batch * fixed)?,
            moving_sums: upload(&vec![0; batch * moving], stream)?,
            fixed_sums: upload(&vec![0; batch * fixed], stream)?,
            done: zeros(batch)?,
            results: LockedBuffer::new(&0.0, RESULTS * batch)?,
        })
    }
}

impl<'a> Loaded<'a> {
    /// Uploads a pair.
    pub fn new(cuda: &'a Cuda, pair: Pair<'a>) -> Result<Self> {
        let limits = cuda.limits(&pair)?;
        let stream = new_stream()?;
        Ok(Self {
            cuda,
            pair,
            plan: Plan::new(&pair, &limits),
            limits,
            fixed: upload(&pair.fixed.bins, &stream)?,
            moving: upload(&plan::words(pair.moving), &stream)?,
            space: Space::new(1, pair.bins, &stream)?,
            stream,
        })
    }

    /// Makes room for `batch` transforms and queues their joint histograms.
    fn count(&mut self, transforms: &[Affine]) -> Result<()> {
        self.cuda.enter()?;
        if self.space.batch < transforms.len() {
            self.space = Space::new(transforms.len(), self.pair.bins, &self.stream)?;
        }
        let (space, stream, batch) = (&mut self.space, &self.stream, transforms.len());
        for (coefficients, transform) in space.transforms.chunks_exact_mut(12).zip(transforms) {
            coefficients.copy_from_slice(transform.rows.as_flattened());
        }
        let params = plan::histogram_params(
            &self.pair,
            &self.plan,
            slice(&self.fixed),
            slice(&self.moving),
            &transforms[0],
            locked(&space.transforms),
            slice_mut(&space.counters),
        );
        let batch = batch as u32;
        let grid = [self.plan.blocks(&self.limits, batch), batch, self.plan.passes];
        let kernel = self.cuda.histogram_kernel(self.pair.interpolator);
        // SAFETY: the buffers are as long as the sizes say and live until the stream is done.
        unsafe { kernel.launch(stream, grid, [WIDTH, ROWS, 1], 4 * self.plan.range, &params) }
    }

    fn batch(&mut self, transforms: &[Affine], wanted: Wanted) -> Result<Vec<Entropies>> {
        self.count(transforms)?;
        let (space, batch) = (&mut self.space, transforms.len());
        let params = params::Entropy {
            counters: slice_mut(&space.counters),
            columns: slice_mut(&space.columns),
            moving: slice_mut(&space.moving),
            fixed: slice_mut(&space.fixed),
            moving_sums: slice_mut(&space.moving_sums),
            fixed_sums: slice_mut(&space.fixed_sums),
            done: slice_mut(&space.done),
            results: locked_mut(&mut space.results),
            bins: self.pair.bins,
            ratios: u32::from(wanted == Wanted::Ratios),
            unused: 0,
        };
        let grid = [self.pair.bins[1].div_ceil(COLUMNS), batch as u32, 1];
        // SAFETY: as above.
        unsafe { self.cuda.entropies.launch(&self.stream, grid, [THREADS, 1, 1], 0, &params)? };
        self.stream.synchronize()?;
        Ok(plan::entropies(&space.results[..RESULTS * batch]))
    }
}

impl Evaluator for Loaded<'_> {
    fn evaluate(&mut self, transforms: &[Affine], wanted: Wanted) -> Result<Vec<Entropies>> {
        let batches = transforms.chunks(BATCH).map(|batch| self.batch(batch, wanted));
        Ok(batches.collect::<Result<Vec<_>>>()?.concat())
    }

    fn histogram(&mut self, transform: &Affine) -> Result<Vec<u32>> {
        self.count(std::slice::from_ref(transform))?;
        let pairs = (self.pair.bins[0] * self.pair.bins[1]) as usize;
        let counts = download(&self.space.counters, pairs, &self.stream)?;
        write(&vec![0; pairs], &mut self.space.counters, &self.stream)?;
        Ok(counts)
    }
}
