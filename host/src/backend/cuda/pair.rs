//! A pair of images on the device, and its evaluation in two launches.

use super::{Cuda, ROWS, new_stream};
use crate::Result;
use crate::backend::plan::{self, Limits, Plan};
use crate::backend::{Evaluator, Pair};
use cuda_std::global::{DeviceSlice, DeviceSliceMut};
use cust::memory::{CopyDestination, DeviceBuffer, DeviceCopy, LockedBuffer};
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
    done: DeviceBuffer<u32>,
    /// Written to the host, for the same reason.
    results: LockedBuffer<f64>,
}

impl Space {
    fn new(batch: usize, bins: [u32; 2]) -> Result<Self> {
        let [fixed, moving] = bins.map(|n| n as usize);
        Ok(Self {
            batch,
            transforms: LockedBuffer::new(&0.0, 12 * batch)?,
            counters: zeros(batch * fixed * moving)?,
            columns: DeviceBuffer::from_slice(&vec![0.0; batch * moving])?,
            moving: zeros(batch * moving)?,
            fixed: zeros(batch * fixed)?,
            done: zeros(batch)?,
            results: LockedBuffer::new(&0.0, RESULTS * batch)?,
        })
    }
}

fn zeros(len: usize) -> Result<DeviceBuffer<u32>> {
    Ok(DeviceBuffer::from_slice(&vec![0; len])?)
}

impl<'a> Loaded<'a> {
    /// Uploads a pair.
    pub fn new(cuda: &'a Cuda, pair: Pair<'a>) -> Result<Self> {
        let limits = cuda.limits(&pair)?;
        Ok(Self {
            cuda,
            pair,
            plan: Plan::new(&pair, &limits),
            limits,
            stream: new_stream()?,
            fixed: DeviceBuffer::from_slice(&pair.fixed.bins)?,
            moving: DeviceBuffer::from_slice(&plan::words(pair.moving))?,
            space: Space::new(1, pair.bins)?,
        })
    }

    /// Makes room for `batch` transforms and queues their joint histograms.
    fn count(&mut self, transforms: &[Affine]) -> Result<()> {
        self.cuda.enter()?;
        if self.space.batch < transforms.len() {
            self.space = Space::new(transforms.len(), self.pair.bins)?;
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

    fn batch(&mut self, transforms: &[Affine]) -> Result<Vec<Entropies>> {
        self.count(transforms)?;
        let (space, batch) = (&mut self.space, transforms.len());
        let params = params::Entropy {
            counters: slice_mut(&space.counters),
            columns: slice_mut(&space.columns),
            moving: slice_mut(&space.moving),
            fixed: slice_mut(&space.fixed),
            done: slice_mut(&space.done),
            results: locked_mut(&mut space.results),
            bins: self.pair.bins,
        };
        let grid = [self.pair.bins[1].div_ceil(COLUMNS), batch as u32, 1];
        // SAFETY: as above.
        unsafe { self.cuda.entropies.launch(&self.stream, grid, [THREADS, 1, 1], 0, &params)? };
        self.stream.synchronize()?;
        Ok(plan::entropies(&space.results[..RESULTS * batch]))
    }
}

impl Evaluator for Loaded<'_> {
    fn evaluate(&mut self, transforms: &[Affine]) -> Result<Vec<Entropies>> {
        let batches = transforms.chunks(BATCH).map(|batch| self.batch(batch));
        Ok(batches.collect::<Result<Vec<_>>>()?.concat())
    }

    fn histogram(&mut self, transform: &Affine) -> Result<Vec<u32>> {
        self.count(std::slice::from_ref(transform))?;
        self.stream.synchronize()?;
        let pairs = (self.pair.bins[0] * self.pair.bins[1]) as usize;
        let mut counts = vec![0; pairs];
        let mut counters = self.space.counters.index(..pairs);
        counters.copy_to(&mut counts)?;
        counters.copy_from(&vec![0; pairs])?;
        Ok(counts)
    }
}

/// A buffer as kernels see it.
pub fn slice<T: DeviceCopy>(buffer: &DeviceBuffer<T>) -> DeviceSlice<T> {
    // SAFETY: the address and the length of an allocation.
    unsafe { DeviceSlice::new(buffer.as_device_ptr().as_ptr(), buffer.len() as u64) }
}

/// A buffer that kernels write.
pub fn slice_mut<T: DeviceCopy>(buffer: &DeviceBuffer<T>) -> DeviceSliceMut<T> {
    // SAFETY: the address and the length of an allocation, which the host does not touch while kernels run.
    unsafe { DeviceSliceMut::new(buffer.as_device_ptr().as_mut_ptr(), buffer.len() as u64) }
}

/// Page-locked host memory as kernels see it: at the same address.
fn locked<T: DeviceCopy>(buffer: &LockedBuffer<T>) -> DeviceSlice<T> {
    // SAFETY: the address and the length of an allocation.
    unsafe { DeviceSlice::new(buffer.as_ptr(), buffer.len() as u64) }
}

/// Page-locked host memory that kernels write.
fn locked_mut<T: DeviceCopy>(buffer: &mut LockedBuffer<T>) -> DeviceSliceMut<T> {
    // SAFETY: the address and the length of an allocation, which the host does not touch while kernels run.
    unsafe { DeviceSliceMut::new(buffer.as_mut_ptr(), buffer.len() as u64) }
}
