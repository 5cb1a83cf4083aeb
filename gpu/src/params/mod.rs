//! Parameters of the kernels, one file per family. Each struct is passed to a kernel by value. It is `repr(C)` without
//! padding bytes, and its size is asserted, so that host and device agree on its layout.
//!
//! "Working space" is memory that the host allocates, whose contents are used only by the launches that share it. "0
//! before and after" means that the host sets the memory to 0 once and that the kernels leave it at 0.

mod flow;
mod gaussian;
mod histogram;
mod image;
mod mattes;
mod resample;
mod search;
mod viola;

pub use crate::math::affine::Affine;
pub use crate::math::vectors::VectorMaps;
pub use flow::{
    CopyWords, FlowForce, FlowImages, FlowInverse, FlowJacobian, FlowLandmarks, FlowLocal, FlowMoved, FlowPairs,
    FlowRefine, FlowRelax, FlowResample, FlowStep, FlowSubtract, FlowTable, FlowVectors, ForceOutput,
};
pub use gaussian::Recursive;
pub use histogram::{
    ByteLanes, Entropy, FromPairs, GlobalCopies, Histogram, Partials, PerThread, Projection, SortCount, Tagged, Tiled,
};
pub use image::{Filter, GatherVoxels, PackBins, PackWords};
pub use mattes::{MattesFold, MattesHistogram, MattesSlope, MattesValue};
pub use resample::Resample;
pub use search::{SearchConsistent, SearchCosts, SearchCouple, SearchDescriptors, SearchGrid};
pub use viola::Viola;

use cuda_std::global::DeviceSlice;

/// A fixed image, a moving image, and the transform between them, for metrics that sample the moving image at every
/// voxel of the fixed image.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Images {
    /// One bin number per voxel of the fixed image; [`MASKED`](crate::math::bin::MASKED) where the mask excludes the voxel.
    pub fixed: DeviceSlice<u16>,
    /// The moving image, one word per voxel, followed by the [`padding`](crate::math::interpolate::padding). A word
    /// holds 8-bit levels as in [`word`](crate::math::eight_bit::word) or, if `fine`, the voxel's 16-bit value in the
    /// low half and that of its neighbour along x in the high half.
    pub moving: DeviceSlice<u32>,
    /// The [`padded`](crate::math::cubic::padded) volume that a cubic interpolator samples; empty for other
    /// interpolators.
    pub cubic: DeviceSlice<f32>,
    /// Voxel of the fixed image to position in the moving image, in voxels.
    pub transform: Affine,
    /// Voxels of the fixed image along x, y and z.
    pub fixed_size: [u32; 3],
    /// Voxels of the moving image along x, y and z, without padding.
    pub moving_size: [u32; 3],
    /// Bins of the fixed and of the moving image.
    pub bins: [u32; 2],
    /// An [`Interpolator`](crate::math::interpolate::Interpolator) as a number.
    pub interpolator: u32,
    /// Not 0 if the moving image has 16-bit values.
    pub fine: u32,
    /// The total that a sample adds to the joint histogram: 1, or with partial volume interpolation the
    /// [`unit`](crate::math::partial_volume::unit) to which its neighbours' weights sum.
    pub unit: u32,
    /// Makes the size a multiple of 8 without padding bytes.
    pub unused: u32,
}

const _: () = assert!(size_of::<Affine>() == 48);
const _: () = assert!(size_of::<Images>() == 144);
