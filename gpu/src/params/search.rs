//! Parameters of the discrete search for displacements. Cells are blocks of voxels. Cells, and the displacements of a
//! cell, are numbered with x fastest, then y, then z.

use cuda_std::global::{DeviceSlice, DeviceSliceMut};

/// The grids of a search.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SearchGrid {
    /// Voxels of both images along x, y and z.
    pub size: [u32; 3],
    /// The largest displacement along x, y and z, in voxels.
    pub reach: [u32; 3],
    /// Cells along x, y and z.
    pub cells: [u32; 3],
    /// Voxels along each side of a cell. The last cell along an axis may be smaller.
    pub side: u32,
}

/// Parameters of [`search_descriptors`](crate::kernels::search::search_descriptors).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SearchDescriptors {
    /// One 16-bit stored value per voxel.
    pub values: DeviceSlice<u16>,
    /// One [`descriptor`](crate::math::search::descriptor) per voxel of the image, padded by the reach on all sides; written.
    pub descriptors: DeviceSliceMut<u64>,
    /// The grids.
    pub grid: SearchGrid,
}

/// Parameters of [`search_costs`](crate::kernels::search::search_costs).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SearchCosts {
    /// Padded descriptors of the image whose cells are searched for in the other.
    pub from: DeviceSlice<u64>,
    /// Padded descriptors of the image that is searched.
    pub to: DeviceSlice<u64>,
    /// Written: for each cell and each displacement, the number of bits by which the descriptors differ, summed over
    /// the cell's voxels.
    pub costs: DeviceSliceMut<u16>,
    /// The grids.
    pub grid: SearchGrid,
}

/// Parameters of [`search_couple`](crate::kernels::search::search_couple).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SearchCouple {
    /// As [`SearchCosts::costs`].
    pub costs: DeviceSlice<u16>,
    /// The smoothed displacements around each cell, three planes, in cells.
    pub near: DeviceSlice<f32>,
    /// The best displacement of each cell, three planes, in cells; written.
    pub found: DeviceSliceMut<f32>,
    /// The grids.
    pub grid: SearchGrid,
    /// The cost, along each axis, of a squared difference of 1 voxel from the smoothed displacement, per voxel of the
    /// cell.
    pub weights: [f32; 3],
    /// Makes the size a multiple of 8 without padding bytes.
    pub unused: u32,
}

/// Parameters of [`search_consistent`](crate::kernels::search::search_consistent).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SearchConsistent {
    /// A displacement field on the grid of cells, in cells.
    pub there: DeviceSlice<f32>,
    /// The field in the opposite direction.
    pub back: DeviceSlice<f32>,
    /// The field on which both directions agree; written.
    pub found: DeviceSliceMut<f32>,
    /// Cells along x, y and z.
    pub cells: [u32; 3],
    /// Makes the size a multiple of 8 without padding bytes.
    pub unused: u32,
}

const _: () = assert!(size_of::<SearchGrid>() == 40);
const _: () = assert!(size_of::<SearchDescriptors>() == 72);
const _: () = assert!(size_of::<SearchCosts>() == 88);
const _: () = assert!(size_of::<SearchCouple>() == 104);
const _: () = assert!(size_of::<SearchConsistent>() == 64);
