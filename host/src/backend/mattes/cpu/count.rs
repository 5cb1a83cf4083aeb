//! Counts the joint histogram with B-spline windows.
//!
//! The weights of a moving window's four bins are added as one vector. Counters are kept as a vector for each first bin
//! of a window, not as one counter per bin. Vectors in memory therefore never overlap, and no load spans parts of two
//! vectors that were stored before.

// Loops over lanes index several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::task::{MattesTask, values, windows};
use crate::backend::lanes::CHUNK;
use crate::backend::lanes::simd::widest;
use crate::backend::lanes::values::fine_linear;
use crate::backend::mattes::Windows;
use gpu::math::mattes::{self, FILL};
use std::ops::Range;

/// The weights of a window's four bins.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(16))]
struct Weights([u32; 4]);

/// The counters of a thread.
pub struct WindowCounters {
    /// For each fixed bin, one vector for each first bin of a moving window. Four more fixed bins take the samples that
    /// are not counted.
    windows: Vec<Weights>,
    /// Samples added to `windows` since the last flush, at most [`FILL`].
    filled: usize,
    /// The sums of flushed windows.
    sums: Vec<[u64; 4]>,
}

impl WindowCounters {
    pub fn new(task: &MattesTask) -> Self {
        let len = ((task.bins[0] + 4) * task.stride()) as usize;
        Self { windows: vec![Weights::default(); len], filled: 0, sums: vec![[0; 4]; len] }
    }

    /// Adds the samples of some rows. The rows have at most [`FILL`] samples.
    pub fn add_rows(&mut self, task: &MattesTask, rows: Range<usize>) {
        let samples = rows.len() * task.chunks() * CHUNK;
        if self.filled + samples > FILL as usize {
            self.flush();
        }
        self.filled += samples;
        match task.windows {
            Windows::Moving => count_moving(task, rows, &mut self.windows),
            Windows::Both => count_both(task, rows, &mut self.windows),
        }
    }

    /// Adds up the counts of both.
    pub fn add(mut self, mut other: Self) -> Self {
        self.flush();
        other.flush();
        let sums = self.sums.as_flattened_mut().iter_mut();
        sums.zip(other.sums.as_flattened()).for_each(|(sum, other)| *sum += other);
        self
    }

    /// The joint counts, with the pair of bins (f, m) at `m + moving_bins * f`.
    pub fn joint(mut self, task: &MattesTask) -> Vec<u64> {
        self.flush();
        let [fixed, moving] = task.bins.map(|n| n as usize);
        let mut joint = vec![0; fixed * moving];
        for (row, windows) in joint.chunks_exact_mut(moving).zip(self.sums.chunks_exact(task.stride() as usize)) {
            for (first, window) in windows.iter().enumerate() {
                row[first..][..4].iter_mut().zip(window).for_each(|(count, weight)| *count += weight);
            }
        }
        joint
    }

    fn flush(&mut self) {
        for (sums, weights) in self.sums.iter_mut().zip(&mut self.windows) {
            let Weights(weights) = std::mem::take(weights);
            sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += u64::from(weight));
        }
        self.filled = 0;
    }
}

widest! {
    fn count_moving(task: &MattesTask, rows: Range<usize>, counters: &mut [Weights]) {
        count::<false>(task, rows, counters);
    }
}

widest! {
    fn count_both(task: &MattesTask, rows: Range<usize>, counters: &mut [Weights]) {
        count::<true>(task, rows, counters);
    }
}

#[inline(always)]
fn count<const BOTH: bool>(task: &MattesTask, rows: Range<usize>, counters: &mut [Weights]) {
    for row in rows {
        for n in 0..task.chunks() {
            let chunk = task.chunk::<BOTH>(row, n);
            let moving = fine_linear(task.moving, task.moving_size, &chunk.positions);
            let (first, into) = windows(&moving, task.bins[1]);
            let weights = weights(&into);
            let (fixed, fixed_weights) = if BOTH {
                let (fixed, into) = windows(&values(&chunk.fixed), task.bins[0]);
                (fixed, self::weights(&into))
            } else {
                (chunk.fixed.map(u32::from), weights)
            };
            let mut index = [0; CHUNK];
            for l in 0..CHUNK {
                let fixed = if chunk.counted[l] { fixed[l] } else { task.bins[0] };
                index[l] = fixed * task.stride() + first[l];
            }
            for l in 0..CHUNK {
                if BOTH {
                    let shares = weights[l].map(|weight| mattes::shares(weight, fixed_weights[l]));
                    for j in 0..4 {
                        let index = (index[l] + j as u32 * task.stride()) as usize;
                        add(&mut counters[index], shares.map(|shares| shares[j]));
                    }
                } else {
                    add(&mut counters[index[l] as usize], weights[l]);
                }
            }
        }
    }
}

#[inline(always)]
fn add(Weights(sums): &mut Weights, weights: [u32; 4]) {
    for k in 0..4 {
        sums[k] += weights[k];
    }
}

#[inline(always)]
fn weights(into: &[f32; CHUNK]) -> [[u32; 4]; CHUNK] {
    let mut weights = [[0; 4]; CHUNK];
    for l in 0..CHUNK {
        // SAFETY: `windows` found this fraction.
        weights[l] = unsafe { mattes::weights(into[l]) };
    }
    weights
}
