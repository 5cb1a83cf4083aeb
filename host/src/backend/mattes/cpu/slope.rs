//! The derivative of Mattes mutual information by the map. Sums are in the order that [`gpu::math::mattes`] defines.

// Loops over lanes index several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::table::JointTable;
use super::task::{Chunk, MattesTask, values, windows};
use crate::backend::lanes::order::ordered;
use crate::backend::lanes::simd::widest;
use crate::backend::lanes::values::linear_slope;
use crate::backend::lanes::{CHUNK, Lanes, PIECE};
use crate::backend::mattes::Windows;
use crate::threads::should_continue;
use gpu::math::entropy::{LANES, fold};
use gpu::math::mattes::{self, BLOCK, RowSums};
use rayon::prelude::*;
use std::ops::Range;

/// The derivative by each of the map's twelve numbers.
type ByMap = [[f64; 4]; 3];

/// The derivative of the mutual information by the map's twelve numbers; 0 if there are no samples.
pub fn by_map(task: &MattesTask, table: &JointTable) -> ByMap {
    let quadratics = table.quadratics();
    let all = task.rows();
    let blocks = (0..all.div_ceil(BLOCK)).into_par_iter().with_min_len(PIECE.div_ceil(BLOCK * task.fixed_size[0]));
    let blocks: Vec<ByMap> = blocks
        .map(|block| {
            let mut rows = [[[0.0; 4]; 3]; BLOCK];
            if should_continue() {
                sum(task, &quadratics, block * BLOCK..all.min((block + 1) * BLOCK), &mut rows);
            }
            numbers(|r, i| fold(rows.map(|row| row[r][i])))
        })
        .collect();
    let samples = table.samples().max(1) as f64;
    numbers(|r, i| ordered(&blocks.iter().map(|block| block[r][i]).collect::<Vec<_>>()) / samples)
}

fn numbers(number: impl Fn(usize, usize) -> f64) -> ByMap {
    std::array::from_fn(|r| std::array::from_fn(|i| number(r, i)))
}

fn sum(task: &MattesTask, quadratics: &[[f32; 3]], rows: Range<usize>, sums: &mut [ByMap; BLOCK]) {
    match task.windows {
        Windows::Moving => sum_moving(task, quadratics, rows, sums),
        Windows::Both => sum_both(task, quadratics, rows, sums),
    }
}

widest! {
    fn sum_moving(task: &MattesTask, quadratics: &[[f32; 3]], rows: Range<usize>, sums: &mut [ByMap; BLOCK]) {
        sum_rows::<false>(task, quadratics, rows, sums);
    }
}

widest! {
    fn sum_both(task: &MattesTask, quadratics: &[[f32; 3]], rows: Range<usize>, sums: &mut [ByMap; BLOCK]) {
        sum_rows::<true>(task, quadratics, rows, sums);
    }
}

#[inline(always)]
fn sum_rows<const BOTH: bool>(
    task: &MattesTask,
    quadratics: &[[f32; 3]],
    rows: Range<usize>,
    sums: &mut [ByMap; BLOCK],
) {
    assert!(quadratics.len() == (task.bins[0] * task.stride()) as usize);
    for (row, sum) in rows.zip(sums) {
        let (mut ones, mut xs) = ([[0.0; LANES]; 3], [[0.0; LANES]; 3]);
        for n in 0..task.chunks() {
            let chunk = task.chunk::<BOTH>(row, n);
            let (moving, derivatives) = linear_slope(task.moving, task.moving_size, &chunk.positions);
            let slopes = slopes::<BOTH>(task, quadratics, &chunk, &moving);
            let half = n * CHUNK % LANES;
            for l in 0..CHUNK {
                let lane = half + l;
                let [of_ones, of_xs] = [&ones, &xs].map(|sums| [sums[0][lane], sums[1][lane], sums[2][lane]]);
                let mut sums = RowSums { ones: of_ones, xs: of_xs };
                sums.add((n * CHUNK + l) as u32, slopes[l], [derivatives[0][l], derivatives[1][l], derivatives[2][l]]);
                for axis in 0..3 {
                    (ones[axis][lane], xs[axis][lane]) = (sums.ones[axis], sums.xs[axis]);
                }
            }
        }
        let [y, z] = task.row(row);
        *sum = RowSums { ones: ones.map(fold), xs: xs.map(fold) }.by_map(y, z);
    }
}

/// The derivative of the metric by the moving value of each sample of a chunk; 0 for samples that are not counted.
#[inline(always)]
fn slopes<const BOTH: bool>(task: &MattesTask, quadratics: &[[f32; 3]], chunk: &Chunk, moving: &Lanes) -> Lanes {
    let (first, into) = windows(moving, task.bins[1]);
    let fixed = values(&chunk.fixed);
    let (fixed, fixed_into) =
        if BOTH { windows(&fixed, task.bins[0]) } else { (chunk.fixed.map(u32::from), [0.0; CHUNK]) };
    let mut index = [0; CHUNK];
    for l in 0..CHUNK {
        index[l] = if chunk.counted[l] { fixed[l] * task.stride() + first[l] } else { 0 };
    }
    let gather = |j: u32| gather(quadratics, &index, j * task.stride());
    let quadratic = if BOTH { mixed([gather(0), gather(1), gather(2), gather(3)], &fixed_into) } else { gather(0) };
    let mut slopes = [0.0; CHUNK];
    for l in 0..CHUNK {
        let slope = mattes::slope([quadratic[0][l], quadratic[1][l], quadratic[2][l]], into[l]);
        slopes[l] = if chunk.counted[l] { slope } else { 0.0 };
    }
    slopes
}

/// The quadratics `offset` from each index, by coefficient and lane.
#[inline(always)]
fn gather(quadratics: &[[f32; 3]], index: &[u32; CHUNK], offset: u32) -> [Lanes; 3] {
    let mut found = [[0.0; CHUNK]; 3];
    for i in 0..3 {
        for l in 0..CHUNK {
            let at = 3 * (index[l] + offset) + i as u32;
            // SAFETY: the first bin of a window is less than the stride, and fixed bins, or the four of a window, are
            // all in the table.
            found[i][l] = unsafe { *quadratics.as_ptr().cast::<f32>().offset(at as i32 as isize) };
        }
    }
    found
}

/// The mean of the quadratics of a fixed window's four bins, weighted by the window.
#[inline(always)]
fn mixed(quadratics: [[Lanes; 3]; 4], into: &Lanes) -> [Lanes; 3] {
    let mut found = [[0.0; CHUNK]; 3];
    for l in 0..CHUNK {
        let of_bins = [0, 1, 2, 3].map(|j: usize| [0, 1, 2].map(|i: usize| quadratics[j][i][l]));
        let mix = mattes::mix(of_bins, mattes::cubic(into[l]).0);
        for i in 0..3 {
            found[i][l] = mix[i];
        }
    }
    found
}
