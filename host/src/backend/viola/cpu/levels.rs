//! Viola's mutual information of samples that are rounded to [`LEVELS`] levels. Sums over all pairs of samples are then
//! convolutions of the counts of each pair of levels with the windows. The joint window is separable, so the
//! convolution is done along the rows and then along the columns.

use super::interpolated::{InterpolatedSample, LEVELS};
use super::{Densities, GroupSums, add_in_order};
use crate::backend::lanes::simd::widest;
use crate::backend::viola::Sigmas;
use gpu::math::viola::{JointGaussian, Product, Sums, scale};
use gpu::math::{bin, gauss};
use rayon::prelude::*;

/// The number of levels, as a length of tables.
const SIDE: usize = LEVELS as usize;

/// The distance between neighbouring levels, in stored values.
const STEP: f32 = bin::FULL / (LEVELS - 1) as f32;

/// One number per level.
type Line = [f64; SIDE];

/// One number per pair of levels. The line is that of the fixed level.
type Table = Vec<Line>;

/// One number per difference of levels, from 1 - [`SIDE`] to [`SIDE`] - 1.
type ByDifference = [f64; 2 * SIDE - 1];

/// Compares the sample sets A and B of a group.
pub fn compare(a: &[InterpolatedSample], b: &[InterpolatedSample], sigmas: &Sigmas, slopes: bool) -> GroupSums {
    let kernels = WindowTables::new(sigmas);
    let counts = count(b);
    let densities = evaluate(&count(a), &counts, sigmas.joint_gaussian(), &kernels);
    let mut logarithms = [0.0; 3];
    add_in_order(&mut logarithms, SIDE * SIDE, |i| {
        let (u, v) = (i / SIDE, i % SIDE);
        densities[u][v].logarithms.map(|logarithm| counts[u][v] * logarithm)
    });
    if !slopes {
        return GroupSums { logarithms, coefficients: Default::default() };
    }
    let a_derivatives = derivatives(&counts, &densities, &kernels);
    let b_derivatives: Table = densities.iter().map(|line| line.map(|densities| densities.coefficient)).collect();
    GroupSums { logarithms, coefficients: [look_up(a, &a_derivatives), look_up(b, &b_derivatives)] }
}

/// The levels of a sample's intensities.
fn levels(at: &InterpolatedSample) -> [usize; 2] {
    at.values.map(|value| (value / STEP) as usize)
}

/// Counts the pairs of levels of the samples inside the moving image.
fn count(set: &[InterpolatedSample]) -> Table {
    let mut counts = vec![[0.0; SIDE]; SIDE];
    for [u, v] in set.iter().filter(|at| at.inside).map(levels) {
        counts[u][v] += 1.0;
    }
    counts
}

/// Looks up the number for the levels of each sample; 0 for samples outside.
fn look_up(set: &[InterpolatedSample], table: &Table) -> Vec<f64> {
    let one = |at: &InterpolatedSample| {
        let [u, v] = levels(at);
        if at.inside { table[u][v] } else { 0.0 }
    };
    set.par_iter().with_min_len(1 << 12).map(one).collect()
}

/// Windows as a function of the level at which a density is evaluated (B) minus the level of a sample of the density
/// (A).
struct WindowTables {
    u: ByDifference,
    v: ByDifference,
    /// `v` times the scaled difference.
    slope_v: ByDifference,
    /// The joint window along the fixed and the moving intensity.
    joint: [ByDifference; 2],
    /// The joint window along the moving intensity times the difference, scaled as for `v`.
    slope_joint: ByDifference,
}

impl WindowTables {
    fn new(sigmas: &Sigmas) -> Self {
        let Sigmas { fixed, moving, joint } = *sigmas;
        let difference = |n: usize| (n as f32 - (SIDE - 1) as f32) * STEP;
        let window = |sigma: f64| std::array::from_fn(|n| f64::from(gauss::window(difference(n) * scale(sigma))));
        let slope =
            |kernel: &ByDifference| std::array::from_fn(|n| f64::from(difference(n) * scale(moving)) * kernel[n]);
        let (v, joint) = (window(moving), joint.unwrap_or([fixed, moving]).map(window));
        Self { u: window(fixed), slope_v: slope(&v), v, slope_joint: slope(&joint[1]), joint }
    }
}

/// Evaluates the densities of A at each pair of levels that occurs in B. `a` and `b` are the counts.
fn evaluate(a: &Table, b: &Table, gaussian: Option<JointGaussian>, kernels: &WindowTables) -> Vec<[Densities; SIDE]> {
    let mut of_u = [0.0; SIDE];
    of_u.iter_mut().zip(a).for_each(|(sum, line)| *sum = line.iter().sum());
    let of_v = along_u(a);
    let [u, v, slope_v] = [(&of_u, &kernels.u), (&of_v, &kernels.v), (&of_v, &kernels.slope_v)]
        .map(|(line, kernel)| convolve(line, kernel));
    let [joint, slope_joint] =
        [&kernels.joint[1], &kernels.slope_joint].map(|along_v| convolve_both(a, [&kernels.joint[0], along_v]));
    let mut densities = vec![[Densities::default(); SIDE]; SIDE];
    densities.par_iter_mut().enumerate().for_each(|(row, densities)| {
        let sums = std::array::from_fn(|n| Sums {
            u: u[row],
            v: v[n],
            joint: joint[row][n],
            slope_v: slope_v[n],
            slope_joint: slope_joint[row][n],
        });
        evaluate_line(gaussian, &sums, &b[row], densities);
    });
    densities
}

widest! {
    /// Evaluates the densities at the pairs of one line that occur in B.
    fn evaluate_line(
        gaussian: Option<JointGaussian>, sums: &[Sums<f64>; SIDE], counts: &Line, densities: &mut [Densities; SIDE],
    ) {
        for ((densities, sums), _) in densities.iter_mut().zip(sums).zip(counts).filter(|(_, count)| **count > 0.0) {
            *densities = match gaussian {
                None => Densities::new(*sums, Product),
                Some(gaussian) => Densities::new(*sums, gaussian),
            };
        }
    }
}

/// The derivative of the mutual information by v of a sample of A, for each pair of levels:
/// [`gpu::math::viola::add_derivative`] summed over B.
fn derivatives(b: &Table, densities: &[[Densities; SIDE]], kernels: &WindowTables) -> Table {
    let weigh = |weight: fn(&Densities) -> f32| -> Table {
        let line = |(counts, densities): (&Line, &[Densities; SIDE])| {
            std::array::from_fn(|n| counts[n] * f64::from(weight(&densities[n])))
        };
        b.iter().zip(densities).map(line).collect()
    };
    let of_v = convolve(&along_u(&weigh(|densities| densities.weights.v)), &kernels.slope_v);
    let mut all = convolve_both(&weigh(|densities| densities.weights.joint), [&kernels.joint[0], &kernels.slope_joint]);
    // Slopes are defined with the difference of a sample of B minus one of A. The convolutions took A minus B, hence
    // the opposite sign.
    all.iter_mut().for_each(|line| line.iter_mut().zip(&of_v).for_each(|(joint, v)| *joint = v - *joint));
    all
}

/// The sum of all lines of a table.
fn along_u(table: &Table) -> Line {
    let mut sum = [0.0; SIDE];
    table.iter().for_each(|line| sum.iter_mut().zip(line).for_each(|(sum, n)| *sum += n));
    sum
}

/// Convolves a table with the first kernel along the columns and with the second along the rows.
fn convolve_both(table: &Table, [u, v]: [&ByDifference; 2]) -> Table {
    let rows: Table = table.par_iter().map(|line| convolve(line, v)).collect();
    // Lines without counts add nothing.
    let rows: Vec<_> = rows.iter().enumerate().filter(|(row, _)| table[*row].iter().any(|n| *n != 0.0)).collect();
    let column = |at: usize| {
        let mut sum = [0.0; SIDE];
        rows.iter().for_each(|(row, line)| add(&mut sum, u[at + SIDE - 1 - row], line));
        sum
    };
    (0..SIDE).into_par_iter().map(column).collect()
}

widest! {
    /// Convolves a line with a kernel: at each level, the sum over all levels of the number there times the kernel at
    /// the difference.
    fn convolve(line: &Line, kernel: &ByDifference) -> Line {
        let mut sum = [0.0; SIDE];
        for (n, &there) in line.iter().enumerate().filter(|(_, there)| **there != 0.0) {
            for (sum, window) in sum.iter_mut().zip(&kernel[SIDE - 1 - n..][..SIDE]) {
                *sum = window.mul_add(there, *sum);
            }
        }
        sum
    }
}

widest! {
    /// Adds `factor` times a line.
    fn add(sum: &mut Line, factor: f64, line: &Line) {
        for (sum, n) in sum.iter_mut().zip(line) {
            *sum = n.mul_add(factor, *sum);
        }
    }
}
