//! Parameters of the recursive Gaussian.

use crate::math::recursive::Coefficients;
use cuda_std::global::DeviceSliceMut;

/// Parameters of the kernels of [`gaussian`](crate::kernels::gaussian), which filter parallel lines. A slab is a run of memory that holds
/// `stride` lines of `len` samples each, interleaved: sample i of line l lies at `l + i * stride`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Recursive {
    /// The samples of `slabs` slabs, one after the other; filtered in place.
    pub planes: DeviceSliceMut<f32>,
    /// The same of `beside_slabs` slabs that lie elsewhere.
    pub beside: DeviceSliceMut<f32>,
    /// The filter.
    pub coefficients: Coefficients,
    /// Samples of a line.
    pub len: u32,
    /// Lines of a slab: 1 for lines along x. A slab has fewer than 2^31 samples.
    pub stride: u32,
    /// Slabs.
    pub slabs: u32,
    /// Slabs that lie elsewhere.
    pub beside_slabs: u32,
}

const _: () = assert!(size_of::<Recursive>() == 336);
