//! Converts displacement fields to and from the numbers of a file.

use rayon::prelude::*;

use super::voxels::Order;
use crate::Geometry;
use crate::transform::Field;

/// Numbers per voxel: 3, or 2 for the grid of a 2-D image.
pub fn channels(grid: &Geometry) -> usize {
    if grid.is_flat() { 2 } else { 3 }
}

/// Makes a field of the numbers of a file, which has the same count of numbers for every voxel.
pub fn field(geometry: Geometry, numbers: &[f32], order: Order) -> Field {
    let voxels = geometry.voxels();
    let channels = numbers.len() / voxels;
    let number = |voxel: usize, channel: usize| match order {
        _ if channel >= channels => 0.0,
        Order::Voxels => numbers[voxel * channels + channel],
        Order::Planes => numbers[voxel + channel * voxels],
    };
    let vectors = (0..voxels).into_par_iter().map(|voxel| [0, 1, 2].map(|channel| number(voxel, channel))).collect();
    Field { geometry, vectors }
}

/// The numbers of a field in the order of a file.
pub fn numbers(field: &Field, order: Order) -> Vec<f32> {
    let Field { geometry, vectors } = field;
    let channels = channels(geometry);
    let mut numbers = vec![0.0; channels * vectors.len()];
    match order {
        Order::Voxels => {
            let voxels = numbers.par_chunks_exact_mut(channels).zip(vectors);
            voxels.for_each(|(numbers, vector)| numbers.copy_from_slice(&vector[..channels]));
        }
        Order::Planes => {
            let planes = numbers.par_chunks_exact_mut(vectors.len().max(1)).enumerate();
            planes.for_each(|(channel, plane)| {
                plane.par_iter_mut().zip(vectors).for_each(|(number, vector)| *number = vector[channel]);
            });
        }
    }
    numbers
}

/// Whether a field of a 2-D image moves points out of its plane.
pub fn leaves_plane(field: &Field) -> bool {
    field.geometry.is_flat() && field.vectors.iter().any(|vector| vector[2] != 0.0)
}
