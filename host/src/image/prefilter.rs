//! Computes the coefficients of the cubic B-spline that passes through the voxels (Unser, "Splines: a perfect fit for
//! signal and image processing", 1999, box 2).
//!
//! Along each line, samples s become coefficients c with (c[k - 1] + 4 c[k] + c[k + 1]) / 6 = s[k], mirrored about both
//! ends, by a forward and a backward filter. The filters use f64 along a line and round to f32 after each axis. The
//! order of operations is fixed, so results do not depend on the threads or the machine.

use crate::threads::should_continue;
use ndarray::{ArrayViewMut2, ArrayViewMut3, Axis};
use rayon::prelude::*;

/// Lines filtered side by side.
const BUNDLE: usize = 16;

/// The filters' pole: sqrt(3) - 2.
const POLE: f64 = -0.267_949_192_431_122_7;

/// Filters a volume, x fastest, in place.
pub fn filter(voxels: &mut [f32], [width, height, depth]: [usize; 3]) {
    let mut volume = ArrayViewMut3::from_shape((depth, height, width), voxels).expect("the voxels fill the grid");
    // The axis to filter, by its index in the shape, and another axis, not x, along which slabs are distributed over
    // the threads.
    for (axis, across) in [(2, 0), (1, 0), (0, 1)] {
        let slabs: Vec<_> = volume.axis_iter_mut(Axis(across)).collect();
        slabs
            .into_par_iter()
            .take_any_while(|_| should_continue())
            .for_each(|slab| lines(if axis == 2 { slab.reversed_axes() } else { slab }));
    }
}

/// Filters each line along the first axis.
fn lines(mut slab: ArrayViewMut2<f32>) {
    let mut bundle = vec![[0.0; BUNDLE]; slab.nrows()];
    for mut few in slab.axis_chunks_iter_mut(Axis(1), BUNDLE) {
        for (lanes, row) in bundle.iter_mut().zip(few.rows()) {
            lanes.iter_mut().zip(row).for_each(|(lane, &voxel)| *lane = f64::from(voxel));
        }
        coefficients(&mut bundle);
        for (lanes, row) in bundle.iter().zip(few.rows_mut()) {
            lanes.iter().zip(row).for_each(|(&lane, voxel)| *voxel = lane as f32);
        }
    }
}

/// Converts samples to coefficients. A single sample is its own coefficient.
fn coefficients(line: &mut [[f64; BUNDLE]]) {
    let n = line.len();
    if n < 2 {
        return;
    }
    line[0] = first(line);
    for k in 1..n {
        let before = line[k - 1];
        each(&mut line[k], |l, sample| sample + POLE * before[l]);
    }
    let before = line[n - 2];
    each(&mut line[n - 1], |l, sum| POLE / (POLE * POLE - 1.0) * (sum + POLE * before[l]));
    for k in (0..n - 1).rev() {
        let after = line[k + 1];
        each(&mut line[k], |l, sum| POLE * (after[l] - sum));
    }
    // The gain: (1 - pole) (1 - 1 / pole).
    line.iter_mut().for_each(|lanes| each(lanes, |_, sum| 6.0 * sum));
}

/// The initial value of the forward filter: the sum over all samples of the mirrored, infinite line up to the first,
/// each weighted by one more power of the pole. The line repeats after 2 n - 2 samples, so this is the sum over one
/// period divided by 1 - pole^(2 n - 2).
fn first(line: &[[f64; BUNDLE]]) -> [f64; BUNDLE] {
    let n = line.len();
    let (mut sum, mut power) = ([0.0; BUNDLE], 1.0);
    for k in (1..n - 1).chain((0..n).rev()) {
        each(&mut sum, |l, sum| sum * POLE + line[k][l]);
        power *= POLE;
    }
    sum.map(|sum| sum / (1.0 - power))
}

#[inline(always)]
fn each(lanes: &mut [f64; BUNDLE], value: impl Fn(usize, f64) -> f64) {
    for (l, lane) in lanes.iter_mut().enumerate() {
        *lane = value(l, *lane);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spline_goes_through_the_samples() {
        for n in [1, 2, 3, 4, 30, 400] {
            let samples: Vec<f32> = (0..n).map(|i| (i * 7919 % 1013) as f32).collect();
            for size in [[n, 1, 1], [1, n, 1], [1, 1, n]] {
                let mut line = samples.clone();
                filter(&mut line, size);
                for (k, &sample) in samples.iter().enumerate() {
                    let at = |k: usize| f64::from(line[k.min(n - 1)]);
                    let (before, after) = match k {
                        _ if n == 1 => (at(0), at(0)),
                        0 => (at(1), at(1)),
                        k if k == n - 1 => (at(k - 1), at(k - 1)),
                        _ => (at(k - 1), at(k + 1)),
                    };
                    let value = (before + 4.0 * at(k) + after) / 6.0;
                    assert!((value - f64::from(sample)).abs() < 2e-4, "{size:?}, {k}: {value}, not {sample}");
                }
            }
        }
    }

    #[test]
    fn a_constant_is_its_own_coefficients() {
        for constant in [0.0, 0.1_f32, 1.0, 40_961.0, 65535.0] {
            for size in [[17, 18, 35], [2, 3, 1]] {
                let mut voxels = vec![constant; size.iter().product()];
                filter(&mut voxels, size);
                assert!(voxels.iter().all(|&voxel| voxel == constant), "{constant}, {size:?}");
            }
        }
    }
}
