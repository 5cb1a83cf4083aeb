//! Launches `shared-atomic`: divides the volume into tiles and the histogram into ranges of counters.

use crate::Result;
use crate::backend::histogram::Pair;
use crate::backend::histogram::device::counter::{Counter, UploadedPair, write};
use crate::backend::histogram::device::tiles::tiles;
use crate::backend::image::device::Images;
use crate::backend::queue::{BATCH, Kernel, Memory, Queue, Shape, kernels};
use gpu::kernels::WARP;
use gpu::kernels::histogram::shared_atomic;
use gpu::math::interpolate::Interpolator;
use gpu::params::{self, Affine};

kernels! {
    SHARED_ATOMIC_NEAREST = shared_atomic::joint_histogram_nearest(params::Histogram);
    SHARED_ATOMIC_LINEAR = shared_atomic::joint_histogram_linear(params::Histogram);
    SHARED_ATOMIC_FINE = shared_atomic::joint_histogram_fine(params::Histogram);
    SHARED_ATOMIC_CUBIC = shared_atomic::joint_histogram_cubic(params::Histogram);
    SHARED_ATOMIC_PARTIAL_VOLUME = shared_atomic::joint_histogram_partial_volume(params::Histogram);
}

/// A pair of images and the launches that count it.
pub struct SharedAtomic<Q: Queue> {
    images: UploadedPair<Q>,
    transforms: Q::Pinned<f32>,
    kernel: Kernel<params::Histogram>,
    cuts: Cuts,
}

/// How volume and histogram are divided among blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Cuts {
    /// Warps per block.
    rows: u32,
    /// Counters per block.
    range: u32,
    /// The number of ranges, which is the z of the launch grid.
    passes: u32,
    /// Planes per tile.
    depth: u32,
    /// Tiles of the fixed image.
    tiles: u32,
    /// Blocks that run at the same time.
    resident: u32,
}

impl Cuts {
    fn new(size: [u32; 3], pairs: u32, words: u32, rows: u32, resident: u32) -> Self {
        let passes = pairs.div_ceil(words);
        let (depth, tiles) = tiles(size, [WARP, rows], resident);
        Self { rows, range: pairs.div_ceil(passes), passes, depth, tiles, resident }
    }

    /// The launch shape for a batch of transforms. There are as many blocks as run at the same time, distributed over
    /// the batch and the ranges, or several times as many if they cannot be distributed evenly.
    fn shape(&self, batch: u32) -> Shape {
        let parts = batch * self.passes;
        let share =
            if 2 * parts <= self.resident { self.resident / parts } else { (4 * self.resident).div_ceil(parts) };
        let blocks = share.clamp(1, self.tiles);
        Shape { grid: [blocks, batch, self.passes], block: [WARP, self.rows, 1], shared_bytes: 4 * self.range }
    }
}

/// Whether a block's shared memory holds all counters for cubic interpolation, so that each sample is interpolated only
/// once.
pub fn holds_cubic<Q: Queue>(queue: &Q, pair: &Pair) -> bool {
    4 * u64::from(pair.bins[0]) * u64::from(pair.bins[1]) <= u64::from(queue.shared_bytes(&SHARED_ATOMIC_CUBIC))
}

impl<Q: Queue> SharedAtomic<Q> {
    pub fn new(images: &Images<Q>, pair: &Pair) -> Result<Self> {
        let queue = images.queue;
        let kernel = match (pair.interpolator, pair.fine()) {
            (Interpolator::CatmullRom | Interpolator::BSpline, _) => SHARED_ATOMIC_CUBIC,
            (Interpolator::PartialVolume, _) => SHARED_ATOMIC_PARTIAL_VOLUME,
            (_, true) => SHARED_ATOMIC_FINE,
            (Interpolator::Nearest, false) => SHARED_ATOMIC_NEAREST,
            (Interpolator::Linear, false) => SHARED_ATOMIC_LINEAR,
        };
        let threads = queue.limits().threads;
        let (pairs, words) = (pair.bins[0] * pair.bins[1], queue.shared_bytes(&kernel) / 4);
        let resident = queue.resident(&kernel, threads, 4 * pairs.min(words))?;
        let cuts = Cuts::new(pair.fixed.size().map(|n| n as u32), pairs, words, threads / WARP, resident);
        Ok(Self { images: UploadedPair::new(images, pair)?, transforms: queue.pinned(12 * BATCH)?, kernel, cuts })
    }
}

impl<Q: Queue> Counter<Q> for SharedAtomic<Q> {
    fn count(&mut self, queue: &Q, transforms: &[Affine], counters: &mut Q::Memory<u32>) -> Result<()> {
        write(&mut self.transforms, transforms);
        let params = params::Histogram {
            images: self.images.params(&transforms[0]),
            transforms: self.transforms.view(),
            counters: counters.view_mut(),
            range: self.cuts.range,
            depth: self.cuts.depth,
        };
        // SAFETY: the memory is as long as the sizes say and lives until the queue is done.
        unsafe { queue.launch(&self.kernel, self.cuts.shape(transforms.len() as u32), params) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_that_do_not_fit_are_counted_in_ranges() {
        for bins in [2, 50, 110, 111, 256, 1024] {
            let cuts = Cuts::new([256; 3], bins * bins, 12_288, 32, 72);
            assert!(cuts.range <= 12_288 && cuts.range * cuts.passes >= bins * bins);
            assert!(cuts.passes == 1 || cuts.range * (cuts.passes - 1) < bins * bins);
        }
    }
}
