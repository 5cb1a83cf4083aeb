//! What is made from a field at the end: its Jacobian, the moved image, the way back.

use super::task::{Grid, pieces};
use crate::backend::FlowInverse;
use gpu::math::interpolate::{self, Interpolator};
use gpu::math::{field, flow};
use gpu::params::Affine;
use rayon::prelude::*;

/// A voxel by its number.
fn voxel(size: [u32; 3], number: usize) -> [u32; 3] {
    let number = number as u32;
    [number % size[0], number / size[0] % size[1], number / (size[0] * size[1])]
}

/// A number for each voxel.
fn each(size: [u32; 3], number: impl Fn([u32; 3], usize) -> f32 + Sync) -> Vec<f32> {
    let voxels = size.iter().map(|&n| n as usize).product::<usize>();
    (0..voxels).into_par_iter().with_min_len(1 << 12).map(|i| number(voxel(size, i), i)).collect()
}

/// A voxel's displacement.
fn displacement(grid: &Grid, number: usize) -> [f32; 3] {
    let voxels = grid.voxels();
    [grid.field[number], grid.field[number + voxels], grid.field[number + 2 * voxels]]
}

pub fn jacobians(grid: &Grid) -> Vec<f32> {
    // SAFETY: the voxel is in the grid.
    each(grid.size, |voxel, _| unsafe { field::jacobian(|i| grid.number(i), grid.size, voxel) })
}

/// The smallest and the largest.
pub fn range(numbers: &[f32]) -> [f32; 2] {
    let none = || [f32::INFINITY, f32::NEG_INFINITY];
    numbers
        .par_iter()
        .with_min_len(1 << 12)
        .fold(none, |[low, high], &v| [low.min(v), high.max(v)])
        .reduce(none, |a, b| [a[0].min(b[0]), a[1].max(b[1])])
}

pub fn moved(grid: &Grid, image: &crate::Volume, map: &Affine) -> Vec<f32> {
    let size = image.geometry.size.map(|n| n as u32);
    each(grid.size, |voxel, number| {
        let position = flow::position(map, voxel, displacement(grid, number));
        // SAFETY: the image is as large as its geometry says.
        unsafe { interpolate::at(|i| image.voxels[i], size, position, Interpolator::Linear) }
    })
}

/// See [`crate::backend::Flow::inverse`].
pub fn inverse(grid: &Grid, spacing_mm: [f32; 3], size: [u32; 3], there: &Affine, back: &Affine) -> FlowInverse {
    let voxels = size.iter().map(|&n| n as usize).product::<usize>();
    let mut planes = vec![0.0; 3 * voxels];
    let width = size[0] as usize;
    pieces(&mut planes, width, |first, [xs, ys, zs]| {
        for i in 0..xs.len() {
            let to = flow::through(back, voxel(size, first * width + i).map(|n| n as f32));
            // SAFETY: the field has its padding.
            [xs[i], ys[i], zs[i]] = unsafe { flow::way_back(|i| grid.number(i), grid.size, to) };
        }
    });
    planes.resize(planes.len() + interpolate::padding(size), 0.0);
    let back_field = Grid { size, field: &planes };
    let error = |number: usize| {
        let (voxel, displacement) = (voxel(grid.size, number), displacement(grid, number));
        let maps = [there, back];
        // SAFETY: the field has its padding.
        unsafe { flow::there_and_back(|i| back_field.number(i), size, maps, voxel, displacement, spacing_mm) }
    };
    let sum = |(sum, count, worst): (u64, u64, f32), error: Option<f32>| match error {
        Some(error) => (sum + u64::from(flow::fixed_mm(error)), count + 1, worst.max(error)),
        None => (sum, count, worst),
    };
    let none = || (0, 0, 0.0_f32);
    let errors = (0..grid.voxels()).into_par_iter().with_min_len(1 << 12).map(error).fold(none, sum);
    let (sum, count, worst) = errors.reduce(none, |a, b| (a.0 + b.0, a.1 + b.1, a.2.max(b.2)));
    planes.truncate(3 * voxels);
    FlowInverse { planes, mean_mm: flow::mean(sum, flow::MM_UNIT, count), worst_mm: f64::from(worst) }
}
