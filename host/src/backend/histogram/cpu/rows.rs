//! Counts the joint histogram on the CPU, by rows of the fixed image.

// Loops over lanes index several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::partial_volume;
use super::task::HistogramTask;
use crate::backend::lanes::simd::widest;
use crate::backend::lanes::{CHUNK, Lanes, positions, values};
use gpu::math::interpolate::Interpolator;
use gpu::math::{bin, eight_bit};
use std::ops::Range;

/// Adds the samples of some rows to `counters`.
pub fn add_rows(task: &HistogramTask, rows: Range<usize>, counters: &mut [u32]) {
    match task.interpolator {
        Interpolator::Nearest => count_nearest(task, rows, counters),
        Interpolator::Linear if bin::fine(task.bins[1]) => count_fine_linear(task, rows, counters),
        Interpolator::Linear => count_linear(task, rows, counters),
        Interpolator::CatmullRom => count_catmull_rom(task, rows, counters),
        Interpolator::BSpline => count_b_spline(task, rows, counters),
        Interpolator::PartialVolume => partial_volume::count(task, rows, counters),
    }
}

widest! {
    fn count_nearest(task: &HistogramTask, rows: Range<usize>, counters: &mut [u32]) {
        count::<NEAREST>(task, rows, counters);
    }
}

widest! {
    fn count_linear(task: &HistogramTask, rows: Range<usize>, counters: &mut [u32]) {
        count::<LINEAR>(task, rows, counters);
    }
}

widest! {
    fn count_fine_linear(task: &HistogramTask, rows: Range<usize>, counters: &mut [u32]) {
        count::<FINE_LINEAR>(task, rows, counters);
    }
}

widest! {
    fn count_catmull_rom(task: &HistogramTask, rows: Range<usize>, counters: &mut [u32]) {
        count::<CATMULL_ROM>(task, rows, counters);
    }
}

widest! {
    fn count_b_spline(task: &HistogramTask, rows: Range<usize>, counters: &mut [u32]) {
        count::<B_SPLINE>(task, rows, counters);
    }
}

// Interpolators as constants, for each of which the loops are compiled.
const NEAREST: u32 = Interpolator::Nearest as u32;
const LINEAR: u32 = Interpolator::Linear as u32;
const CATMULL_ROM: u32 = Interpolator::CatmullRom as u32;
const B_SPLINE: u32 = Interpolator::BSpline as u32;
/// Linear interpolation of 16-bit values.
const FINE_LINEAR: u32 = 100;

/// Counts with the interpolator `HOW`. That is a constant and not a closure, because a closure would not be compiled
/// for the caller's instruction set.
#[inline(always)]
fn count<const HOW: u32>(task: &HistogramTask, rows: Range<usize>, counters: &mut [u32]) {
    assert!(counters.len() == task.counters());
    let [width, height, _] = task.fixed_size;
    for row in rows {
        let [y, z] = [row % height, row / height].map(|n| n as u32);
        let (chunks, rest) = task.fixed[row * width..][..width].as_chunks::<CHUNK>();
        for (fixed, terms) in chunks.iter().zip(&task.columns) {
            for pair in pairs::<HOW>(task, terms, y, z, fixed) {
                counters[pair as usize] += 1;
            }
        }
        if let Some(terms) = task.columns.get(chunks.len()) {
            let mut fixed = [0; CHUNK];
            fixed[..rest.len()].copy_from_slice(rest);
            for &pair in &pairs::<HOW>(task, terms, y, z, &fixed)[..rest.len()] {
                counters[pair as usize] += 1;
            }
        }
    }
}

/// The joint indices of a chunk. Samples outside the moving image or the mask have the index after the last pair.
#[inline(always)]
fn pairs<const HOW: u32>(
    task: &HistogramTask,
    terms: &[Lanes; 3],
    y: u32,
    z: u32,
    fixed: &[u16; CHUNK],
) -> [u32; CHUNK] {
    let (positions, inside) = positions(&task.affine, task.moving_size, terms, y, z);
    let (values, full) = match HOW {
        NEAREST => (values::nearest(task.moving, task.moving_size, &positions), bin::FULL),
        LINEAR => (values::linear(task.words, task.moving_size, &positions), eight_bit::FULL),
        FINE_LINEAR => (values::fine_linear(task.moving, task.moving_size, &positions), bin::FULL),
        _ => (values::cubic::<HOW>(task.cubic, task.moving_size, &positions), bin::FULL),
    };
    let scale = bin::scale(task.bins[1], full);
    let mut pairs = [0; CHUNK];
    for l in 0..CHUNK {
        // SAFETY: interpolated values are in the range of the stored ones.
        let pair = unsafe { bin::pair(u32::from(fixed[l]), task.bins[0], values[l], scale, 0) };
        pairs[l] = if inside[l] & (u32::from(fixed[l]) < task.bins[0]) { pair } else { task.bins[0] * task.bins[1] };
    }
    pairs
}
