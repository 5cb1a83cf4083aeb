//! Results that are computed from a finished field: its Jacobian, the moved image, the inverse field.

use super::task::{FieldView, pieces};
use crate::Volume;
use crate::backend::flow::FlowInverse;
use crate::backend::lanes::simd::widest;
use crate::image::voxel;
use crate::threads::{made_by_piece, should_continue};
use gpu::math::interpolate::{self, Interpolator};
use gpu::math::{field, flow, vectors};
use gpu::params::{Affine, VectorMaps};
use rayon::prelude::*;
use std::ops::Range;

/// Voxels of a piece of work.
const PIECE: usize = 1 << 14;

/// Computes a number for each voxel. `work` is called for each piece, with the index of its first voxel and the numbers
/// to write.
fn each<T: Copy + Default + Send + Sync>(voxels: usize, work: impl Fn(usize, &mut [T]) + Sync) -> Vec<T> {
    made_by_piece(voxels, PIECE, |piece, some| work(piece * PIECE, some))
}

/// The displacement of a voxel.
#[inline(always)]
fn displacement(grid: &FieldView, number: usize) -> [f32; 3] {
    let voxels = grid.voxels();
    [grid.field[number], grid.field[number + voxels], grid.field[number + 2 * voxels]]
}

pub fn jacobians(grid: &FieldView) -> Vec<f32> {
    each(grid.voxels(), |first, numbers| jacobians_of(grid, first, numbers))
}

widest! {
    fn jacobians_of(grid: &FieldView, first: usize, numbers: &mut [f32]) {
        for (i, number) in numbers.iter_mut().enumerate() {
            // SAFETY: the voxel is in the grid.
            *number = unsafe { field::jacobian(|i| grid.number(i), grid.size, voxel(grid.size, first + i)) };
        }
    }
}

/// The smallest and the largest number.
pub fn range(numbers: &[f32]) -> [f32; 2] {
    let none = || [f32::INFINITY, f32::NEG_INFINITY];
    numbers
        .par_iter()
        .with_min_len(1 << 12)
        .fold(none, |[low, high], &v| [low.min(v), high.max(v)])
        .reduce(none, |a, b| [a[0].min(b[0]), a[1].max(b[1])])
}

pub fn moved(grid: &FieldView, image: &Volume, map: &Affine) -> Vec<f32> {
    each(grid.voxels(), |first, numbers| moved_of(grid, image, map, first, numbers))
}

widest! {
    fn moved_of(grid: &FieldView, image: &Volume, map: &Affine, first: usize, numbers: &mut [f32]) {
        let size = image.geometry.size.map(|n| n as u32);
        for (i, number) in numbers.iter_mut().enumerate() {
            let position = flow::position(map, voxel(grid.size, first + i), displacement(grid, first + i));
            // SAFETY: the image is as large as its geometry says.
            *number = unsafe { interpolate::at(|i| image.voxels[i], size, position, Interpolator::Linear) };
        }
    }
}

/// The displacement vectors of all voxels, in mm.
pub fn vectors(grid: &FieldView, maps: &VectorMaps) -> Vec<[f32; 3]> {
    each(grid.voxels(), |first, vectors| {
        for (number, vector) in (first..).zip(vectors) {
            *vector = vectors::vector(maps, voxel(grid.size, number), displacement(grid, number));
        }
    })
}

/// See [`crate::backend::Flow::inverse`].
pub fn inverse(
    grid: &FieldView,
    spacing_mm: [f32; 3],
    size: [u32; 3],
    maps: ([&Affine; 2], &VectorMaps),
) -> FlowInverse {
    let voxels = size.iter().map(|&n| n as usize).product::<usize>();
    let mut planes = vec![0.0; 3 * voxels];
    let width = size[0] as usize;
    pieces(&mut planes, width, |first, planes| inverse_rows(grid, size, maps.0[1], first * width, planes));
    known_inverse(grid, spacing_mm, (planes, size), maps)
}

/// The inverse of a field whose planes have been computed already: see [`crate::backend::Flow::inverse`].
pub fn known_inverse(
    grid: &FieldView,
    spacing_mm: [f32; 3],
    (mut planes, size): (Vec<f32>, [u32; 3]),
    (maps, vector_maps): ([&Affine; 2], &VectorMaps),
) -> FlowInverse {
    planes.resize(planes.len() + interpolate::padding(size), 0.0);
    let ways = FieldView { size, field: &planes };
    let pieces = (0..grid.voxels().div_ceil(PIECE)).into_par_iter().take_any_while(|_| should_continue());
    let errors = pieces.map(|piece| {
        let end = grid.voxels().min((piece + 1) * PIECE);
        inverse_errors(grid, &ways, maps, spacing_mm, piece * PIECE..end)
    });
    let errors = errors.reduce(InverseErrors::default, InverseErrors::add);
    FlowInverse {
        vectors: vectors(&ways, vector_maps),
        mean_mm: flow::mean(errors.sum, flow::MM_UNIT, errors.count),
        worst_mm: f64::from(errors.worst),
    }
}

/// Three planes on a grid of `size`: see [`flow::combined_displacement`].
pub fn across(fields: [&FieldView; 2], size: [u32; 3], maps: [&Affine; 3]) -> Vec<f32> {
    let voxels = size.iter().map(|&n| n as usize).product::<usize>();
    let mut planes = vec![0.0; 3 * voxels];
    let width = size[0] as usize;
    pieces(&mut planes, width, |first, planes| across_rows(fields, size, maps, first * width, planes));
    planes
}

widest! {
    fn across_rows(fields: [&FieldView; 2], size: [u32; 3], maps: [&Affine; 3], first: usize, planes: [&mut [f32]; 3]) {
        let [xs, ys, zs] = planes;
        let [one, two] = fields;
        for i in 0..xs.len() {
            // SAFETY: the fields have their padding.
            [xs[i], ys[i], zs[i]] = unsafe {
                let voxel = voxel(size, first + i);
                flow::combined_displacement(|i| one.number(i), |i| two.number(i), one.size, maps, voxel)
            };
        }
    }
}

widest! {
    fn inverse_rows(grid: &FieldView, size: [u32; 3], back: &Affine, first: usize, planes: [&mut [f32]; 3]) {
        let [xs, ys, zs] = planes;
        for i in 0..xs.len() {
            let to = flow::through(back, voxel(size, first + i).map(|n| n as f32));
            // SAFETY: the field has its padding.
            [xs[i], ys[i], zs[i]] = unsafe { flow::inverse_displacement(|i| grid.number(i), grid.size, to) };
        }
    }
}

/// Inverse consistency errors: how far from a voxel the field and then its inverse end, in mm.
#[derive(Default)]
struct InverseErrors {
    /// In units of 1 / [`flow::MM_UNIT`] mm.
    sum: u64,
    count: u64,
    worst: f32,
}

impl InverseErrors {
    fn add(self, other: Self) -> Self {
        Self { sum: self.sum + other.sum, count: self.count + other.count, worst: self.worst.max(other.worst) }
    }
}

widest! {
    fn inverse_errors(
        grid: &FieldView, ways: &FieldView, maps: [&Affine; 2], spacing_mm: [f32; 3], voxels: Range<usize>,
    ) -> InverseErrors {
        let mut errors = InverseErrors::default();
        for number in voxels {
            let (voxel, displacement) = (voxel(grid.size, number), displacement(grid, number));
            // SAFETY: the field has its padding.
            let error = unsafe {
                flow::there_and_back(|i| ways.number(i), ways.size, maps, voxel, displacement, spacing_mm)
            };
            if let Some(error) = error {
                errors.sum += u64::from(flow::fixed_mm(error));
                errors.count += 1;
                errors.worst = errors.worst.max(error);
            }
        }
        errors
    }
}
