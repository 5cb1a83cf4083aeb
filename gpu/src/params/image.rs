//! Parameters of the kernels that prepare images for registration.

use crate::math::binning::Binning;
use cuda_std::global::{DeviceSlice, DeviceSliceMut};

/// Parameters of [`filter_axis`](crate::kernels::image::filter_axis).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Filter {
    /// The volume.
    pub from: DeviceSlice<f32>,
    /// The new volume; written. It has fewer than 2^31 voxels.
    pub to: DeviceSliceMut<f32>,
    /// The weights of the filter, `taps` of them.
    pub weights: DeviceSlice<f32>,
    /// Voxels along the axis, before and after.
    pub len: u32,
    pub new_len: u32,
    /// Voxels in memory from one voxel of a line to the next.
    pub stride: u32,
    /// The factor by which the volume is thinned along the axis: old voxels from one new voxel to the next.
    pub step: u32,
    /// The old voxel under the first weight for new voxel 0. It may be negative, and is then clamped to the border.
    pub first: i32,
    /// The number of weights.
    pub taps: u32,
}

/// Parameters of [`gather_voxels`](crate::kernels::image::gather_voxels).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct GatherVoxels {
    /// The memory from the first to the last byte of the numbers, aligned for their type.
    pub numbers: DeviceSlice<u8>,
    /// Intensities, i fastest; written.
    pub voxels: DeviceSliceMut<f32>,
    /// Numbers from one voxel to the next along i, j and k.
    pub strides: [i64; 3],
    /// The index of the number of voxel 0.
    pub first: i64,
    /// Voxels along i and j.
    pub size: [u32; 2],
    /// The type of the numbers, 0 to 9: u8, i8, u16, i16, u32, i32, u64, i64, f32, f64.
    pub pixel: u32,
    /// Makes the size a multiple of 8 without padding bytes.
    pub unused: u32,
}

/// Parameters of [`pack_bins`](crate::kernels::image::pack_bins).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct PackBins {
    /// Intensities.
    pub voxels: DeviceSlice<f32>,
    /// The mask, 0 for voxels that are not to be counted. Read if `masked`.
    pub keep: DeviceSlice<u8>,
    /// As in [`Images::fixed`](super::Images::fixed); written.
    pub out: DeviceSliceMut<u16>,
    /// How intensities become stored numbers.
    pub binning: Binning,
    /// Not 0 if there is a mask.
    pub masked: u32,
    /// Makes the size a multiple of 8 without padding bytes.
    pub unused: u32,
}

/// Parameters of [`pack_words`](crate::kernels::image::pack_words).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct PackWords {
    /// Intensities.
    pub voxels: DeviceSlice<f32>,
    /// As in [`Images::moving`](super::Images::moving), a word per voxel and its padding; written.
    pub out: DeviceSliceMut<u32>,
    /// The range of intensities; those beyond are clamped.
    pub low: f32,
    pub high: f32,
    /// Voxels of a row.
    pub width: u32,
    /// Not 0 for 16-bit values.
    pub fine: u32,
}

const _: () = assert!(size_of::<Filter>() == 72);
const _: () = assert!(size_of::<GatherVoxels>() == 80);
const _: () = assert!(size_of::<PackBins>() == 72);
const _: () = assert!(size_of::<PackWords>() == 48);
