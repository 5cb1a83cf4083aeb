//! Launches the kernels that compute Mattes mutual information and its derivative, and holds their memory.

use super::kernels::{
    MATTES_FOLD, MATTES_HISTOGRAM, MATTES_HISTOGRAM_BOTH, MATTES_MARGINALS, MATTES_SLOPE, MATTES_SLOPE_BOTH,
    MATTES_VALUE,
};
use super::shapes::Shapes;
use crate::Result;
use crate::backend::histogram::Interpolated;
use crate::backend::histogram::device::write;
use crate::backend::image::device::Images;
use crate::backend::mattes::{MattesPair, Smooth, SmoothSlope, Windows};
use crate::backend::queue::{BATCH, HostResults, Memory, Queue, Shape};
use gpu::kernels::mattes::slope::{BLOCKS_PER_FOLD, COEFFICIENTS, FOLD_THREADS, SUMS_PER_ROW};
use gpu::kernels::mattes::value::{BINS_PER_THREAD, RESULTS, THREADS};
use gpu::math::interpolate::Interpolator;
use gpu::math::mattes::{BLOCK, UNIT};
use gpu::params::{self, Affine};

/// A pair of images in a device's memory.
pub struct Launches<Q: Queue> {
    images: params::Images,
    windows: Windows,
    shapes: Shapes,
    /// The memory that `images` points to.
    _memory: (Q::Memory<u16>, Q::Memory<u32>, Q::Memory<f32>),
    /// The most maps that are evaluated at once.
    pub batch: usize,
    transforms: Q::Pinned<f32>,
    counts: Q::Memory<u64>,
    moving: Q::Memory<u64>,
    fixed: Q::Memory<u64>,
    terms: Q::Memory<f64>,
    done: Q::Memory<u32>,
    table: Q::Memory<f32>,
    rows: Q::Memory<f32>,
    blocks: Q::Memory<f64>,
    /// For each map of a batch, a value and the sum of its counts; after these a derivative.
    results: HostResults<Q>,
}

/// The most counters of all maps that are evaluated at once. One map alone may have more.
const COUNTERS: usize = 1 << 20;

/// The index in the results at which the derivative begins.
const DERIVATIVE: usize = RESULTS * BATCH;

impl<Q: Queue> Launches<Q> {
    /// Uploads a pair to the device.
    pub fn new(images: &Images<Q>, pair: &MattesPair) -> Result<Self> {
        let queue = images.queue;
        let moving = match pair.moving {
            Interpolated::Image(image) => images.words(image)?,
            packed => queue.upload(&packed.values()?.words(true))?,
        };
        let fixed = images.counted(pair.fixed)?;
        let cubic = queue.upload(&[0.0])?;
        let images = params::Images {
            fixed: fixed.view(),
            moving: moving.view(),
            cubic: cubic.view(),
            transform: Affine { rows: [[0.0; 4]; 3] },
            fixed_size: pair.fixed.size().map(|n| n as u32),
            moving_size: pair.moving.size().map(|n| n as u32),
            bins: pair.bins,
            interpolator: Interpolator::Linear as u32,
            fine: 1,
            unit: UNIT,
            unused: 0,
        };
        let shapes = Shapes::new(queue, &images, pair.windows)?;
        let [fixed_bins, moving_bins] = pair.bins.map(|n| n as usize);
        let batch = (COUNTERS / (fixed_bins * moving_bins)).clamp(1, BATCH);
        Ok(Self {
            images,
            windows: pair.windows,
            _memory: (fixed, moving, cubic),
            batch,
            transforms: queue.pinned(12 * batch)?,
            counts: queue.zeros(batch * fixed_bins * moving_bins)?,
            moving: queue.zeros(batch * moving_bins)?,
            fixed: queue.zeros(batch * fixed_bins)?,
            terms: queue.zeros(batch * fixed_bins)?,
            done: queue.zeros(batch)?,
            table: queue.zeros(shapes.table as usize)?,
            rows: queue.zeros(SUMS_PER_ROW * shapes.rows as usize)?,
            blocks: queue.zeros(COEFFICIENTS * (shapes.rows as usize).div_ceil(BLOCK))?,
            results: HostResults::new(queue, DERIVATIVE + COEFFICIENTS)?,
            shapes,
        })
    }

    /// Queues computing the values at the maps, of which there are at most a batch, and the table for the derivative at
    /// the first map.
    pub fn values(&mut self, queue: &Q, maps: &[Affine]) -> Result<()> {
        self.results.forget(0..RESULTS * maps.len());
        if maps.len() > 1 {
            write(&mut self.transforms, maps);
        }
        let [fixed_bins, moving_bins] = self.images.bins;
        let histogram = params::MattesHistogram {
            images: params::Images { transform: maps[0], ..self.images },
            transforms: self.transforms.view(),
            counts: self.counts.view_mut(),
            range: self.shapes.range,
            copies: self.shapes.copies,
            stride: self.shapes.stride,
            depth: self.shapes.depth,
            tiles: self.shapes.tiles,
            unused: 0,
        };
        let value = params::MattesValue {
            counts: self.counts.view_mut(),
            moving: self.moving.view_mut(),
            fixed: self.fixed.view_mut(),
            terms: self.terms.view_mut(),
            done: self.done.view_mut(),
            table: self.table.view_mut(),
            results: self.results.view_mut(),
            bins: self.images.bins,
        };
        let count = match self.windows {
            Windows::Moving => MATTES_HISTOGRAM,
            Windows::Both => MATTES_HISTOGRAM_BOTH,
        };
        let maps = maps.len() as u32;
        let shape = |grid| Shape { grid, block: [THREADS, 1, 1], shared_bytes: 0 };
        let marginals = shape([moving_bins.div_ceil(THREADS), fixed_bins.div_ceil(BINS_PER_THREAD), maps]);
        // SAFETY: the memory is as long as the sizes and bins say and lives until the queue is done.
        unsafe {
            queue.launch(&count, self.shapes.histogram(maps), histogram)?;
            queue.launch(&MATTES_MARGINALS, marginals, value)?;
            queue.launch(&MATTES_VALUE, shape([fixed_bins, maps, 1]), value)
        }
    }

    /// Queues computing the derivative at a map, for which the table has been made.
    pub fn derivative(&mut self, queue: &Q, map: &Affine) -> Result<()> {
        self.results.forget(DERIVATIVE..DERIVATIVE + COEFFICIENTS);
        let slope = params::MattesSlope {
            images: params::Images { transform: *map, ..self.images },
            table: self.table.view(),
            rows: self.rows.view_mut(),
            table_words: self.shapes.slope.shared_bytes / 4,
            unused: 0,
        };
        let blocks_len = self.shapes.rows.div_ceil(BLOCK as u32);
        let fold = params::MattesFold {
            rows: self.rows.view(),
            blocks: self.blocks.view_mut(),
            done: self.done.view_mut(),
            results: self.results.view_mut(),
            height: self.images.fixed_size[1],
            rows_len: self.shapes.rows,
            blocks_len,
            result: DERIVATIVE as u32,
        };
        let sum = match self.windows {
            Windows::Moving => MATTES_SLOPE,
            Windows::Both => MATTES_SLOPE_BOTH,
        };
        let shape =
            Shape { grid: [blocks_len.div_ceil(BLOCKS_PER_FOLD), 1, 1], block: [FOLD_THREADS, 1, 1], shared_bytes: 0 };
        // SAFETY: as above.
        unsafe {
            queue.launch(&sum, self.shapes.slope, slope)?;
            queue.launch(&MATTES_FOLD, shape, fold)
        }
    }

    /// Waits for the first `len` values that were queued, and returns them.
    pub fn wait(&self, queue: &Q, len: usize) -> Result<Vec<Smooth>> {
        let smooth = |n: &[f64]| Smooth { mi: n[0], overlap: n[1] as u64 / u64::from(UNIT) };
        Ok(self.results.wait(queue, 0..RESULTS * len)?.chunks_exact(RESULTS).map(smooth).collect())
    }

    /// Waits for the derivative that was queued, and returns it with the first value.
    pub fn wait_for_derivative(&self, queue: &Q) -> Result<SmoothSlope> {
        let numbers = self.results.wait(queue, DERIVATIVE..DERIVATIVE + COEFFICIENTS)?;
        let at = self.wait(queue, 1)?[0];
        // Avoids a division by 0. Without samples every sum is 0.
        let samples = at.overlap.max(1) as f64;
        let number = |row: usize, column: usize| numbers[4 * row + column] / samples;
        Ok(SmoothSlope { at, by_map: [0, 1, 2].map(|row| [0, 1, 2, 3].map(|column| number(row, column))) })
    }
}
