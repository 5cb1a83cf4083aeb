//! The joint histogram of the fixed and the displaced moving image, and the forces that follow from its tables.

// Loops over lanes index several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::task::{FlowTask, ForceOutput, put, rows, store_forces};
use crate::backend::lanes::simd::widest;
use crate::backend::lanes::values::{fine_linear, linear_slope};
use crate::backend::lanes::{CHUNK, Lanes};
use crate::threads::should_continue;
use gpu::math::bin;
use gpu::math::flow::{self, VoxelForce};
use rayon::prelude::*;
use std::ops::Range;

/// Voxels of a piece of work, about. Coarse levels have 2^17 voxels and fewer. Counters are made per thread, not per
/// piece.
const PIECE: usize = 1 << 13;

/// The joint counts: the pair (f, m) is at `f + bins * m`.
pub fn count(task: &FlowTask, bins: u32) -> Vec<u32> {
    let rows = PIECE.div_ceil(task.grid.size[0] as usize);
    let len = (bins * bins) as usize;
    // The last counter takes the voxels that don't count.
    let empty = || vec![0; len + 1];
    let pieces = (0..task.rows().div_ceil(rows)).into_par_iter().take_any_while(|_| should_continue());
    let mut counts = pieces
        .fold(empty, |mut counts, piece| {
            count_rows(task, bins, piece * rows..task.rows().min((piece + 1) * rows), &mut counts);
            counts
        })
        .reduce(empty, |mut sum, other| {
            sum.iter_mut().zip(other).for_each(|(sum, other)| *sum += other);
            sum
        });
    counts.truncate(len);
    counts
}

widest! {
    fn count_rows(task: &FlowTask, bins: u32, rows: Range<usize>, counts: &mut [u32]) {
        for row in rows {
            for x in (0..task.grid.size[0] as usize).step_by(CHUNK) {
                for pair in pairs(task, bins, row, x) {
                    counts[pair as usize] += 1;
                }
            }
        }
    }
}

/// The joint indices of a chunk. Voxels that don't count have the index after the last pair.
#[inline(always)]
fn pairs(task: &FlowTask, bins: u32, row: usize, x: usize) -> [u32; CHUNK] {
    let (positions, counts) = task.counted(row, x);
    let moving = fine_linear(task.moving, task.moving_size, &positions);
    let fixed = task.fixed(row, x);
    let mut pairs = [0; CHUNK];
    for l in 0..CHUNK {
        // SAFETY: both are stored values, or interpolated between stored values.
        let pair = unsafe { flow::pair([fixed[l], moving[l]], bins) };
        pairs[l] = if counts[l] { pair } else { bins * bins };
    }
    pairs
}

/// The tables of [`flow::score`].
#[derive(Clone, Copy)]
pub struct Tables<'a> {
    pub bins: u32,
    pub scores: &'a [f32],
    pub information: &'a [f32],
}

widest! {
    /// Writes or adds forces (three planes) and precisions (one plane) to the rows from `first` on.
    pub fn write_forces(task: &FlowTask, tables: &Tables, output: ForceOutput, first: usize, planes: [&mut [f32]; 4]) {
        assert!(tables.scores.len() == (tables.bins * tables.bins) as usize);
        assert!(tables.information.len() == tables.bins as usize);
        let width = task.grid.size[0] as usize;
        for (row, mut planes) in rows(planes, width).enumerate() {
            for x in (0..width).step_by(CHUNK) {
                store_forces(&mut planes, x, &chunk_forces(task, tables, output.per_square, (first + row, x)), output);
            }
        }
    }
}

#[inline(always)]
fn chunk_forces(task: &FlowTask, tables: &Tables, per_square: [f32; 3], (row, x): (usize, usize)) -> [Lanes; 4] {
    let (positions, counts) = task.counted(row, x);
    let (moving, slopes) = linear_slope(task.moving, task.moving_size, &positions);
    let fixed = task.fixed(row, x);
    let scale = bin::scale(tables.bins, bin::FULL);
    let mut out = [[0.0; CHUNK]; 4];
    for l in 0..CHUNK {
        // SAFETY: the assertions of `write_forces` checked the lengths. Vector gathers take signed offsets.
        let scores = |i: u32| unsafe { *tables.scores.as_ptr().offset(i as i32 as isize) };
        // SAFETY: as above.
        let information = |i: u32| unsafe { *tables.information.as_ptr().offset(i as i32 as isize) };
        // SAFETY: both are stored values, or interpolated between stored values.
        let score = unsafe { flow::score(scores, information, tables.bins, [fixed[l], moving[l]]) };
        let gradient =
            flow::gradient_on_fixed_grid(&task.map, [slopes[0][l] * scale, slopes[1][l] * scale, slopes[2][l] * scale]);
        let force = flow::voxel_force(score, gradient, per_square);
        put(&mut out, l, if counts[l] { force } else { VoxelForce::NONE });
    }
    out
}
