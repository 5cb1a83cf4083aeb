//! The local correlation of the fixed and the displaced moving image, and its forces.

// Loops over lanes index several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::task::{FlowTask, ForceOutput, chunk, fractions, put, rows, store, store_forces};
use crate::backend::gaussian::cpu as gaussian;
use crate::backend::lanes::simd::widest;
use crate::backend::lanes::values::{fine_linear, linear_slope};
use crate::backend::lanes::{CHUNK, Lanes};
use crate::threads::{mapped, should_continue};
use gpu::math::bin;
use gpu::math::flow::{self, Moments, VoxelForce};
use rayon::prelude::*;

/// The local mean and variance of the fixed image, as two planes.
pub fn of_fixed(fixed: &[u16], size: [usize; 3], sigmas: [f64; 3]) -> Vec<f32> {
    let value = |&value: &u16| f32::from(value) / bin::FULL;
    let mut planes = mapped(fixed, 0, value);
    let squares = mapped(&planes, 0, |value| value * value);
    planes.extend(squares);
    gaussian::smooth(&mut planes, size, sigmas);
    let (means, squares) = planes.split_at_mut(fixed.len());
    squares.par_iter_mut().zip(means).for_each(|(square, mean)| *square = flow::variance(*mean, *square));
    planes
}

widest! {
    /// Writes m, m^2 and f m, of the fixed intensity f and the moving one m, into three planes, from row `first` on.
    pub fn products(task: &FlowTask, first: usize, planes: [&mut [f32]; 3]) {
        let width = task.grid.size[0] as usize;
        for (row, mut planes) in rows(planes, width).enumerate() {
            for x in (0..width).step_by(CHUNK) {
                let (positions, inside) = task.positions(first + row, x);
                let mut moving = fractions(fine_linear(task.moving, task.moving_size, &positions));
                let fixed = fractions(task.fixed(first + row, x));
                let (mut square, mut product) = ([0.0; CHUNK], [0.0; CHUNK]);
                for l in 0..CHUNK {
                    moving[l] = if inside[l] { moving[l] } else { 0.0 };
                    square[l] = moving[l] * moving[l];
                    product[l] = fixed[l] * moving[l];
                }
                store(&mut planes, x, &[moving, square, product]);
            }
        }
    }
}

/// Local means of both images.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    /// The result of [`of_fixed`].
    pub fixed: &'a [f32],
    /// The smoothed result of [`products`].
    pub moving: &'a [f32],
}

impl Means<'_> {
    #[inline(always)]
    fn chunk(&self, width: usize, row: usize, x: usize) -> [Lanes; 5] {
        let voxels = self.fixed.len() / 2;
        let fixed = |plane: usize| chunk(&self.fixed[plane * voxels..][..voxels], width, row, x);
        let moving = |plane: usize| chunk(&self.moving[plane * voxels..][..voxels], width, row, x);
        [fixed(0), fixed(1), moving(0), moving(1), moving(2)]
    }
}

/// The sum of the squared local correlation, in units of 1 / [`flow::CORRELATION_UNIT`], and the number of voxels that
/// count.
pub fn correlation(task: &FlowTask, means: &Means) -> (u64, u64) {
    let rows = (0..task.rows()).into_par_iter().with_min_len(64).take_any_while(|_| should_continue());
    rows.map(|row| correlation_of(task, means, row)).reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
}

widest! {
    fn correlation_of(task: &FlowTask, means: &Means, row: usize) -> (u64, u64) {
        let (mut sum, mut count) = (0, 0);
        for x in (0..task.grid.size[0] as usize).step_by(CHUNK) {
            let (_, counts) = task.counted(row, x);
            let means = means.chunk(task.grid.size[0] as usize, row, x);
            for l in 0..CHUNK {
                // The correlation does not depend on the intensities passed here; only the score, which is not used,
                // does.
                let (correlation, _) = moments(&means, l).score([0.0; 2]);
                sum += if counts[l] { u64::from(flow::fixed_correlation(correlation)) } else { 0 };
                count += u64::from(counts[l]);
            }
        }
        (sum, count)
    }
}

#[inline(always)]
fn moments(means: &[Lanes; 5], l: usize) -> Moments {
    Moments {
        fixed: means[0][l],
        fixed_variance: means[1][l],
        moving: means[2][l],
        moving_square: means[3][l],
        product: means[4][l],
    }
}

widest! {
    /// Writes or adds forces (three planes) and precisions (one plane) to the rows from `first` on. Without `kept`, the
    /// smoothed [`products`] are read from the planes of force.
    pub fn write_forces(
        task: &FlowTask,
        of_fixed: &[f32],
        kept: Option<&[f32]>,
        output: ForceOutput,
        first: usize,
        planes: [&mut [f32]; 4],
    ) {
        let width = task.grid.size[0] as usize;
        let voxels = task.grid.voxels();
        for (row, mut planes) in rows(planes, width).enumerate() {
            for x in (0..width).step_by(CHUNK) {
                let of = |means: &[f32], plane: usize| chunk(&means[plane * voxels..][..voxels], width, first + row, x);
                let moving = |plane: usize| match kept {
                    Some(means) => of(means, plane),
                    None => chunk(planes[plane], width, 0, x),
                };
                let means = [of(of_fixed, 0), of(of_fixed, 1), moving(0), moving(1), moving(2)];
                store_forces(&mut planes, x, &chunk_forces(task, &means, output.per_square, (first + row, x)), output);
            }
        }
    }
}

#[inline(always)]
fn chunk_forces(task: &FlowTask, means: &[Lanes; 5], per_square: [f32; 3], (row, x): (usize, usize)) -> [Lanes; 4] {
    let (positions, counts) = task.counted(row, x);
    let (moving, slopes) = linear_slope(task.moving, task.moving_size, &positions);
    let (fixed, moving) = (fractions(task.fixed(row, x)), fractions(moving));
    let slopes = slopes.map(fractions);
    let mut out = [[0.0; CHUNK]; 4];
    for l in 0..CHUNK {
        let (_, score) = moments(means, l).score([fixed[l], moving[l]]);
        let gradient = flow::gradient_on_fixed_grid(&task.map, [slopes[0][l], slopes[1][l], slopes[2][l]]);
        let force = flow::voxel_force(score, gradient, per_square);
        put(&mut out, l, if counts[l] { force } else { VoxelForce::NONE });
    }
    out
}
