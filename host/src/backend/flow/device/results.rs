//! Results that a device computes from a finished field: displacement vectors, Jacobians, the moved image, the inverse
//! field.

use super::grid::{FieldOnDevice, allocate_field};
use super::kernels::{FLOW_INVERSE, FLOW_INVERSE_ERROR, FLOW_JACOBIAN, FLOW_MOVED, FLOW_VECTORS};
use super::launch;
use crate::backend::flow::FlowInverse;
use crate::backend::queue::{Memory, Queue};
use crate::{Result, Volume};
use gpu::math::field::of_ordered;
use gpu::math::flow::{MM_UNIT, mean};
use gpu::params::{self, Affine, VectorMaps};

/// The displacement vectors of all voxels of a grid of `size`, in mm.
pub fn vectors<Q: Queue>(
    queue: &Q,
    field: &Q::Memory<f32>,
    size: [u32; 3],
    maps: &VectorMaps,
) -> Result<Vec<[f32; 3]>> {
    let voxels = size.iter().map(|&n| n as usize).product();
    let mut vectors = queue.zeros::<[f32; 3]>(voxels)?;
    // SAFETY: a vector is three numbers.
    let numbers = unsafe { vectors.view_mut().cast() };
    let params = params::FlowVectors { field: field.view(), vectors: numbers, maps: *maps, size, unused: 0 };
    // SAFETY: the memory is as long as the size says and lives until the download is done.
    unsafe { launch::each(queue, &FLOW_VECTORS, size, params)? };
    queue.download(&vectors, voxels)
}

/// Writes the Jacobian determinants into the field's second memory, and returns the smallest and the largest.
pub fn jacobian<Q: Queue>(queue: &Q, grid: &mut FieldOnDevice<Q>) -> Result<[f32; 2]> {
    let mut range = queue.zeros(2)?;
    let params = params::FlowJacobian {
        field: grid.field.view(),
        determinants: grid.scratch.view_mut(),
        range: range.view_mut(),
        size: grid.size,
        unused: 0,
    };
    // SAFETY: the memory is as long as the sizes say and lives until the download is done.
    unsafe { launch::sum(queue, &FLOW_JACOBIAN, grid.size, params)? };
    let range = queue.download(&range, 2)?;
    Ok([of_ordered(!range[0]), of_ordered(range[1])])
}

/// The intensities of an image resampled through the field and then the map; see [`crate::backend::Flow::moved`].
pub fn moved<Q: Queue>(queue: &Q, grid: &mut FieldOnDevice<Q>, image: &Volume, map: &Affine) -> Result<Vec<f32>> {
    let voxels = queue.upload(&image.voxels)?;
    let params = params::FlowMoved {
        field: grid.field.view(),
        image: voxels.view(),
        moved: grid.scratch.view_mut(),
        map: *map,
        size: grid.size,
        image_size: image.geometry.size.map(|n| n as u32),
    };
    // SAFETY: as above.
    unsafe { launch::each(queue, &FLOW_MOVED, grid.size, params)? };
    queue.download(&grid.scratch, grid.voxels())
}

/// The inverse field on a grid of `size`; see [`crate::backend::Flow::inverse`].
pub fn inverse<Q: Queue>(
    queue: &Q,
    grid: &FieldOnDevice<Q>,
    size: [usize; 3],
    ([there, back], maps): ([&Affine; 2], &VectorMaps),
) -> Result<FlowInverse> {
    let inverse_size = size.map(|n| n as u32);
    let mut inverse = allocate_field(queue, inverse_size)?;
    let (mut totals, mut largest) = (queue.zeros(2)?, queue.zeros(1)?);
    let params = params::FlowInverse {
        field: grid.field.view(),
        inverse: inverse.view_mut(),
        totals: totals.view_mut(),
        largest: largest.view_mut(),
        there: *there,
        back: *back,
        size: grid.size,
        inverse_size,
        spacing: grid.spacing_mm.map(|mm| mm as f32),
        unused: 0,
    };
    // SAFETY: as above.
    unsafe {
        launch::each(queue, &FLOW_INVERSE, inverse_size, params)?;
        launch::sum(queue, &FLOW_INVERSE_ERROR, grid.size, params)?;
    }
    let vectors = vectors(queue, &inverse, inverse_size, maps)?;
    let (totals, largest) = (queue.download(&totals, 2)?, queue.download(&largest, 1)?);
    let worst_mm = f64::from(f32::from_bits(largest[0]));
    Ok(FlowInverse { vectors, mean_mm: mean(totals[0], MM_UNIT, totals[1]), worst_mm })
}
