//! Counts the joint histogram with partial volume interpolation, on the CPU: see [`gpu::math::partial_volume`].

use super::task::HistogramTask;
use crate::backend::lanes::simd::widest;
use gpu::math::partial_volume::{ROWS, pairs, weights};
use gpu::math::{affine, bin, interpolate};
use std::ops::Range;

widest! {
    /// Adds the samples of some rows to `counters`.
    pub fn count(task: &HistogramTask, rows: Range<usize>, counters: &mut [u32]) {
        let [width, height, _] = task.fixed_size;
        for row in rows {
            let [y, z] = [row % height, row / height].map(|n| n as u32);
            for (x, &fixed) in task.fixed[row * width..][..width].iter().enumerate() {
                let position = affine::position(&task.affine, [x as u32, y, z]);
                let inside = interpolate::inside(position, interpolate::last(task.moving_size));
                if inside && u32::from(fixed) < task.bins[0] {
                    add(task, u32::from(fixed), position, counters);
                }
            }
        }
    }
}

/// Adds one sample at a position inside the moving image.
#[inline(always)]
fn add(task: &HistogramTask, fixed: u32, position: [f32; 3], counters: &mut [u32]) {
    let size = task.moving_size;
    // SAFETY: the position is inside.
    let place = unsafe { interpolate::place(position, size) };
    for row in 0..ROWS {
        let at = (place.index + (row & 1) * size[0] + (row >> 1) * size[0] * size[1]) as usize;
        let word = u32::from(task.moving[at]) | u32::from(task.moving[at + 1]) << 16;
        let pairs = pairs(fixed, task.bins[0], word, bin::scale(task.bins[1], bin::FULL), 0);
        let weights = weights(place.fraction, task.unit, row);
        counters[pairs[0] as usize] += weights[0];
        counters[pairs[1] as usize] += weights[1];
    }
}
