//! The CPU's joint histogram, a row of the fixed image at a time, in chunks that the compiler turns into vector instructions.

use super::simd::widest;
use crate::backend::Pair;
use gpu::math::{affine, bin, interpolate};
use gpu::params::Affine;
use std::ops::Range;

/// Samples that go through each step together.
const CHUNK: usize = 16;

/// What a run over rows needs to know.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    pub fixed: &'a [u8],
    pub fixed_size: [usize; 3],
    pub moving: &'a [u16],
    pub moving_size: [usize; 3],
    pub bins: [u32; 2],
    pub affine: Affine,
}

impl<'a> Task<'a> {
    /// A run over `pair` through `affine`.
    pub fn new(pair: &Pair<'a>, affine: &Affine) -> Self {
        let (fixed, moving) = (pair.fixed, pair.moving);
        assert!(
            fixed.bins.len() == fixed.size.iter().product::<usize>()
                && moving.values.len() == moving.size.iter().product::<usize>()
        );
        assert!(moving.size.iter().all(|&n| n >= 2), "cells need two voxels along each axis");
        Self {
            fixed: &fixed.bins,
            fixed_size: fixed.size,
            moving: &moving.values,
            moving_size: moving.size,
            bins: pair.bins,
            affine: *affine,
        }
    }

    /// Rows of the fixed image, numbered with y fastest, then z.
    pub fn rows(&self) -> usize {
        self.fixed_size[1] * self.fixed_size[2]
    }

    /// Counters that [`Task::count`] needs: one more than the histogram has, for samples outside.
    pub fn counters(&self) -> usize {
        (self.bins[0] * self.bins[1]) as usize + 1
    }

    /// Adds the samples of some rows to `counters`.
    pub fn count(&self, rows: Range<usize>, counters: &mut [u32]) {
        count(self, rows, counters);
    }
}

widest! {
    fn count(task: &Task, rows: Range<usize>, counters: &mut [u32]) {
        assert!(counters.len() == task.counters());
        let [width, height, _] = task.fixed_size;
        for row in rows {
            let base = affine::row(&task.affine, (row % height) as u32, (row / height) as u32);
            let mut chunks = task.fixed[row * width..][..width].chunks_exact(CHUNK);
            let mut x = 0;
            for chunk in &mut chunks {
                let mut fixed = [0; CHUNK];
                fixed.copy_from_slice(chunk);
                for index in indices(task, base, x, &fixed) {
                    counters[index as usize] += 1;
                }
                x += CHUNK as u32;
            }
            let rest = chunks.remainder();
            let mut fixed = [0; CHUNK];
            fixed[..rest.len()].copy_from_slice(rest);
            for &index in &indices(task, base, x, &fixed)[..rest.len()] {
                counters[index as usize] += 1;
            }
        }
    }
}

/// The joint indices of a chunk; those outside get the counter after the last.
#[inline(always)]
fn indices(task: &Task, base: [f32; 3], x: u32, fixed: &[u8; CHUNK]) -> [u32; CHUNK] {
    let last = task.moving_size.map(|n| (n - 1) as f32);
    let [stride_y, stride_z] = [task.moving_size[0] as i32, (task.moving_size[0] * task.moving_size[1]) as i32];
    let mut fraction = [[0.0_f32; CHUNK]; 3];
    let mut inside = [false; CHUNK];
    let mut first = [0_i32; CHUNK];
    for l in 0..CHUNK {
        let position = affine::along(&task.affine, base, x + l as u32);
        inside[l] = interpolate::inside(position, last);
        // SAFETY: clamped.
        let cells = [0, 1, 2].map(|a| unsafe { interpolate::cell(interpolate::clamp(position[a], last[a]), last[a]) });
        first[l] = cells[0].index + cells[1].index * stride_y + cells[2].index * stride_z;
        for axis in 0..3 {
            fraction[axis][l] = cells[axis].fraction;
        }
    }
    let pairs = [0, stride_y, stride_z, stride_y + stride_z].map(|offset| {
        let mut pairs = [0_u32; CHUNK];
        for l in 0..CHUNK {
            // SAFETY: a cell's index is at most size - 2 along each axis.
            pairs[l] =
                unsafe { task.moving.as_ptr().offset((first[l] + offset) as isize).cast::<u32>().read_unaligned() };
        }
        pairs
    });
    let scale = bin::scale(task.bins[1]);
    let mut joint = [0; CHUNK];
    for l in 0..CHUNK {
        let low = |row: usize| (pairs[row][l] & 0xFFFF) as i32 as f32;
        let high = |row: usize| (pairs[row][l] >> 16) as i32 as f32;
        let corners = [low(0), high(0), low(1), high(1), low(2), high(2), low(3), high(3)];
        let value = interpolate::linear(corners, [fraction[0][l], fraction[1][l], fraction[2][l]]);
        let index = u32::from(fixed[l]) + task.bins[0] * bin::of(value, scale);
        joint[l] = if inside[l] { index } else { task.bins[0] * task.bins[1] };
    }
    joint
}
