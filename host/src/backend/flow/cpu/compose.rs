//! Makes the update field of a step, and composes it with the field.

// Loops over lanes index several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::task::{FieldView, chunk, pieces, rows, store};
use crate::backend::lanes::simd::widest;
use crate::backend::lanes::{CHUNK, Lanes};
use gpu::math::field;
use gpu::math::flow::{self, VoxelForce};
use gpu::math::interpolate::lerp;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

/// Turns smoothed forces (three planes) and precisions (one plane) into the update field, in place of the forces.
/// Returns the square of its largest displacement.
pub fn update(planes: &mut [f32], prior: f32) -> f32 {
    let largest = AtomicU32::new(0);
    pieces(planes, 1, |_, planes| {
        // Non-negative floats are ordered as their bits are.
        largest.fetch_max(update_piece(planes, prior).to_bits(), Ordering::Relaxed);
    });
    f32::from_bits(largest.into_inner())
}

widest! {
    fn update_piece(planes: [&mut [f32]; 4], prior: f32) -> f32 {
        let [xs, ys, zs, precisions] = planes;
        let mut most = 0.0;
        for (((x, y), z), &mut precision) in xs.iter_mut().zip(ys).zip(zs).zip(precisions) {
            let step = flow::update(VoxelForce { force: [*x, *y, *z], precision }, prior);
            [*x, *y, *z] = step;
            let square = field::dot(step, step);
            most = if square > most { square } else { most };
        }
        most
    }
}

/// Writes the field after a step as three planes. `largest` is the square of the step's largest displacement. The step
/// is shortened so that no voxel moves by more than `limit` voxels, then multiplied by `share`.
pub fn compose(grid: &FieldView, step: &[f32], (largest, limit, share): (f32, f32, f32), out: &mut [f32]) {
    let factor = share * flow::limited(largest, limit);
    // A step of less than a voxel ends in one of the eight cells around the voxel. All steps that a flow takes are that
    // short.
    let short = factor * largest.sqrt() < 0.9;
    pieces(out, grid.size[0] as usize, |first, planes| compose_rows(grid, step, (factor, short), first, planes));
}

widest! {
    fn compose_rows(
        grid: &FieldView, step: &[f32], how: (f32, bool), first: usize, planes: [&mut [f32]; 3],
    ) {
        let (factor, short) = how;
        let [width, height, depth] = grid.size.map(|n| n as usize);
        let voxels = grid.voxels();
        for (row, mut planes) in rows(planes, width).enumerate() {
            let row = first + row;
            let (y, z) = (row % height, row / height);
            let inner = short && (1..height - 1).contains(&y) && (1..depth - 1).contains(&z);
            for x in (0..width).step_by(CHUNK) {
                let mut step = [0, 1, 2].map(|plane: usize| chunk(&step[plane * voxels..][..voxels], width, row, x));
                for axis in &mut step {
                    for l in 0..CHUNK {
                        axis[l] *= factor;
                    }
                }
                let voxel = [x as u32, y as u32, z as u32];
                let inner = inner && x >= 1 && x + CHUNK < width;
                let moved = if inner { within_a_voxel(grid, &step, voxel) } else { anywhere(grid, &step, voxel) };
                store(&mut planes, x, &moved);
            }
        }
    }
}

#[inline(always)]
fn anywhere(grid: &FieldView, step: &[Lanes; 3], [x, y, z]: [u32; 3]) -> [Lanes; 3] {
    let mut out = [[0.0; CHUNK]; 3];
    for l in 0..CHUNK {
        let step = [step[0][l], step[1][l], step[2][l]];
        // SAFETY: the field has its padding.
        let moved = unsafe { flow::composed(|i| grid.number(i), grid.size, [x + l as u32, y, z], step) };
        for axis in 0..3 {
            out[axis][l] = moved[axis];
        }
    }
    out
}

/// As [`anywhere`], for voxels that are not on the border and steps of less than a voxel. Such a step ends in one of
/// the eight cells around the voxel. Instead of gathering the numbers at the corners of that cell, this reads the rows
/// of all 27 neighbours and selects between the lower and the upper cell along each axis.
#[inline(always)]
fn within_a_voxel(grid: &FieldView, step: &[Lanes; 3], voxel: [u32; 3]) -> [Lanes; 3] {
    let (mut fraction, mut below) = ([[0.0; CHUNK]; 3], [[false; CHUNK]; 3]);
    for axis in 0..3 {
        for l in 0..CHUNK {
            let here = if axis == 0 { (voxel[0] + l as u32) as f32 } else { voxel[axis] as f32 };
            let to = here + step[axis][l];
            below[axis][l] = to < here;
            fraction[axis][l] = to - if below[axis][l] { here - 1.0 } else { here };
        }
    }
    let [width, height, _] = grid.size.map(|n| n as usize);
    let [x, y, z] = voxel.map(|n| n as usize);
    let mut out = [[0.0; CHUNK]; 3];
    for plane in 0..3 {
        let mut along_z = [[0.0; CHUNK]; 3];
        for dz in 0..3 {
            let mut along_y = [[0.0; CHUNK]; 3];
            for dy in 0..3 {
                let row = plane * grid.voxels() + x - 1 + width * (y + dy - 1 + height * (z + dz - 1));
                let shifted = |dx: usize| *grid.field[row + dx..].first_chunk().expect("the padding goes on");
                along_y[dy] = chosen(&[shifted(0), shifted(1), shifted(2)], &below[0], &fraction[0]);
            }
            along_z[dz] = chosen(&along_y, &below[1], &fraction[1]);
        }
        let there = chosen(&along_z, &below[2], &fraction[2]);
        for l in 0..CHUNK {
            out[plane][l] = flow::kept(step[plane][l] + there[l]);
        }
    }
    out
}

/// Interpolates between the first two of three numbers where the position is below the middle one, else between the
/// last two.
#[inline(always)]
fn chosen(numbers: &[Lanes; 3], below: &[bool; CHUNK], fraction: &Lanes) -> Lanes {
    let mut out = [0.0; CHUNK];
    for l in 0..CHUNK {
        let low = if below[l] { numbers[0][l] } else { numbers[1][l] };
        let high = if below[l] { numbers[1][l] } else { numbers[2][l] };
        out[l] = lerp(low, high, fraction[l]);
    }
    out
}

/// Subtracts planes from others.
pub fn subtract(planes: &mut [f32], others: &[f32]) {
    planes.par_iter_mut().zip(others).with_min_len(CHUNK << 8).for_each(|(number, other)| *number -= other);
}
