//! Parameters of the kernels, one file per family. Each struct crosses to the device by value: it is `repr(C)` without hidden bytes, and
//! its size is asserted, so that both sides agree on its layout.
//!
//! A slice that is called working space is allocated by the host and means nothing outside the launches that share it.

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
    FlowPull, FlowRefine, FlowRelax, FlowShow, FlowStep, FlowTable, FlowVectors,
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

/// A fixed image, a moving image, and the transform between them, for the metrics that sample every voxel of the fixed image.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Images {
    /// One bin number per voxel of the fixed image; [`MASKED`](crate::math::bin::MASKED) where the mask excludes the voxel.
    pub fixed: DeviceSlice<u16>,
    /// The moving image as [words](crate::math::eight_bit::word) of 8-bit levels, one per voxel. Where it is `fine`: the voxel's
    /// 16-bit value in the low half of each word, and that of its neighbour along x in the high half. Followed by the
    /// [`padding`](crate::math::interpolate::padding).
    pub moving: DeviceSlice<u32>,
    /// The [`padded`](crate::math::cubic::padded) volume that a cubic interpolator samples; empty for the others.
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
    /// Not 0 where the moving image has 16-bit values.
    pub fine: u32,
    /// What a sample adds to the joint histogram in all: 1, or with partial volumes the
    /// [`unit`](crate::math::partial_volume::unit) that its neighbours' weights sum to.
    pub unit: u32,
    /// Keeps the size a multiple of 8 without hidden bytes.
    pub unused: u32,
}

const _: () = assert!(size_of::<Affine>() == 48);
const _: () = assert!(size_of::<Images>() == 144);
