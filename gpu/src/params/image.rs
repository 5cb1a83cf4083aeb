//! Parameters of the kernels that make images ready.

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
    /// What the voxels under the filter count.
    pub weights: DeviceSlice<f32>,
    /// Voxels along the axis, before and after.
    pub len: u32,
    pub new_len: u32,
    /// Voxels from one of a line to the next.
    pub stride: u32,
    /// Old voxels from one new one to the next.
    pub step: u32,
    /// The old voxel under the first weight of new voxel 0, were there no border.
    pub first: i32,
    /// The number of weights.
    pub taps: u32,
}

/// Parameters of [`gather_voxels`](crate::kernels::image::gather_voxels).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct GatherVoxels {
    /// The memory from the first to the last byte of the numbers, aligned as they are.
    pub numbers: DeviceSlice<u8>,
    /// Intensities, i fastest; written.
    pub voxels: DeviceSliceMut<f32>,
    /// Numbers from one voxel to the next along i, j and k.
    pub strides: [i64; 3],
    /// Which of the numbers is that of voxel 0.
    pub first: i64,
    /// Voxels along i and j.
    pub size: [u32; 2],
    /// The type of the numbers, 0 to 9: u8, i8, u16, i16, u32, i32, u64, i64, f32, f64.
    pub pixel: u32,
    /// Keeps the size a multiple of 8 without hidden bytes.
    pub unused: u32,
}

/// Parameters of [`pack_bins`](crate::kernels::image::pack_bins).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct PackBins {
    /// Intensities.
    pub voxels: DeviceSlice<f32>,
    /// 0 for voxels that are not to be counted, where any is `masked`.
    pub keep: DeviceSlice<u8>,
    /// As in [`Images::fixed`](super::Images::fixed); written.
    pub out: DeviceSliceMut<u16>,
    /// From intensities to numbers.
    pub binning: Binning,
    /// Not 0 where voxels are left out.
    pub masked: u32,
    /// Keeps the size a multiple of 8 without hidden bytes.
    pub unused: u32,
}

/// Parameters of [`pack_words`](crate::kernels::image::pack_words).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct PackWords {
    /// Intensities.
    pub voxels: DeviceSlice<f32>,
    /// As in [`Images::moving`](super::Images::moving), with a word per voxel and for as many as it looks ahead; written.
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
