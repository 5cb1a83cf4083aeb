//! Every struct that crosses the boundary to a kernel: `repr(C)`, by value, its size asserted.

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
    /// A stored voxel of the moving image in the low half of each word and its neighbour along x in the high half, with
    /// [`padding`](crate::math::interpolate::padding) words at the end.
    pub moving: DeviceSlice<u32>,
    pub transform: Affine,
    pub fixed_size: [u32; 3],
    pub moving_size: [u32; 3],
    /// Bins of the fixed and of the moving image.
    pub bins: [u32; 2],
    /// An [`Interpolator`](crate::math::interpolate::Interpolator) as a number.
    pub interpolator: u32,
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
    /// Working space, 1 a transform: blocks that are done; 0 before and after.
    pub done: DeviceSliceMut<u32>,
    /// [`RESULTS`](crate::kernels::entropy::RESULTS) a transform: H(F), H(M), H(F, M), MI, NMI, counts.
    pub results: DeviceSliceMut<f64>,
    /// Bins of the fixed and of the moving image.
    pub bins: [u32; 2],
}

/// What [`resample`](crate::kernels::resample::resample) needs.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Resample {
    pub moving: DeviceSlice<f32>,
    pub out: DeviceSliceMut<f32>,
    /// From voxels of the new grid to voxels of the moving image.
    pub affine: Affine,
    pub size: [u32; 3],
    pub moving_size: [u32; 3],
    /// An [`Interpolator`](crate::math::interpolate::Interpolator) as a number.
    pub interpolator: u32,
    /// Keeps the size a multiple of 8 without hidden bytes.
    pub unused: u32,
}

const _: () = assert!(size_of::<Affine>() == 48);
const _: () = assert!(size_of::<Images>() == 120);
const _: () = assert!(size_of::<Histogram>() == 160);
const _: () = assert!(size_of::<Tagged<u32>>() == 168 && size_of::<Tagged<[u32; 2]>>() == 168);
const _: () = assert!(size_of::<Entropy>() == 104);
const _: () = assert!(size_of::<Resample>() == 112);
