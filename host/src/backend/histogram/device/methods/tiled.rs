//! `tiled`: the bricks and cells of a pair, and the launches over them.

use crate::Result;
use crate::backend::histogram::Pair;
use crate::backend::histogram::device::counter::{Counter, UploadedPair, cannot, write};
use crate::backend::image::device::Images;
use crate::backend::queue::{BATCH, Kernel, Memory, Queue, Shape, kernels};
use cuda_std::global::DeviceSliceMut;
use gpu::kernels::histogram::tiled::brick::{CELL, GROUP, SIZE};
use gpu::kernels::histogram::tiled::{self, brick};
use gpu::math::bin;
use gpu::math::interpolate::Interpolator;
use gpu::params::{self, Affine};

kernels! {
    LAY_BRICKS = brick::lay_bricks(params::Tiled);
    FIND_CELLS = brick::find_cells(params::Tiled);
    WIDEN_CELLS = brick::widen_cells(params::Tiled);
    TILED_NEAREST = tiled::tiled_nearest(params::Tiled);
    TILED_LINEAR = tiled::tiled_linear(params::Tiled);
    TILED_CUBIC = tiled::tiled_cubic(params::Tiled);
    TILED_NEAREST_HALVES = tiled::tiled_nearest_halves(params::Tiled);
    TILED_LINEAR_HALVES = tiled::tiled_linear_halves(params::Tiled);
    TILED_CUBIC_HALVES = tiled::tiled_cubic_halves(params::Tiled);
}

/// What the lengths of rows of counters leave when divided by the banks of shared memory: neighbouring pairs, which occur together, then
/// lie in different banks.
const SPREAD: u32 = 11;

/// Threads of a block that prepares.
const PREPARING: u32 = 128;

/// A pair in bricks.
pub struct Tiled<Q: Queue> {
    images: UploadedPair<Q>,
    transforms: Q::Pinned<f32>,
    bricks: Q::Memory<[u32; 4]>,
    bins: Q::Memory<u32>,
    masks: Q::Memory<[u32; 4]>,
    cells: Q::Memory<u16>,
    wide_cells: Q::Memory<u16>,
    groups: [u32; 3],
    cells_size: [u32; 3],
    kernel: Kernel<params::Tiled>,
    counters: PackedCounters,
    /// Threads of a block.
    threads: u32,
    /// Blocks that run at the same time.
    resident: u32,
}

/// The counters of a block.
#[derive(Debug, Clone, Copy, PartialEq)]
struct PackedCounters {
    stride: u32,
    words: u32,
    /// Two counters a word.
    halves: bool,
}

impl PackedCounters {
    /// Whole words where they fit into `most`, else halves, with rows as long as fit.
    fn new([fixed, moving]: [u32; 2], most: u32) -> Option<Self> {
        let spread = fixed + (SPREAD + 32 - fixed % 32) % 32;
        let rows = [(spread, false), (fixed | 1, false), (fixed, false), (spread, true), (fixed, true)];
        let counters = rows.map(|(stride, halves)| {
            let rows = if halves { moving.div_ceil(2) } else { moving };
            Self { stride, words: stride * rows, halves }
        });
        counters.into_iter().find(|counters| counters.words <= most)
    }
}

impl<Q: Queue> Tiled<Q> {
    pub fn new(images: &Images<Q>, pair: &Pair) -> Result<Self> {
        let queue = images.queue;
        if pair.bins.into_iter().any(bin::fine) {
            return Err(cannot("tiled", "takes at most 256 bins per side"));
        }
        if !can_be_numbered(pair) {
            return Err(cannot("tiled", "cannot count a fixed image so large and so thin"));
        }
        let [whole, halves] = kernels(pair.interpolator);
        let counters = counters(queue, pair)
            .ok_or_else(|| cannot("tiled", "needs more shared memory for so many bins than this device has"))?;
        let kernel = if counters.halves { halves } else { whole };
        let (groups, cells_size) = (groups(pair), cells(pair));
        let bricks = 32 * groups.iter().product::<u32>() as usize;
        let cells = cells_size.iter().product::<u32>().max(1) as usize;
        let threads = queue.limits().threads;
        let mut tiled = Self {
            images: UploadedPair::new(images, pair)?,
            transforms: queue.pinned(12 * BATCH)?,
            bricks: queue.zeros(bricks)?,
            bins: queue.zeros(32 * bricks)?,
            masks: queue.zeros(bricks)?,
            cells: queue.zeros(cells)?,
            wide_cells: queue.zeros(cells)?,
            groups,
            cells_size,
            kernel,
            counters,
            threads,
            resident: queue.resident(&kernel, threads, 4 * counters.words)?,
        };
        tiled.prepare(queue)?;
        Ok(tiled)
    }

    /// Makes bricks and cells.
    fn prepare(&mut self, queue: &Q) -> Result<()> {
        let unused = self.bins.view_mut();
        let params = self.params(&Affine { rows: [[0.0; 4]; 3] }, unused);
        let shape = |threads: u64| {
            let blocks = threads.div_ceil(u64::from(PREPARING)) as u32;
            Shape { grid: [blocks, 1, 1], block: [PREPARING, 1, 1], shared_bytes: 0 }
        };
        let bricks = 32 * self.groups.iter().map(|&n| u64::from(n)).product::<u64>();
        let cells = self.cells_size.iter().map(|&n| u64::from(n)).product();
        // SAFETY: the memory is as long as the sizes say and lives as long as the queue is used.
        unsafe {
            queue.launch(&LAY_BRICKS, shape(32 * bricks), params)?;
            if cells > 0 {
                queue.launch(&FIND_CELLS, shape(cells), params)?;
                queue.launch(&WIDEN_CELLS, shape(cells), params)?;
            }
        }
        Ok(())
    }

    fn params(&mut self, transform: &Affine, counters: DeviceSliceMut<u32>) -> params::Tiled {
        params::Tiled {
            images: self.images.params(transform),
            transforms: self.transforms.view(),
            bricks: self.bricks.view_mut(),
            bins: self.bins.view_mut(),
            masks: self.masks.view_mut(),
            cells: self.cells.view_mut(),
            wide_cells: self.wide_cells.view_mut(),
            counters,
            groups: self.groups,
            cells_size: self.cells_size,
            stride: self.counters.stride,
            words: self.counters.words,
        }
    }
}

impl<Q: Queue> Counter<Q> for Tiled<Q> {
    fn count(&mut self, queue: &Q, transforms: &[Affine], counters: &mut Q::Memory<u32>) -> Result<()> {
        write(&mut self.transforms, transforms);
        let params = self.params(&transforms[0], counters.view_mut());
        let batch = transforms.len() as u32;
        let groups = self.groups.iter().product();
        let blocks = (self.resident / batch).clamp(1, groups);
        let shape =
            Shape { grid: [blocks, batch, 1], block: [self.threads, 1, 1], shared_bytes: 4 * self.counters.words };
        // SAFETY: the memory is as long as the sizes say and lives until the queue is done.
        unsafe { queue.launch(&self.kernel, shape, params) }
    }
}

/// Voxels of a fixed image from which on this method is faster than `shared-atomic`, whose blocks start sooner.
const WORTH_IT: usize = 1 << 20;

/// Whether this method can count the pair and is the fastest: with cubic interpolation, where no bricks are skipped, it is not.
pub fn is_best<Q: Queue>(queue: &Q, pair: &Pair) -> bool {
    let known = matches!(pair.interpolator, Interpolator::Nearest | Interpolator::Linear)
        && !pair.bins.into_iter().any(bin::fine);
    known && pair.fixed.voxels() >= WORTH_IT && can_be_numbered(pair) && counters(queue, pair).is_some()
}

fn counters<Q: Queue>(queue: &Q, pair: &Pair) -> Option<PackedCounters> {
    let [whole, halves] = kernels(pair.interpolator);
    PackedCounters::new(pair.bins, queue.shared_bytes(&whole).min(queue.shared_bytes(&halves)) / 4)
}

/// The kernels that count in words and in halves.
fn kernels(how: Interpolator) -> [Kernel<params::Tiled>; 2] {
    match how {
        Interpolator::Nearest => [TILED_NEAREST, TILED_NEAREST_HALVES],
        Interpolator::Linear => [TILED_LINEAR, TILED_LINEAR_HALVES],
        // Partial volumes are refused before.
        _ => [TILED_CUBIC, TILED_CUBIC_HALVES],
    }
}

/// Whether lanes of bricks can be numbered in 32 bits: bricks round the size of an image up.
fn can_be_numbered(pair: &Pair) -> bool {
    groups(pair).into_iter().map(u64::from).product::<u64>() < 1 << 22
}

/// Groups of bricks along x, y and z.
fn groups(pair: &Pair) -> [u32; 3] {
    [0, 1, 2].map(|axis| (pair.fixed.size()[axis] as u32).div_ceil(SIZE[axis] * GROUP[axis]))
}

/// Cells along x, y and z. What a cubic interpolator makes of a cell may lie beyond its levels.
fn cells(pair: &Pair) -> [u32; 3] {
    if pair.interpolator.is_cubic() { [0; 3] } else { pair.moving.size().map(|n| (n as u32).div_ceil(CELL)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_words_while_they_fit() {
        // An H200's 227 KB, less the list of bricks.
        let counters = |bins: u32| PackedCounters::new([bins; 2], 57_000).unwrap();
        for bins in [2, 50, 64, 100, 128, 200] {
            let PackedCounters { stride, words, halves } = counters(bins);
            assert!(!halves && stride >= bins && stride % 32 == SPREAD && words == stride * bins);
        }
        let PackedCounters { stride, words, halves } = counters(256);
        assert!(halves && stride == 267 && 2 * words >= stride * 256);
        assert_eq!(PackedCounters::new([256; 2], 30_000), None);
    }
}
