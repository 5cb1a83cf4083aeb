//! Parameters of the resampling kernel.

use super::Affine;
use cuda_std::global::{DeviceSlice, DeviceSliceMut};

/// Parameters of [`resample`](crate::kernels::resample::resample).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Resample {
    /// The voxels or, for a cubic interpolator, the [`padded`](crate::math::cubic::padded) volume that it samples.
    pub moving: DeviceSlice<f32>,
    /// One value per voxel of the new grid; written.
    pub out: DeviceSliceMut<f32>,
    /// Voxel of the new grid to position in the moving image, in voxels.
    pub affine: Affine,
    /// Voxels of the new grid along x, y and z.
    pub size: [u32; 3],
    /// Voxels of the moving image along x, y and z, without padding.
    pub moving_size: [u32; 3],
    /// An [`Interpolator`](crate::math::interpolate::Interpolator) as a number.
    pub interpolator: u32,
    /// Makes the size a multiple of 8 without padding bytes.
    pub unused: u32,
}

const _: () = assert!(size_of::<Resample>() == 112);
