//! A step's largest move, the field after it, and a field on another grid.

// Loops over lanes run along several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::task::{Grid, chunk, pieces, store};
use crate::backend::cpu::rows::{CHUNK, Lanes};
use crate::backend::cpu::simd::widest;
use gpu::math::{field, flow};
use rayon::prelude::*;

/// The square of the largest move of three planes.
pub fn largest(planes: &[f32]) -> f32 {
    let voxels = planes.len() / 3;
    let squares = (0..voxels.div_ceil(1 << 14)).into_par_iter().map(|piece| {
        let range = piece << 14..voxels.min((piece + 1) << 14);
        let plane = |plane: usize| &planes[plane * voxels..][range.clone()];
        largest_of(plane(0), plane(1), plane(2))
    });
    squares.reduce(|| 0.0, f32::max)
}

widest! {
    fn largest_of(xs: &[f32], ys: &[f32], zs: &[f32]) -> f32 {
        let mut most = 0.0;
        for ((&x, &y), &z) in xs.iter().zip(ys).zip(zs) {
            let square = field::dot([x, y, z], [x, y, z]);
            most = if square > most { square } else { most };
        }
        most
    }
}

/// Writes the field after `factor` times a step, three planes.
pub fn compose(grid: &Grid, step: &[f32], factor: f32, out: &mut [f32]) {
    pieces(out, grid.size[0] as usize, |first, planes| compose_rows(grid, step, factor, first, planes));
}

widest! {
    fn compose_rows(grid: &Grid, step: &[f32], factor: f32, first: usize, planes: [&mut [f32]; 3]) {
        let width = grid.size[0] as usize;
        let height = grid.size[1] as usize;
        let voxels = grid.voxels();
        let [xs, ys, zs] = planes;
        let rows = xs.chunks_exact_mut(width).zip(ys.chunks_exact_mut(width)).zip(zs.chunks_exact_mut(width));
        for (row, ((xs, ys), zs)) in rows.enumerate() {
            let row = first + row;
            let [y, z] = [row % height, row / height].map(|n| n as u32);
            for x in (0..width).step_by(CHUNK) {
                let step = [0, 1, 2].map(|plane: usize| chunk(&step[plane * voxels..][..voxels], width, row, x));
                let [a, b, c] = composed(grid, factor, &step, [x as u32, y, z]);
                store(xs, x, &a);
                store(ys, x, &b);
                store(zs, x, &c);
            }
        }
    }
}

#[inline(always)]
fn composed(grid: &Grid, factor: f32, step: &[Lanes; 3], [x, y, z]: [u32; 3]) -> [Lanes; 3] {
    let mut out = [[0.0; CHUNK]; 3];
    for l in 0..CHUNK {
        let step = [factor * step[0][l], factor * step[1][l], factor * step[2][l]];
        // SAFETY: the field has its padding.
        let moved = unsafe { flow::composed(|i| grid.number(i), grid.size, [x + l as u32, y, z], step) };
        for axis in 0..3 {
            out[axis][l] = moved[axis];
        }
    }
    out
}

/// Writes a field on a grid of `size` from that of another: see [`flow::refined`].
pub fn refine(old: &Grid, from: [[f32; 3]; 2], size: [u32; 3], out: &mut [f32]) {
    let [width, height] = [size[0] as usize, size[1] as usize];
    pieces(out, width, |first, [xs, ys, zs]| {
        for i in 0..xs.len() {
            let row = first + i / width;
            let voxel = [i % width, row % height, row / height].map(|n| n as u32);
            // SAFETY: the field has its padding.
            [xs[i], ys[i], zs[i]] = unsafe { flow::refined(|i| old.number(i), old.size, voxel, from) };
        }
    });
}
