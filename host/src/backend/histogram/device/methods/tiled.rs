//! Launches `tiled`: lays out the images in bricks, cells and strips, and counts over them.

use crate::Result;
use crate::backend::histogram::Pair;
use crate::backend::histogram::device::counter::{Counter, UploadedPair, cannot, write};
use crate::backend::image::device::Images;
use crate::backend::queue::{BATCH, Kernel, Memory, Queue, Shape, kernels};
use gpu::kernels::WARP;
use gpu::kernels::histogram::tiled::brick::{BRICKS, CELL, GROUP, SIZE};
use gpu::kernels::histogram::tiled::{self, brick, strips};
use gpu::math::interpolate::Interpolator;
use gpu::math::{bin, eight_bit, strips as layout};
use gpu::params::{self, Affine};
use std::cmp::Reverse;

kernels! {
    LAY_BRICKS = brick::lay_bricks(params::Tiled);
    FIND_CELLS = brick::find_cells(params::Tiled);
    WIDEN_CELLS = brick::widen_cells(params::Tiled);
    LAY_STRIPS = strips::lay_strips(params::Tiled);
    TILED_NEAREST = tiled::tiled_nearest(params::Tiled);
    TILED_LINEAR = tiled::tiled_linear(params::Tiled);
    TILED_CUBIC = tiled::tiled_cubic(params::Tiled);
    TILED_NEAREST_HALVES = tiled::tiled_nearest_halves(params::Tiled);
    TILED_LINEAR_HALVES = tiled::tiled_linear_halves(params::Tiled);
    TILED_CUBIC_HALVES = tiled::tiled_cubic_halves(params::Tiled);
}

/// The remainder of the length of a row of counters when divided by the 32 banks of shared memory. With this value,
/// neighbouring pairs of bins, which often occur together, lie in different banks.
const SPREAD: u32 = 11;

/// Threads per block of the kernels that lay out the images.
const PREPARING: u32 = 128;

/// A pair of images, laid out in bricks and strips.
pub struct Tiled<Q: Queue> {
    /// Kernel parameters, without transforms and counters.
    params: params::Tiled,
    transforms: Q::Pinned<f32>,
    /// The memory that `params` points to.
    _memory: Laid<Q>,
    kernel: Kernel<params::Tiled>,
    /// Threads per block.
    threads: u32,
    /// Blocks that run at the same time.
    resident: u32,
}

/// The memory of a pair that is laid out in bricks and strips.
struct Laid<Q: Queue> {
    bricks: Q::Memory<[u32; 4]>,
    bins: Q::Memory<u32>,
    masks: Q::Memory<[u32; 4]>,
    order: Q::Memory<u32>,
    strips: Q::Memory<u32>,
    wide_cells: Q::Memory<u16>,
    cubic: Q::Memory<f32>,
}

/// The layout of a block's counters in shared memory.
#[derive(Debug, Clone, Copy, PartialEq)]
struct PackedCounters {
    stride: u32,
    words: u32,
    /// Whether a word holds two counters.
    halves: bool,
}

impl PackedCounters {
    /// Chooses one counter per word if that fits into `most` words, else two. Rows are padded to [`SPREAD`] if that
    /// fits too.
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
        let threads = queue.limits().threads;
        let (params, memory) = lay(images, pair, counters)?;
        Ok(Self {
            params,
            transforms: queue.pinned(12 * BATCH)?,
            _memory: memory,
            kernel,
            threads,
            resident: queue.resident(&kernel, threads, 4 * counters.words)?,
        })
    }
}

/// Lays out a pair on the device, and frees the images that it was made from.
fn lay<Q: Queue>(images: &Images<Q>, pair: &Pair, counters: PackedCounters) -> Result<(params::Tiled, Laid<Q>)> {
    let queue = images.queue;
    let UploadedPair { memory: (fixed, moving, cubic), params: images } = UploadedPair::new(images, pair)?;
    let (groups, cells_size) = (groups(pair), cells(pair));
    let groups_len = groups.iter().product::<u32>() as usize;
    let cells_len = cells_size.iter().product::<u32>() as usize;
    let bricks_len = BRICKS as usize * groups_len;
    let strips_len = strips_len(pair);
    let (mut loads, mut cells) = (queue.zeros::<u32>(groups_len)?, queue.zeros::<u16>(cells_len.max(1))?);
    let mut laid = Laid::<Q> {
        bricks: queue.zeros(bricks_len)?,
        bins: queue.zeros(WARP as usize * bricks_len)?,
        masks: queue.zeros(bricks_len)?,
        order: queue.zeros(1)?,
        strips: queue.zeros(strips_len.max(1))?,
        wide_cells: queue.zeros(cells_len.max(1))?,
        cubic,
    };
    let unused = laid.strips.view_mut();
    let mut params = params::Tiled {
        images,
        transforms: laid.cubic.view(),
        bricks: laid.bricks.view_mut(),
        bins: laid.bins.view_mut(),
        masks: laid.masks.view_mut(),
        loads: loads.view_mut(),
        order: unused,
        strips: laid.strips.view_mut(),
        cells: cells.view_mut(),
        wide_cells: laid.wide_cells.view_mut(),
        counters: unused,
        groups,
        cells_size,
        stride: counters.stride,
        words: counters.words,
        scale: bin::scale(pair.bins[1], full(pair.interpolator)),
        unused: 0,
    };
    let launch = |kernel: &Kernel<params::Tiled>, threads: usize| {
        let blocks = threads.div_ceil(PREPARING as usize) as u32;
        let shape = Shape { grid: [blocks, 1, 1], block: [PREPARING, 1, 1], shared_bytes: 0 };
        // SAFETY: the memory is as long as the sizes say. Memory that is dropped below waits for the queue first.
        if threads > 0 { unsafe { queue.launch(kernel, shape, params) } } else { Ok(()) }
    };
    launch(&LAY_BRICKS, WARP as usize * bricks_len)?;
    launch(&FIND_CELLS, cells_len)?;
    launch(&WIDEN_CELLS, cells_len)?;
    launch(&LAY_STRIPS, strips_len)?;
    laid.order = queue.upload(&heaviest_first(&queue.download(&loads, groups_len)?))?;
    params.order = laid.order.view_mut();
    if strips_len > 0 {
        params.images.moving = laid.strips.view();
    }
    drop((fixed, moving));
    Ok((params, laid))
}

/// The order of the groups by their load, largest first. Neighbours in this order have similar loads and go to
/// different blocks, so all blocks get about the same work.
fn heaviest_first(loads: &[u32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..loads.len() as u32).collect();
    order.sort_by_key(|&group| Reverse(loads[group as usize]));
    order
}

impl<Q: Queue> Counter<Q> for Tiled<Q> {
    fn count(&mut self, queue: &Q, transforms: &[Affine], counters: &mut Q::Memory<u32>) -> Result<()> {
        write(&mut self.transforms, transforms);
        let images = params::Images { transform: transforms[0], ..self.params.images };
        let (transforms_view, counters) = (self.transforms.view(), counters.view_mut());
        let params = params::Tiled { images, transforms: transforms_view, counters, ..self.params };
        let batch = transforms.len() as u32;
        let blocks = (self.resident / batch).clamp(1, params.groups.iter().product());
        let shape = Shape { grid: [blocks, batch, 1], block: [self.threads, 1, 1], shared_bytes: 4 * params.words };
        // SAFETY: the memory is as long as the sizes say and lives until the queue is done.
        unsafe { queue.launch(&self.kernel, shape, params) }
    }
}

/// The number of voxels of the fixed image from which on this method is faster than `shared-atomic`, whose blocks start
/// sooner.
const WORTH_IT: usize = 1 << 20;

/// Whether this method can count the pair and is the fastest. With cubic interpolation it is not, because no bricks are
/// skipped.
pub fn is_best<Q: Queue>(queue: &Q, pair: &Pair) -> bool {
    let known = matches!(pair.interpolator, Interpolator::Nearest | Interpolator::Linear)
        && !pair.bins.into_iter().any(bin::fine);
    known && pair.fixed.voxels() >= WORTH_IT && can_be_numbered(pair) && counters(queue, pair).is_some()
}

fn counters<Q: Queue>(queue: &Q, pair: &Pair) -> Option<PackedCounters> {
    let [whole, halves] = kernels(pair.interpolator);
    PackedCounters::new(pair.bins, queue.shared_bytes(&whole).min(queue.shared_bytes(&halves)) / 4)
}

/// The kernels that count with one counter per word, and with two.
fn kernels(how: Interpolator) -> [Kernel<params::Tiled>; 2] {
    match how {
        Interpolator::Nearest => [TILED_NEAREST, TILED_NEAREST_HALVES],
        Interpolator::Linear => [TILED_LINEAR, TILED_LINEAR_HALVES],
        // `load` has refused partial volumes.
        _ => [TILED_CUBIC, TILED_CUBIC_HALVES],
    }
}

/// Whether 32 bits can number the lanes of all bricks and the words of all strips. Both round the size of an image up.
fn can_be_numbered(pair: &Pair) -> bool {
    groups(pair).into_iter().map(u64::from).product::<u64>() < 1 << 22 && strips_len(pair) < 1 << 32
}

/// Words of the moving image in strips, with one more plane; 0 for cubic interpolators, which don't use strips.
fn strips_len(pair: &Pair) -> usize {
    let [width, height, depth] = pair.moving.size();
    let plane = width.next_multiple_of(layout::WIDTH as usize) * height;
    if pair.interpolator.is_cubic() { 0 } else { plane * (depth + 1) }
}

/// The highest value that kernels interpolate in the moving image.
fn full(how: Interpolator) -> f32 {
    if how == Interpolator::Linear { eight_bit::FULL } else { bin::FULL }
}

/// Groups of bricks along x, y and z.
fn groups(pair: &Pair) -> [u32; 3] {
    [0, 1, 2].map(|axis| (pair.fixed.size()[axis] as u32).div_ceil(SIZE[axis] * GROUP[axis]))
}

/// Cells along x, y and z; none for cubic interpolators, whose values can lie outside the range of the levels in a
/// cell.
fn cells(pair: &Pair) -> [u32; 3] {
    if pair.interpolator.is_cubic() { [0; 3] } else { pair.moving.size().map(|n| (n as u32).div_ceil(CELL)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_words_while_they_fit() {
        // The words of an H200's 227 KB of shared memory, less the list of bricks.
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
