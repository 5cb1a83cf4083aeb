//! The value of Mattes mutual information and the slope of each window, computed from the joint counts.

use crate::backend::lanes::order::ordered;
use crate::backend::lanes::simd::widest;
use crate::backend::mattes::Smooth;
use gpu::math::mattes::{self, UNIT};

/// Joint counts, and the logarithms that value and slope are computed from.
pub struct JointTable {
    /// Moving bins vary fastest.
    joint: Vec<u64>,
    /// ln(c / c_m) of each joint count c, where c_m is the count of its moving bin.
    log_ratios: Vec<f64>,
    bins: [u32; 2],
}

impl JointTable {
    pub fn new(joint: Vec<u64>, bins: [u32; 2]) -> Self {
        let mut log_ratios = vec![0.0; joint.len()];
        log_ratios_of(&joint, bins[1] as usize, &mut log_ratios);
        Self { joint, log_ratios, bins }
    }

    /// The sum of all counts.
    fn all(&self) -> u64 {
        self.joint.iter().sum()
    }

    /// Samples that were counted.
    pub fn samples(&self) -> u64 {
        self.all() / u64::from(UNIT)
    }

    pub fn smooth(&self) -> Smooth {
        Smooth { mi: value(&self.joint, &self.log_ratios, self.bins[1] as usize, self.all()), overlap: self.samples() }
    }

    /// [`mattes::quadratic`] of each fixed bin and moving window.
    pub fn quadratics(&self) -> Vec<[f32; 3]> {
        let scale = mattes::scale(self.bins[1]);
        let rows = self.log_ratios.chunks_exact(self.bins[1] as usize);
        rows.flat_map(|row| row.array_windows()).map(|&window| mattes::quadratic(window, scale)).collect()
    }
}

// Plain loops, because a closure called by an iterator would be compiled for the baseline, where a fused multiply-add
// is a function call.
widest! {
    fn log_ratios_of(joint: &[u64], moving_bins: usize, log_ratios: &mut [f64]) {
        let mut moving = vec![0; moving_bins];
        for row in joint.chunks_exact(moving_bins) {
            moving.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
        }
        let mut logs = vec![0.0; moving_bins];
        for (log, &count) in logs.iter_mut().zip(&moving) {
            *log = mattes::ln(count);
        }
        for (row, ratios) in joint.chunks_exact(moving_bins).zip(log_ratios.chunks_exact_mut(moving_bins)) {
            for ((ratio, &count), &log) in ratios.iter_mut().zip(row).zip(&logs) {
                *ratio = mattes::log_ratio(count, log);
            }
        }
    }
}

widest! {
    fn value(joint: &[u64], log_ratios: &[f64], moving_bins: usize, all: u64) -> f64 {
        let ln_all = mattes::ln(all);
        let mut terms = vec![0.0; moving_bins];
        let mut rows = Vec::with_capacity(joint.len() / moving_bins);
        for (row, ratios) in joint.chunks_exact(moving_bins).zip(log_ratios.chunks_exact(moving_bins)) {
            for ((term, &count), &ratio) in terms.iter_mut().zip(row).zip(ratios) {
                *term = mattes::term(count, ratio);
            }
            rows.push(mattes::row_term(ordered(&terms), row.iter().sum(), ln_all));
        }
        mattes::finish(ordered(&rows), all)
    }
}
