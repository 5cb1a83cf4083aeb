//! Parameters of the joint histograms and of what follows from their counts.
//!
//! A joint histogram has `fixed_bins * moving_bins` counters, the fixed bin fastest.

use super::Images;
use cuda_std::global::{DeviceSlice, DeviceSliceMut};

/// Parameters of [`joint_histogram_linear`](crate::kernels::histogram::shared_atomic::joint_histogram_linear) and its siblings.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Histogram {
    /// The images. Their transform is used if the launch has a single transform.
    pub images: Images,
    /// Twelve coefficients per transform, row by row, for a launch with several transforms. They may be in page-locked
    /// host memory, since each thread block reads its own once.
    pub transforms: DeviceSlice<f32>,
    /// One joint histogram per transform, to which the kernel adds.
    pub counters: DeviceSliceMut<u32>,
    /// Counters in the shared memory of a thread block. Blocks at z of the grid count the pairs from `z * range` on.
    pub range: u32,
    /// Planes (along z) of a tile.
    pub depth: u32,
}

/// Parameters of the kernels of [`tiled`](crate::kernels::histogram::tiled).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Tiled {
    /// The images. Their transform is used if the launch has a single transform. The counting kernels read the bricks
    /// in place of the fixed image, and [`strips`](Self::strips) as the moving image.
    pub images: Images,
    /// Twelve coefficients per transform, as in [`Histogram`].
    pub transforms: DeviceSlice<f32>,
    /// Per brick: the x, y and z of its first voxel, and [flags and a bin](crate::kernels::histogram::tiled::brick).
    pub bricks: DeviceSliceMut<[u32; 4]>,
    /// One word per lane of a brick: the bins of the lane's four voxels, lowest z in the lowest byte.
    pub bins: DeviceSliceMut<u32>,
    /// One word per plane of a brick, with a bit set for each lane whose voxel counts.
    pub masks: DeviceSliceMut<[u32; 4]>,
    /// Per group of bricks, the number of bricks that are neither empty nor entirely in one fixed bin.
    pub loads: DeviceSliceMut<u32>,
    /// The numbers of the groups of bricks, in the order in which the warps take them.
    pub order: DeviceSliceMut<u32>,
    /// The moving image's words in [strips](crate::math::strips), followed by one more plane. Empty if the interpolator
    /// is cubic.
    pub strips: DeviceSliceMut<u32>,
    /// For each cell of the moving image, its lowest level in the low byte and its highest in the high byte.
    pub cells: DeviceSliceMut<u16>,
    /// The same for each cell together with its neighbours.
    pub wide_cells: DeviceSliceMut<u16>,
    /// One joint histogram per transform, to which the kernel adds.
    pub counters: DeviceSliceMut<u32>,
    /// Groups of bricks along x, y and z.
    pub groups: [u32; 3],
    /// Cells along x, y and z; 0 if there are none.
    pub cells_size: [u32; 3],
    /// Counters in shared memory from one moving bin to the next, with padding against bank conflicts.
    pub stride: u32,
    /// Words of counters in shared memory.
    pub words: u32,
    /// The factor of [`bin::of`](crate::math::bin::of) for the moving image's values.
    pub scale: f32,
    /// Makes the size a multiple of 8 without padding bytes.
    pub unused: u32,
}

/// Parameters of [`sort_count`](crate::kernels::histogram::sort_count::sort_count) and its siblings.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SortCount {
    /// The images and their transform.
    pub images: Images,
    /// One joint histogram per block, to which the block adds.
    pub partials: DeviceSliceMut<u32>,
}

/// Parameters of [`histogram_per_thread`](crate::kernels::histogram::per_thread::histogram_per_thread).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct PerThread {
    /// The images and their transform.
    pub images: Images,
    /// One joint histogram per thread, to which the thread adds.
    pub partials: DeviceSliceMut<u32>,
    /// Words of packed counters per thread, enough for all pairs; 0 to count without them.
    pub words: u32,
    /// log2 of the counters in a word: 1 to 5.
    pub log2_per_word: u32,
}

/// Parameters of [`add_partials`](crate::kernels::histogram::partials::add_partials).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Partials {
    /// `partials_len` joint histograms, one after the other; the kernel leaves them at 0.
    pub partials: DeviceSliceMut<u32>,
    /// The joint histogram, from `first` on, to which the kernel adds.
    pub counters: DeviceSliceMut<u32>,
    /// Counters of a joint histogram.
    pub pairs: u32,
    /// Partial histograms.
    pub partials_len: u32,
    /// Index of the joint histogram's first counter.
    pub first: u32,
    /// Makes the size a multiple of 8 without padding bytes.
    pub unused: u32,
}

/// Parameters of a launch that counts a range of the joint histogram with warp-tagged counters: see
/// [`tagged`](crate::kernels::histogram::tagged).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Tagged<T> {
    /// The images and their transform.
    pub images: Images,
    /// What the first launch stores for later ones, one element for two voxels: the combined image, or the joint
    /// indices in 16 bits. Empty for methods that sample the moving image in every launch.
    pub stored: DeviceSliceMut<T>,
    /// One joint histogram per transform, to which the kernel adds.
    pub counters: DeviceSliceMut<u32>,
    /// Index of the first counter of this transform's joint histogram.
    pub histogram: u32,
    /// The first pair of bins that the launch counts.
    pub first: u32,
    /// Pairs of bins that the launch counts, all of them in the histogram.
    pub range: u32,
    /// Makes the size a multiple of 8 without padding bytes.
    pub unused: u32,
}

/// Parameters of [`count_copies`](crate::kernels::histogram::global_copies::count_copies) and its sibling.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct GlobalCopies {
    /// The images and their transform.
    pub images: Images,
    /// `copies_len` joint histograms, one after the other, to which the kernel adds.
    pub copies: DeviceSliceMut<u32>,
    /// The marginal histogram of the fixed image, then that of the moving image.
    /// [`count_copies_and_marginals`](crate::kernels::histogram::global_copies::count_copies_and_marginals) adds to
    /// both.
    pub marginals: DeviceSliceMut<u32>,
    /// Copies of the joint histogram, at least 1.
    pub copies_len: u32,
    /// Makes the size a multiple of 8 without padding bytes.
    pub unused: u32,
}

/// Parameters of [`project`](crate::kernels::histogram::global_copies::project).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Projection {
    /// A joint histogram, from `first` on.
    pub counters: DeviceSlice<u32>,
    /// The marginal histogram of the fixed image, then that of the moving image; written.
    pub marginals: DeviceSliceMut<u32>,
    /// Bins of the fixed and of the moving image.
    pub bins: [u32; 2],
    /// Index of the joint histogram's first counter.
    pub first: u32,
    /// Makes the size a multiple of 8 without padding bytes.
    pub unused: u32,
}

/// Parameters of [`byte_lanes_64`](crate::kernels::histogram::byte_lanes::byte_lanes_64) and its sibling.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ByteLanes {
    /// The images and their transform.
    pub images: Images,
    /// The joint histogram, from `first` on, to which the kernel adds.
    pub counters: DeviceSliceMut<u32>,
    /// The marginal histogram of the fixed image, then that of the moving image; the kernel adds to both.
    pub marginals: DeviceSliceMut<u32>,
    /// Index of the joint histogram's first counter.
    pub first: u32,
    /// Joint counters in the shared memory of a thread block. Blocks at z of the grid count the pairs from `z * range`
    /// on.
    pub range: u32,
}

/// Parameters of [`count_pairs`](crate::kernels::histogram::from_pairs::count_pairs) and its sibling.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FromPairs {
    /// Joint indices of 16 bits, eight per vector; in a word, the first of two is in the low half. `len / 8` vectors
    /// are full. One more vector always follows them and holds the remaining indices, if any.
    pub pairs: DeviceSlice<[u32; 4]>,
    /// One counter per joint index, to which the kernel adds.
    pub counters: DeviceSliceMut<u32>,
    /// Joint indices, fewer than 2^32 - 2^24.
    pub len: u32,
    /// The number of counters; a larger index is not counted.
    pub bins: u32,
    /// Counters in the shared memory of a thread block. Blocks at z of the grid count the indices from `z * range` on.
    pub range: u32,
    /// Makes the size a multiple of 8 without padding bytes.
    pub unused: u32,
}

/// Parameters of [`entropies`](crate::kernels::histogram::entropy::entropies).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Entropy {
    /// One joint histogram per transform; the kernel leaves it at 0.
    pub counters: DeviceSliceMut<u32>,
    /// Working space, `moving_bins` per transform: the sum of the terms of each moving bin.
    pub columns: DeviceSliceMut<f64>,
    /// Working space, `moving_bins` per transform: the counts of each moving bin.
    pub moving: DeviceSliceMut<u32>,
    /// Working space, `fixed_bins` per transform: the counts of each fixed bin; 0 before and after.
    pub fixed: DeviceSliceMut<u32>,
    /// Working space, `moving_bins` per transform: the sum of the fixed bin numbers that were counted with each moving bin.
    pub moving_sums: DeviceSliceMut<u64>,
    /// Working space, `fixed_bins` per transform: the sum of the moving bin numbers that were counted with each fixed bin; 0 before and
    /// after.
    pub fixed_sums: DeviceSliceMut<u64>,
    /// Working space, 1 per transform: the number of thread blocks that have finished; 0 before and after.
    pub done: DeviceSliceMut<u32>,
    /// [`RESULTS`](crate::kernels::histogram::entropy::RESULTS) numbers per transform: H(F), H(M), H(F, M) and MI in nats, NMI, the
    /// number of counts, and the correlation ratios of the moving image given the fixed one and of the fixed image given the moving one.
    pub results: DeviceSliceMut<f64>,
    /// Bins of the fixed and of the moving image, 1 to 1024 each.
    pub bins: [u32; 2],
    /// 1 to compute the correlation ratios. With 0, the results are 0, and the launch takes slightly less time.
    pub ratios: u32,
    /// Makes the size a multiple of 8 without padding bytes.
    pub unused: u32,
}

const _: () = assert!(size_of::<Histogram>() == 184);
const _: () = assert!(size_of::<Tiled>() == 344);
const _: () = assert!(size_of::<Tagged<u32>>() == 192 && size_of::<Tagged<[u32; 2]>>() == 192);
const _: () = assert!(size_of::<SortCount>() == 160);
const _: () = assert!(size_of::<PerThread>() == 168);
const _: () = assert!(size_of::<Partials>() == 48);
const _: () = assert!(size_of::<GlobalCopies>() == 184);
const _: () = assert!(size_of::<Projection>() == 48);
const _: () = assert!(size_of::<ByteLanes>() == 184);
const _: () = assert!(size_of::<FromPairs>() == 48);
const _: () = assert!(size_of::<Entropy>() == 144);
