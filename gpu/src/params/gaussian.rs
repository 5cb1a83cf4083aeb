//! Parameters of the recursive Gaussian.

use crate::math::recursive::Coefficients;
use cuda_std::global::DeviceSliceMut;

/// Parameters of the kernels of [`gaussian`](crate::kernels::gaussian), which filter parallel lines. A slab is a
/// contiguous range of memory that holds `stride` interleaved lines of `len` samples each: sample i of line l is at
/// `l + i * stride`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Recursive {
    /// The samples of `slabs` slabs, one after the other; filtered in place.
    pub planes: DeviceSliceMut<f32>,
    /// A second array, of `second_slabs` slabs, filtered in place by the same launch.
    pub second_planes: DeviceSliceMut<f32>,
    /// The filter.
    pub coefficients: Coefficients,
    /// Samples of a line.
    pub len: u32,
    /// Lines of a slab: 1 for lines along x. A slab has fewer than 2^31 samples.
    pub stride: u32,
    /// Slabs.
    pub slabs: u32,
    /// Slabs in `second_planes`.
    pub second_slabs: u32,
}

const _: () = assert!(size_of::<Recursive>() == 336);
