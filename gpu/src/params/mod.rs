//! Every struct that crosses the boundary to a kernel: `repr(C)`, by value, its size asserted.

use crate::math::recursive::Coefficients;
use cuda_std::global::{DeviceSlice, DeviceSliceMut};

/// A 3x4 matrix, row by row: voxel of the fixed image to position in the moving image.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Affine {
    /// Three rows of x, y, z and constant coefficient.
    pub rows: [[f32; 4]; 3],
}

/// A fixed image and a moving image, and the transform between them.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Images {
    /// A bin number a voxel of the fixed image; [`MASKED`](crate::math::bin::MASKED) where it is not to be counted.
    pub fixed: DeviceSlice<u16>,
    /// The moving image as [words](crate::math::linear::word) of 8-bit levels. Where it is `fine`: a 16-bit value in the low half of each
    /// word and its neighbour along x in the high half. A plane and a row more than the image has.
    pub moving: DeviceSlice<u32>,
    /// The moving image as a cubic interpolator samples it ([`crate::math::cubic`]); empty for others.
    pub cubic: DeviceSlice<f32>,
    pub transform: Affine,
    pub fixed_size: [u32; 3],
    pub moving_size: [u32; 3],
    /// Bins of the fixed and of the moving image.
    pub bins: [u32; 2],
    /// An [`Interpolator`](crate::math::interpolate::Interpolator) as a number.
    pub interpolator: u32,
    /// Not 0 where the moving image has 16-bit values.
    pub fine: u32,
    /// What a sample counts in all: 1, or the [`unit`](crate::math::partial_volume::unit) of its neighbours' weights.
    pub unit: u32,
    /// Keeps the size a multiple of 8 without hidden bytes.
    pub unused: u32,
}

/// What [`joint_histogram_linear`](crate::kernels::histogram::shared_atomic::joint_histogram_linear) and its sibling need.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Histogram {
    /// With the transform of a launch that has but one.
    pub images: Images,
    /// Twelve coefficients a transform, row by row, of a launch that has several. They may lie in page-locked host memory: each block
    /// reads its own once.
    pub transforms: DeviceSlice<f32>,
    /// A joint histogram a transform, to which is added.
    pub counters: DeviceSliceMut<u32>,
    /// Counters that a block keeps: block z counts the pairs from `z * range` on.
    pub range: u32,
    /// Planes of a tile.
    pub depth: u32,
}

/// What [`tiled`](crate::kernels::histogram::tiled)'s kernels need.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Tiled {
    /// With the transform of a launch that has but one. To count, the fixed image is not needed: the bricks are.
    pub images: Images,
    /// Twelve coefficients a transform, row by row, of a launch that has several; as in [`Histogram`].
    pub transforms: DeviceSlice<f32>,
    /// A brick's first voxel x, y and z, and what [`brick`](crate::kernels::histogram::tiled::brick) says of its bins.
    pub bricks: DeviceSliceMut<[u32; 4]>,
    /// A word a lane of a brick: the bins of its voxels, lowest z first.
    pub bins: DeviceSliceMut<u32>,
    /// A word a plane of a brick: a bit for each lane whose voxel is to be counted.
    pub masks: DeviceSliceMut<[u32; 4]>,
    /// The lowest and, in the high byte, the highest level in each cell of the moving image.
    pub cells: DeviceSliceMut<u16>,
    /// The same of each cell and its neighbours.
    pub wide_cells: DeviceSliceMut<u16>,
    /// A joint histogram a transform, to which is added.
    pub counters: DeviceSliceMut<u32>,
    /// Groups of bricks along x, y and z.
    pub groups: [u32; 3],
    /// Cells along x, y and z; 0 where bricks are not to be skipped.
    pub cells_size: [u32; 3],
    /// Counters from one moving bin to the next.
    pub stride: u32,
    /// Words of counters.
    pub words: u32,
}

/// What [`sort_count`](crate::kernels::histogram::sort_count) and its siblings need.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SortCount {
    pub images: Images,
    /// A joint histogram a block, to which is added.
    pub partials: DeviceSliceMut<u32>,
}

/// What [`histogram_per_thread`](crate::kernels::histogram::per_thread::histogram_per_thread) needs.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct PerThread {
    pub images: Images,
    /// A joint histogram a thread, to which is added.
    pub partials: DeviceSliceMut<u32>,
    /// Words of packed counters a thread, enough for all pairs; 0 to do without.
    pub words: u32,
    /// log2 of the counters in a word: 1 to 5.
    pub shift: u32,
}

/// What [`add_partials`](crate::kernels::histogram::partials::add_partials) needs.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Partials {
    /// `partials_len` joint histograms; left at 0.
    pub partials: DeviceSliceMut<u32>,
    /// A joint histogram from `first` on, to which is added.
    pub counters: DeviceSliceMut<u32>,
    /// Counters of a joint histogram.
    pub pairs: u32,
    pub partials_len: u32,
    pub first: u32,
    /// Keeps the size a multiple of 8 without hidden bytes.
    pub unused: u32,
}

/// What a launch over a range of the joint histogram needs, with warp-tagged counters: see
/// [`tagged`](crate::kernels::histogram::tagged).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Tagged<T> {
    pub images: Images,
    /// What a launch leaves for later ones, one element for two voxels: the combined image, or bin numbers. Unused where every launch samples.
    pub stored: DeviceSliceMut<T>,
    /// A joint histogram a transform, to which is added.
    pub counters: DeviceSliceMut<u32>,
    /// Where this transform's joint histogram begins.
    pub histogram: u32,
    /// The first pair of bins that the launch counts.
    pub first: u32,
    /// Pairs of bins that it counts, all of them in the histogram.
    pub range: u32,
    /// Keeps the size a multiple of 8 without hidden bytes.
    pub unused: u32,
}

/// What [`count_copies`](crate::kernels::histogram::global_copies::count_copies) and its sibling need.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct GlobalCopies {
    pub images: Images,
    /// `copies_len` joint histograms, to which is added.
    pub copies: DeviceSliceMut<u32>,
    /// The fixed and then the moving image's marginal histogram, to which is added by the kernel that counts them.
    pub marginals: DeviceSliceMut<u32>,
    pub copies_len: u32,
    /// Keeps the size a multiple of 8 without hidden bytes.
    pub unused: u32,
}

/// What [`project`](crate::kernels::histogram::global_copies::project) needs.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Projection {
    /// A joint histogram from `first` on.
    pub counters: DeviceSlice<u32>,
    /// The fixed and then the moving image's marginal histogram, which is written.
    pub marginals: DeviceSliceMut<u32>,
    /// Bins of the fixed and of the moving image.
    pub bins: [u32; 2],
    pub first: u32,
    /// Keeps the size a multiple of 8 without hidden bytes.
    pub unused: u32,
}

/// What [`byte_lanes_64`](crate::kernels::histogram::byte_lanes::byte_lanes_64) and its sibling need.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ByteLanes {
    pub images: Images,
    /// A joint histogram from `first` on, to which is added.
    pub counters: DeviceSliceMut<u32>,
    /// The fixed and then the moving image's marginal histogram, to which is added.
    pub marginals: DeviceSliceMut<u32>,
    pub first: u32,
    /// Joint counters that a block keeps: block z counts the pairs from `z * range` on.
    pub range: u32,
}

/// What [`count_pairs`](crate::kernels::histogram::from_pairs::count_pairs) and its sibling need.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FromPairs {
    /// Eight numbers a vector, the first of two in the low half of a word. `len / 8` vectors are full; the one after
    /// these holds what is left, if anything, and is always there.
    pub pairs: DeviceSlice<[u32; 4]>,
    /// A counter a number, to which is added.
    pub counters: DeviceSliceMut<u32>,
    /// Numbers, less than 2^32 - 2^24.
    pub len: u32,
    /// Counters; a number that has none is not counted.
    pub bins: u32,
    /// Counters that a block keeps: block z counts the numbers from `z * range` on.
    pub range: u32,
    /// Keeps the size a multiple of 8 without hidden bytes.
    pub unused: u32,
}

/// What [`entropies`](crate::kernels::entropy::entropies) needs.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Entropy {
    /// A joint histogram a transform; left at 0.
    pub counters: DeviceSliceMut<u32>,
    /// Working space, `moving_bins` a transform: the sum of each column's terms.
    pub columns: DeviceSliceMut<f64>,
    /// Working space, `moving_bins` a transform: each column's counts.
    pub moving: DeviceSliceMut<u32>,
    /// Working space, `fixed_bins` a transform: each row's counts; 0 before and after.
    pub fixed: DeviceSliceMut<u32>,
    /// Working space, `moving_bins` a transform: the sum of the fixed image's bin numbers in each column.
    pub moving_sums: DeviceSliceMut<u64>,
    /// Working space, `fixed_bins` a transform: the sum of the moving image's bin numbers in each row; 0 before and after.
    pub fixed_sums: DeviceSliceMut<u64>,
    /// Working space, 1 a transform: blocks that are done; 0 before and after.
    pub done: DeviceSliceMut<u32>,
    /// [`RESULTS`](crate::kernels::entropy::RESULTS) a transform: H(F), H(M), H(F, M), MI, NMI, counts, and the
    /// correlation ratios of the moving image given the fixed one and of the fixed image given the moving one.
    pub results: DeviceSliceMut<f64>,
    /// Bins of the fixed and of the moving image, 1 to 1024 each.
    pub bins: [u32; 2],
    /// 1 where the correlation ratios are wanted; with 0 they come out as 0, a little sooner.
    pub ratios: u32,
    /// Keeps the size a multiple of 8 without hidden bytes.
    pub unused: u32,
}

/// What [`mattes_histogram`](crate::kernels::mattes::histogram::mattes_histogram) and its sibling need.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct MattesHistogram {
    /// With a `fine` moving image. With windows on both sides the fixed image has stored values in place of bin numbers.
    pub images: Images,
    /// Counts of pairs of bins, the moving bin fastest, to which is added.
    pub counts: DeviceSliceMut<u64>,
    /// Fixed bins that a block counts: block z those from `z * range` on.
    pub range: u32,
    /// Copies of the range's counters in a block, a power of 2.
    pub copies: u32,
    /// Words of a copy.
    pub stride: u32,
    /// Planes of a tile.
    pub depth: u32,
    /// Tiles whose samples a block's counters can take.
    pub tiles: u32,
    /// Keeps the size a multiple of 8 without hidden bytes.
    pub unused: u32,
}

/// What [`mattes_marginals`](crate::kernels::mattes::value::mattes_marginals) and
/// [`mattes_value`](crate::kernels::mattes::value::mattes_value) need.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct MattesValue {
    /// Counts of pairs of bins, the moving bin fastest; left at 0.
    pub counts: DeviceSliceMut<u64>,
    /// Working space, `moving_bins`: counts of each moving bin; 0 before and after.
    pub moving: DeviceSliceMut<u64>,
    /// Working space, `fixed_bins`: counts of each fixed bin.
    pub fixed: DeviceSliceMut<u64>,
    /// Working space, `fixed_bins`: the sum of each fixed bin's terms.
    pub terms: DeviceSliceMut<f64>,
    /// Working space, 1: blocks that are done; 0 before and after.
    pub done: DeviceSliceMut<u32>,
    /// A [`quadratic`](crate::math::mattes::quadratic) for each fixed bin and each of the `moving_bins - 3` windows, the window
    /// fastest; written.
    pub table: DeviceSliceMut<f32>,
    /// The mutual information and the counts are written from `result` on.
    pub results: DeviceSliceMut<f64>,
    /// Bins of the fixed and of the moving image.
    pub bins: [u32; 2],
    pub result: u32,
    /// Keeps the size a multiple of 8 without hidden bytes.
    pub unused: u32,
}

/// What [`mattes_slope`](crate::kernels::mattes::slope::mattes_slope) and its sibling need.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct MattesSlope {
    /// As in [`MattesHistogram`].
    pub images: Images,
    /// As in [`MattesValue`].
    pub table: DeviceSlice<f32>,
    /// Six sums a row of the fixed image, those of [`RowSums`](crate::math::mattes::RowSums); written.
    pub rows: DeviceSliceMut<f32>,
    /// The length of the table if a block is to keep a copy of it, else 0.
    pub table_words: u32,
    /// Keeps the size a multiple of 8 without hidden bytes.
    pub unused: u32,
}

/// What [`mattes_fold`](crate::kernels::mattes::slope::mattes_fold) needs.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct MattesFold {
    /// As in [`MattesSlope`].
    pub rows: DeviceSlice<f32>,
    /// Working space, `blocks_len` for each number of a map.
    pub blocks: DeviceSliceMut<f64>,
    /// Working space, 1: blocks that are done; 0 before and after.
    pub done: DeviceSliceMut<u32>,
    /// The twelve sums are written from `result` on.
    pub results: DeviceSliceMut<f64>,
    /// Rows along y.
    pub height: u32,
    /// Rows of the fixed image.
    pub rows_len: u32,
    /// [`BLOCK`](crate::math::mattes::BLOCK)s of rows.
    pub blocks_len: u32,
    pub result: u32,
}

/// What the kernels of [`recursive`](crate::kernels::recursive) need.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Recursive {
    /// The samples of slabs, one slab after the other; filtered in place.
    pub planes: DeviceSliceMut<f32>,
    pub coefficients: Coefficients,
    /// Samples of a line.
    pub len: u32,
    /// Samples from one of a line to the next, and lines of a slab, which has fewer than 2^31 samples.
    pub stride: u32,
    pub slabs: u32,
    /// Keeps the size a multiple of 8 without hidden bytes.
    pub unused: u32,
}

/// What [`resample`](crate::kernels::resample::resample) needs.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Resample {
    /// The voxels or, for a cubic interpolator, the [`padded`](crate::math::cubic::padded) volume that it samples.
    pub moving: DeviceSlice<f32>,
    pub out: DeviceSliceMut<f32>,
    /// From voxels of the new grid to voxels of the moving image.
    pub affine: Affine,
    pub size: [u32; 3],
    /// Without padding.
    pub moving_size: [u32; 3],
    /// An [`Interpolator`](crate::math::interpolate::Interpolator) as a number.
    pub interpolator: u32,
    /// Keeps the size a multiple of 8 without hidden bytes.
    pub unused: u32,
}

/// What the kernels of [`viola`](crate::kernels::viola) need.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Viola {
    /// The moving image as pairs of 16-bit values, as in [`Images::moving`].
    pub moving: DeviceSlice<u32>,
    /// A slot's voxel of the fixed image: x in the low half of the first word and y in the high half, z in the second with
    /// [`EMPTY`](crate::kernels::viola::EMPTY) where there is none; the bits of its stored value in the third.
    pub slots: DeviceSlice<[u32; 4]>,
    /// Twelve coefficients a group, row by row. They may lie in page-locked host memory: each block reads its own once.
    pub maps: DeviceSlice<f32>,
    /// A group's first slot of A, samples of A, first slot of B and samples of B.
    pub groups: DeviceSlice<[u32; 4]>,
    /// A block's first slot and its group, those of B before those of A.
    pub blocks: DeviceSlice<[u32; 2]>,
    /// A slot's fixed and moving intensity, scaled.
    pub scaled: DeviceSliceMut<[f32; 2]>,
    /// How a slot's moving intensity changes along x, y and z, stored values a voxel, and 1 where it is inside, else 0.
    pub slopes: DeviceSliceMut<[f32; 4]>,
    /// What a slot of B weighs: see [`Weights`](crate::math::viola::Weights).
    pub weights: DeviceSliceMut<[f32; 2]>,
    /// A part's sums, one kind after the other, each for `stride` slots.
    pub partials: DeviceSliceMut<f64>,
    /// [`FOLDED`](crate::kernels::viola::finish::FOLDED) numbers for 32 slots.
    pub folded: DeviceSliceMut<f64>,
    /// A group's samples of A and of B inside; 0 before and after.
    pub counts: DeviceSliceMut<u32>,
    /// Blocks of a group that are done; 0 before and after.
    pub done: DeviceSliceMut<u32>,
    /// [`RESULTS`](crate::kernels::viola::RESULTS) a group.
    pub results: DeviceSliceMut<f64>,
    pub moving_size: [u32; 3],
    /// Blocks of B.
    pub b_blocks: u32,
    /// What stored values of the fixed and of the moving image are multiplied by.
    pub scales: [f32; 2],
    /// [`Own`](crate::math::viola::Own), where the joint window is.
    pub joint: [f32; 2],
    /// From this distance of fixed intensities, scaled, on windows are at their least.
    pub far: f32,
    /// The block of the launch's first one.
    pub first_block: u32,
    /// Slots of a part: whole segments, that make a whole stretch.
    pub part: u32,
    /// Slots of a launch.
    pub stride: u32,
}

/// What [`copy_words`](crate::kernels::copy::copy_words) needs.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct CopyWords {
    pub from: DeviceSlice<u32>,
    pub to: DeviceSliceMut<u32>,
    pub len: u32,
    /// Keeps the size a multiple of 8 without hidden bytes.
    pub unused: u32,
}

/// Two images and the displacement field between them: first the field and then `map` take voxels of the fixed image to the moving one.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FlowImages {
    /// 16-bit values of the voxels.
    pub fixed: DeviceSlice<u16>,
    /// As [`Images::moving`] where that is `fine`.
    pub moving: DeviceSlice<u32>,
    /// As [`crate::math::field`] has it; so are all fields here.
    pub field: DeviceSlice<f32>,
    pub map: Affine,
    pub size: [u32; 3],
    pub moving_size: [u32; 3],
}

/// What [`flow_pairs`](crate::kernels::flow::pairs::flow_pairs) needs.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FlowPairs {
    pub images: FlowImages,
    /// A joint index a voxel, or [`OUTSIDE`](crate::kernels::flow::pairs::OUTSIDE).
    pub pairs: DeviceSliceMut<u16>,
    /// Bins of each image, 2 to 255.
    pub bins: u32,
    /// Keeps the size a multiple of 8 without hidden bytes.
    pub unused: u32,
}

/// What [`flow_force`](crate::kernels::flow::force::flow_force) needs.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FlowForce {
    pub images: FlowImages,
    /// The two tables of [`score`](crate::math::flow::score), one after the other.
    pub tables: DeviceSlice<f32>,
    /// A displacement a voxel.
    pub force: DeviceSliceMut<f32>,
    /// What [`pull`](crate::math::flow::pull) takes.
    pub per_square: [f32; 3],
    pub prior: f32,
    /// Bins of each image.
    pub bins: u32,
    /// Numbers of the tables that a block copies to shared memory: all, or none.
    pub table_words: u32,
}

/// What the kernels of [`local`](crate::kernels::flow::local) need.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FlowLocal {
    pub images: FlowImages,
    /// Planes of the fixed image's local mean and variance.
    pub fixed: DeviceSliceMut<f32>,
    /// Planes of what is to be smoothed, then its local means, and at last the three of the force.
    pub planes: DeviceSliceMut<f32>,
    /// To which are added the squared correlation in fixed point of [`CORRELATION_UNIT`](crate::math::flow::CORRELATION_UNIT), and the voxels inside.
    pub totals: DeviceSliceMut<u64>,
    /// What [`pull`](crate::math::flow::pull) takes.
    pub per_square: [f32; 3],
    pub prior: f32,
}

/// What the kernels of [`step`](crate::kernels::flow::step) need.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FlowStep {
    pub field: DeviceSlice<f32>,
    /// The step's displacements; then those of the field after it.
    pub step: DeviceSliceMut<f32>,
    /// The bits of the square of the step's largest displacement, voxels; 0 before.
    pub largest: DeviceSliceMut<u32>,
    pub size: [u32; 3],
    /// What no voxel moves further by, voxels.
    pub limit: f32,
}

/// What [`flow_refine`](crate::kernels::flow::field::flow_refine) needs.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FlowRefine {
    pub field: DeviceSlice<f32>,
    pub refined: DeviceSliceMut<f32>,
    pub size: [u32; 3],
    pub refined_size: [u32; 3],
    /// What [`refined`](crate::math::flow::refined) takes.
    pub from: [[f32; 3]; 2],
}

/// What [`flow_jacobian`](crate::kernels::flow::field::flow_jacobian) needs.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FlowJacobian {
    pub field: DeviceSlice<f32>,
    /// A determinant a voxel.
    pub determinants: DeviceSliceMut<f32>,
    /// The smallest and the largest in the order of [`ordered`](crate::math::field::ordered), the smallest's bits inverted; 0 before.
    pub range: DeviceSliceMut<u32>,
    pub size: [u32; 3],
    /// Keeps the size a multiple of 8 without hidden bytes.
    pub unused: u32,
}

/// What [`flow_moved`](crate::kernels::flow::field::flow_moved) needs.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FlowMoved {
    pub field: DeviceSlice<f32>,
    pub image: DeviceSlice<f32>,
    /// An intensity a voxel.
    pub moved: DeviceSliceMut<f32>,
    /// From voxels of the field's grid to those of the image.
    pub map: Affine,
    pub size: [u32; 3],
    pub image_size: [u32; 3],
}

/// What the kernels of [`inverse`](crate::kernels::flow::inverse) need.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FlowInverse {
    pub field: DeviceSlice<f32>,
    /// The way back on the other grid.
    pub inverse: DeviceSliceMut<f32>,
    /// To which are added the misses in fixed point of [`MM_UNIT`](crate::math::flow::MM_UNIT), and their number.
    pub totals: DeviceSliceMut<u64>,
    /// The bits of the largest miss, mm; 0 before.
    pub largest: DeviceSliceMut<u32>,
    /// From voxels of the field's grid to those of the other one, and the other way.
    pub there: Affine,
    pub back: Affine,
    pub size: [u32; 3],
    pub inverse_size: [u32; 3],
    /// Distances between the voxels of the field's grid, mm.
    pub spacing: [f32; 3],
    /// Keeps the size a multiple of 8 without hidden bytes.
    pub unused: u32,
}

const _: () = assert!(size_of::<Viola>() == 256);
const _: () = assert!(size_of::<Affine>() == 48);
const _: () = assert!(size_of::<Images>() == 144);
const _: () = assert!(size_of::<Histogram>() == 184);
const _: () = assert!(size_of::<Tiled>() == 288);
const _: () = assert!(size_of::<Tagged<u32>>() == 192 && size_of::<Tagged<[u32; 2]>>() == 192);
const _: () = assert!(size_of::<SortCount>() == 160);
const _: () = assert!(size_of::<PerThread>() == 168);
const _: () = assert!(size_of::<Partials>() == 48);
const _: () = assert!(size_of::<GlobalCopies>() == 184);
const _: () = assert!(size_of::<Projection>() == 48);
const _: () = assert!(size_of::<ByteLanes>() == 184);
const _: () = assert!(size_of::<FromPairs>() == 48);
const _: () = assert!(size_of::<Entropy>() == 144);
const _: () = assert!(size_of::<MattesHistogram>() == 184);
const _: () = assert!(size_of::<MattesValue>() == 128);
const _: () = assert!(size_of::<MattesSlope>() == 184);
const _: () = assert!(size_of::<MattesFold>() == 80);
const _: () = assert!(size_of::<Recursive>() == 320);
const _: () = assert!(size_of::<Resample>() == 112);
const _: () = assert!(size_of::<CopyWords>() == 40);
const _: () = assert!(size_of::<FlowImages>() == 120);
const _: () = assert!(size_of::<FlowPairs>() == 144);
const _: () = assert!(size_of::<FlowForce>() == 176);
const _: () = assert!(size_of::<FlowLocal>() == 184);
const _: () = assert!(size_of::<FlowStep>() == 64);
const _: () = assert!(size_of::<FlowRefine>() == 80);
const _: () = assert!(size_of::<FlowJacobian>() == 64);
const _: () = assert!(size_of::<FlowMoved>() == 120);
const _: () = assert!(size_of::<FlowInverse>() == 200);
