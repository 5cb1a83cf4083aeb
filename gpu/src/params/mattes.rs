//! Parameters of the mutual information with Mattes windows and of its derivative.

use super::Images;
use cuda_std::global::{DeviceSlice, DeviceSliceMut};

/// Parameters of [`mattes_histogram`](crate::kernels::mattes::histogram::mattes_histogram) and its sibling.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct MattesHistogram {
    /// The images and their transform; the moving image is `fine`. With windows for both images, the fixed image holds
    /// 16-bit stored values in place of bin numbers.
    pub images: Images,
    /// Twelve coefficients for each transform of a launch, by rows. A launch with a single transform uses that of
    /// `images`.
    pub transforms: DeviceSlice<f32>,
    /// For each transform, the sum of weights of each pair of bins, the moving bin fastest. A sample has the weight
    /// [`UNIT`](crate::math::mattes::UNIT) in all. The kernel adds to them.
    pub counts: DeviceSliceMut<u64>,
    /// Fixed bins whose counters are in the shared memory of a thread block. Blocks at z of the grid count those from
    /// `z * range` on.
    pub range: u32,
    /// Copies of these counters in a thread block, a power of 2.
    pub copies: u32,
    /// Words from one copy to the next.
    pub stride: u32,
    /// Planes of a tile.
    pub depth: u32,
    /// Tiles that a block can count before its 32-bit counters could overflow and must be emptied.
    pub tiles: u32,
    /// Makes the size a multiple of 8 without padding bytes.
    pub unused: u32,
}

/// Parameters of [`mattes_marginals`](crate::kernels::mattes::value::mattes_marginals) and
/// [`mattes_value`](crate::kernels::mattes::value::mattes_value). Lengths are per transform: an array has as many such
/// parts, one after the other. Only `table` has one part, for the first transform.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct MattesValue {
    /// The weights of each pair of bins, the moving bin fastest, as in [`MattesHistogram`]. The kernels leave them at
    /// 0.
    pub counts: DeviceSliceMut<u64>,
    /// Working space, `moving_bins`: the weights of each moving bin; 0 before and after.
    pub moving: DeviceSliceMut<u64>,
    /// Working space, `fixed_bins`: the weights of each fixed bin.
    pub fixed: DeviceSliceMut<u64>,
    /// Working space, `fixed_bins`: the sum of the terms of each fixed bin.
    pub terms: DeviceSliceMut<f64>,
    /// Working space, 1: the number of thread blocks that have finished; 0 before and after.
    pub done: DeviceSliceMut<u32>,
    /// Written: the three coefficients of a [`quadratic`](crate::math::mattes::quadratic) for each fixed bin and each of the
    /// `moving_bins - 3` windows, the window fastest.
    pub table: DeviceSliceMut<f32>,
    /// The mutual information in nats and the sum of all weights are written, two numbers for each transform.
    pub results: DeviceSliceMut<f64>,
    /// Bins of the fixed and of the moving image.
    pub bins: [u32; 2],
}

/// Parameters of [`mattes_slope`](crate::kernels::mattes::slope::mattes_slope) and its sibling.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct MattesSlope {
    /// As in [`MattesHistogram`].
    pub images: Images,
    /// As in [`MattesValue`].
    pub table: DeviceSlice<f32>,
    /// Written: six sums per row of the fixed image, those of [`RowSums`](crate::math::mattes::RowSums); rows of y fastest, then z.
    pub rows: DeviceSliceMut<f32>,
    /// The length of the table if a thread block copies it to shared memory, else 0.
    pub table_words: u32,
    /// Makes the size a multiple of 8 without padding bytes.
    pub unused: u32,
}

/// Parameters of [`mattes_fold`](crate::kernels::mattes::slope::mattes_fold).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct MattesFold {
    /// As in [`MattesSlope`].
    pub rows: DeviceSlice<f32>,
    /// Working space, `blocks_len` numbers for each of the matrix's twelve coefficients.
    pub blocks: DeviceSliceMut<f64>,
    /// Working space, 1: the number of thread blocks that have finished; 0 before and after.
    pub done: DeviceSliceMut<u32>,
    /// The twelve sums are written from index `result` on, in the order of the matrix.
    pub results: DeviceSliceMut<f64>,
    /// Voxels of the fixed image along y: rows per plane.
    pub height: u32,
    /// Rows of the fixed image.
    pub rows_len: u32,
    /// The number of [`BLOCK`](crate::math::mattes::BLOCK)s of rows.
    pub blocks_len: u32,
    /// Index of the first result.
    pub result: u32,
}

const _: () = assert!(size_of::<MattesHistogram>() == 200);
const _: () = assert!(size_of::<MattesValue>() == 120);
const _: () = assert!(size_of::<MattesSlope>() == 184);
const _: () = assert!(size_of::<MattesFold>() == 80);
