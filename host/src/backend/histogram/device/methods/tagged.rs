//! Launches `warp-tagged`, `warp-tagged-direct`, `mbe`, `mbe-bc` and `mbe-stl`: decides which kernels count which
//! ranges of the histogram.

use crate::Result;
use crate::backend::histogram::Pair;
use crate::backend::histogram::device::counter::{Counter, UploadedPair, cannot};
use crate::backend::image::device::Images;
use crate::backend::queue::{Element, Kernel, Memory, Queue, Shape, kernels};
use gpu::kernels::WARP;
use gpu::kernels::histogram::tagged::VOXELS;
use gpu::kernels::histogram::{mbe, warp_tagged};
use gpu::params::{self, Affine};

kernels! {
    COMBINE = warp_tagged::combine(params::Tagged<[u32; 2]>);
    TAGGED_COMBINED = warp_tagged::tagged_combined(params::Tagged<[u32; 2]>);
    TAGGED_DIRECT = warp_tagged::tagged_direct(params::Tagged<u32>);
    MBE_COMBINED = mbe::mbe_combined(params::Tagged<[u32; 2]>);
    MBE_FIRST = mbe::mbe_first(params::Tagged<u32>);
    MBE_CACHED = mbe::mbe_cached(params::Tagged<u32>);
    MBE_STL = mbe::mbe_stl(params::Tagged<u32>);
}

/// Warps per block, as in Ledig's comparison II.
const WARPS: u32 = 4;

/// The most shared memory per block for the partial histograms of its warps, in bytes. Every GPU has that much, and
/// newer ones have it for several blocks at a time.
const SHARED_BYTES: u32 = 48 << 10;

/// Pairs of bins that can be numbered by 16 bits.
const NUMBERS: u32 = 1 << 16;

/// A pair of images and the launches that count it. Launches store elements of type `T` for later launches, one for two
/// voxels.
pub struct Tagged<Q: Queue, T: Element> {
    images: UploadedPair<Q>,
    stored: Q::Memory<T>,
    steps: Vec<Step<T>>,
}

/// A launch over the `range` pairs of bins from `first` on.
struct Step<T> {
    kernel: Kernel<params::Tagged<T>>,
    shape: Shape,
    first: u32,
    range: u32,
}

/// The differences between the methods.
struct Method<T> {
    /// The kernel that runs before counting.
    prepare: Option<Kernel<params::Tagged<T>>>,
    /// The kernel that counts the first range.
    first: Kernel<params::Tagged<T>>,
    /// The kernel that counts the other ranges.
    later: Kernel<params::Tagged<T>>,
    /// Counters per word of shared memory.
    packed: u32,
    /// Every range is a multiple of this many pairs of bins.
    unit: u32,
    /// Whether launches store anything for later launches.
    stores: bool,
}

/// `warp-tagged` with one counter per word, `mbe` with two.
pub fn combined<Q: Queue>(images: &Images<Q>, pair: &Pair, packed: u32) -> Result<Tagged<Q, [u32; 2]>> {
    let count = if packed == 1 { TAGGED_COMBINED } else { MBE_COMBINED };
    let method = Method { prepare: Some(COMBINE), first: count, later: count, packed, unit: 1, stores: true };
    Tagged::new(images, pair, &method)
}

/// `warp-tagged-direct`.
pub fn direct<Q: Queue>(images: &Images<Q>, pair: &Pair) -> Result<Tagged<Q, u32>> {
    let (first, later) = (TAGGED_DIRECT, TAGGED_DIRECT);
    Tagged::new(images, pair, &Method { prepare: None, first, later, packed: 1, unit: 1, stores: false })
}

/// `mbe-bc`.
pub fn cached<Q: Queue>(images: &Images<Q>, pair: &Pair) -> Result<Tagged<Q, u32>> {
    if pair.bins[0] * pair.bins[1] > NUMBERS {
        return Err(cannot("mbe-bc", "takes at most 256 x 256 bins"));
    }
    let (first, later) = (MBE_FIRST, MBE_CACHED);
    Tagged::new(images, pair, &Method { prepare: None, first, later, packed: 2, unit: 1, stores: true })
}

/// `mbe-stl`: ranges of whole fixed bins.
pub fn stl<Q: Queue>(images: &Images<Q>, pair: &Pair) -> Result<Tagged<Q, u32>> {
    let (first, later, unit) = (MBE_STL, MBE_STL, pair.bins[1]);
    Tagged::new(images, pair, &Method { prepare: None, first, later, packed: 2, unit, stores: false })
}

impl<Q: Queue, T: Element> Tagged<Q, T> {
    fn new(images: &Images<Q>, pair: &Pair, method: &Method<T>) -> Result<Self> {
        let queue = images.queue;
        let words = pair.fixed.size().iter().product::<usize>().div_ceil(VOXELS as usize);
        let step = |kernel: Kernel<_>, (first, range): (u32, u32)| -> Result<Step<T>> {
            let shared_bytes = 4 * WARPS * range.div_ceil(method.packed);
            let resident = queue.resident(&kernel, WARPS * WARP, shared_bytes)?;
            let blocks = resident.min((words as u32).div_ceil(WARPS * WARP));
            let shape = Shape { grid: [blocks, 1, 1], block: [WARPS * WARP, 1, 1], shared_bytes };
            Ok(Step { kernel, shape, first, range })
        };
        let shared = [&method.first, &method.later].map(|kernel| queue.shared_bytes(kernel).min(SHARED_BYTES));
        let most = shared[0].min(shared[1]) / (4 * WARPS) * method.packed;
        let mut steps = Vec::new();
        if let Some(kernel) = method.prepare {
            steps.push(step(kernel, (0, 0))?);
        }
        for range in ranges(pair.bins[0] * pair.bins[1], method.unit, most) {
            steps.push(step(if range.0 == 0 { method.first } else { method.later }, range)?);
        }
        let stored = queue.zeros(if method.stores { words } else { 1 })?;
        Ok(Self { images: UploadedPair::new(images, pair)?, stored, steps })
    }
}

/// Divides the pairs of bins into ranges, each given by its first pair and its length. A range has at most `most` pairs
/// and is a multiple of `unit`. There are as few as possible, of about equal length.
fn ranges(pairs: u32, unit: u32, most: u32) -> impl Iterator<Item = (u32, u32)> {
    let units = pairs / unit;
    let launches = units.div_ceil(most / unit);
    let range = unit * units.div_ceil(launches);
    (0..pairs).step_by(range as usize).map(move |first| (first, range.min(pairs - first)))
}

impl<Q: Queue, T: Element> Counter<Q> for Tagged<Q, T> {
    fn count(&mut self, queue: &Q, transforms: &[Affine], counters: &mut Q::Memory<u32>) -> Result<()> {
        let [fixed_bins, moving_bins] = self.images.params.bins;
        for (i, transform) in transforms.iter().enumerate() {
            for step in &self.steps {
                let params = params::Tagged {
                    images: self.images.params(transform),
                    stored: self.stored.view_mut(),
                    counters: counters.view_mut(),
                    histogram: i as u32 * fixed_bins * moving_bins,
                    first: step.first,
                    range: step.range,
                    unused: 0,
                };
                // SAFETY: the memory is as long as the sizes say and lives until the queue is done.
                unsafe { queue.launch(&step.kernel, step.shape, params)? };
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_the_histogram_in_whole_units() {
        for (pairs, unit) in [(4, 1), (6144, 1), (6145, 1), (256 * 256, 1), (1024 * 1024, 1024), (600, 200)] {
            let ranges: Vec<_> = ranges(pairs, unit, 6144).collect();
            assert_eq!(ranges.len() as u32, (pairs / unit).div_ceil(6144 / unit));
            let mut next = 0;
            for (first, range) in ranges {
                assert!(first == next && range <= 6144 && range % unit == 0);
                next += range;
            }
            assert_eq!(next, pairs);
        }
    }
}
