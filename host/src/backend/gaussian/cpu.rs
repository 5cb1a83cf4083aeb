//! Gaussian smoothing in place, on the CPU.

// Loops over lanes index several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::{Pass, passes};
use crate::backend::lanes::simd::widest;
use crate::backend::lanes::{CHUNK, Lanes};
use crate::threads::should_continue;
use gpu::math::recursive::{Coefficients, ORDER};
use ndarray::{ArrayViewMut2, ArrayViewMut3, Axis};
use rayon::prelude::*;

/// Lines per tile. A tile is read once and written once. It is wide enough that fetching its rows from memory is
/// efficient.
const TILE: usize = 64;

/// Smooths volumes of `size`, x fastest, one after the other in memory, by a Gaussian with standard deviations of
/// `sigmas` voxels along x, y and z. An axis with 0 is not smoothed. Beyond its borders an image is continued by its
/// border values. The bits do not depend on the number of threads.
///
/// # Panics
/// If `planes` are not whole volumes.
pub fn smooth(planes: &mut [f32], size: [usize; 3], sigmas: [f64; 3]) {
    let voxels: usize = size.iter().product();
    assert!(voxels > 0 && planes.len().is_multiple_of(voxels), "{} samples are not volumes of {size:?}", planes.len());
    for pass in passes(size, sigmas) {
        along(planes, &pass);
    }
}

/// Filters all lines along one axis.
fn along(planes: &mut [f32], pass: &Pass) {
    let &Pass { len, stride, coefficients } = pass;
    let shape = match stride {
        1 => (1, planes.len() / len, len),
        _ => (planes.len() / (len * stride), len, stride),
    };
    let mut volume = ArrayViewMut3::from_shape(shape, planes).expect("the planes are whole volumes");
    if stride == 1 {
        volume.swap_axes(1, 2);
    }
    // The axes of a slab: the sample along a line, the line.
    let mut slabs: Vec<ArrayViewMut2<f32>> = volume.outer_iter_mut().collect();
    let tiles: Vec<_> = slabs.iter_mut().flat_map(|slab| slab.axis_chunks_iter_mut(Axis(1), TILE)).collect();
    tiles.into_par_iter().take_any_while(|_| should_continue()).for_each_init(Vec::new, |chunks, mut tile| {
        chunks.resize(len * tile.ncols().div_ceil(CHUNK), [0.0; CHUNK]);
        read(&tile, chunks);
        chunks.chunks_exact_mut(len).for_each(|chunk| filter(chunk, &coefficients));
        write(&mut tile, chunks);
    });
}

/// Copies a tile into chunks, one after the other. Either the rows or the lines of the tile are contiguous in memory.
fn read(tile: &ArrayViewMut2<f32>, chunks: &mut [Lanes]) {
    let len = tile.nrows();
    for (l, line) in tile.columns().into_iter().enumerate() {
        let Some(line) = line.to_slice() else { break };
        let chunk = &mut chunks[l / CHUNK * len..][..len];
        chunk.iter_mut().zip(line).for_each(|(lanes, &sample)| lanes[l % CHUNK] = sample);
    }
    for (i, row) in tile.rows().into_iter().enumerate() {
        let Some(row) = row.to_slice() else { break };
        let (whole, rest) = row.as_chunks::<CHUNK>();
        whole.iter().enumerate().for_each(|(number, lanes)| chunks[number * len + i] = *lanes);
        if !rest.is_empty() {
            chunks[whole.len() * len + i][..rest.len()].copy_from_slice(rest);
        }
    }
}

/// Copies chunks back into their tile.
fn write(tile: &mut ArrayViewMut2<f32>, chunks: &[Lanes]) {
    let len = tile.nrows();
    for (l, line) in tile.columns_mut().into_iter().enumerate() {
        let Some(line) = line.into_slice() else { break };
        let chunk = &chunks[l / CHUNK * len..][..len];
        line.iter_mut().zip(chunk).for_each(|(sample, lanes)| *sample = lanes[l % CHUNK]);
    }
    for (i, row) in tile.rows_mut().into_iter().enumerate() {
        let Some(row) = row.into_slice() else { break };
        let (whole, rest) = row.as_chunks_mut::<CHUNK>();
        whole.iter_mut().enumerate().for_each(|(number, lanes)| *lanes = chunks[number * len + i]);
        if !rest.is_empty() {
            rest.copy_from_slice(&chunks[whole.len() * len + i][..rest.len()]);
        }
    }
}

/// The filter state of each lane.
type States = [[f64; CHUNK]; ORDER];

widest! {
    /// Filters a chunk of lines by the causal and then the anticausal pass.
    fn filter(lines: &mut [Lanes], filter: &Coefficients) {
        let (first, last) = (lines[0], lines[lines.len() - 1]);
        let mut states = [[0.0; CHUNK]; ORDER];
        for l in 0..CHUNK {
            set(&mut states, l, filter.begin(first[l]));
        }
        lines.iter_mut().for_each(|samples| advance(filter, &mut states, samples));
        for l in 0..CHUNK {
            let state = filter.turn(&get(&states, l), last[l]);
            set(&mut states, l, state);
        }
        lines.iter_mut().rev().for_each(|samples| advance(filter, &mut states, samples));
    }
}

/// Filters one sample of each line, and replaces it by the output.
#[inline(always)]
fn advance(filter: &Coefficients, states: &mut States, samples: &mut Lanes) {
    for l in 0..CHUNK {
        let mut state = get(states, l);
        filter.advance(&mut state, f64::from(samples[l]));
        set(states, l, state);
        samples[l] = state[ORDER - 1] as f32;
    }
}

#[inline(always)]
fn get(states: &States, l: usize) -> [f64; ORDER] {
    [states[0][l], states[1][l], states[2][l], states[3][l], states[4][l]]
}

#[inline(always)]
fn set(states: &mut States, l: usize, state: [f64; ORDER]) {
    for k in 0..ORDER {
        states[k][l] = state[k];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: usize = 300;

    /// An impulse, one beside the border, a step, a ramp and noise, each from 0 to 1.
    fn signals() -> [[f32; LEN]; 5] {
        let mut state = 1_u32;
        let mut noise = |_: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state as f32 / u32::MAX as f32
        };
        let of = |sample: &mut dyn FnMut(usize) -> f32| std::array::from_fn(sample);
        [
            of(&mut |i| f32::from(i == LEN / 2)),
            of(&mut |i| f32::from(i == 2)),
            of(&mut |i| f32::from(i < 100)),
            of(&mut |i| i as f32 / (LEN - 1) as f32),
            of(&mut noise),
        ]
    }

    /// Convolution with the Gaussian itself, sampled to ten standard deviations. The line is continued by its border
    /// values.
    fn exact(line: &[f32], sigma: f64) -> Vec<f64> {
        let reach = (10.0 * sigma).ceil() as isize;
        let weight = |tap: isize| (-0.5 * (tap as f64 / sigma).powi(2)).exp();
        let sum: f64 = (-reach..=reach).map(weight).sum();
        let at = |i: isize| f64::from(line[i.clamp(0, line.len() as isize - 1) as usize]);
        let smooth = |i: isize| (-reach..=reach).map(|tap| weight(tap) * at(i + tap)).sum::<f64>() / sum;
        (0..line.len() as isize).map(smooth).collect()
    }

    #[test]
    fn it_is_the_gaussian_as_closely_as_documented() {
        // Sigma, and the largest permitted errors: of the impulses as a fraction of the Gaussian's peak, of the step,
        // the ramp and the noise.
        let bounds = [
            (0.3, [3.1e-8, 1.6e-8, 2e-8, 6e-8]),
            (0.4, [7.3e-6, 3.7e-6, 5e-8, 5.4e-6]),
            (0.5, [6.0e-4, 3.1e-4, 4.0e-6, 4.1e-4]),
            (0.6, [6.3e-3, 3.2e-3, 4.1e-5, 4.0e-3]),
            (0.7, [4.9e-3, 1.7e-3, 4.8e-6, 4.1e-3]),
            (0.8, [1.6e-2, 3.8e-3, 1.2e-5, 7.1e-3]),
            (1.0, [1.8e-2, 3.5e-3, 1.1e-5, 7.8e-3]),
            (1.5, [6.3e-3, 8.4e-4, 4.6e-6, 1.7e-3]),
            (2.0, [2.4e-3, 3.4e-4, 3.5e-6, 8.0e-4]),
            (3.0, [1.2e-3, 2.9e-4, 3.8e-6, 4.4e-4]),
            (5.0, [1.1e-3, 2.7e-4, 5.8e-6, 3.1e-4]),
            (10.0, [9.9e-4, 2.6e-4, 1.2e-5, 2.0e-4]),
            (20.0, [9.8e-4, 2.6e-4, 2.3e-5, 1.7e-4]),
        ];
        let signals = signals();
        for (sigma, [impulse, step, ramp, noise]) in bounds {
            let mut planes = signals.as_flattened().to_vec();
            smooth(&mut planes, [LEN, signals.len(), 1], [sigma, 0.0, 0.0]);
            let impulse = impulse * exact(&signals[0], sigma)[LEN / 2];
            for (number, bound) in [impulse, impulse, step, ramp, noise].into_iter().enumerate() {
                let errors = exact(&signals[number], sigma).into_iter().zip(&planes[number * LEN..]);
                let most = errors.map(|(exact, &sample)| (exact - f64::from(sample)).abs()).fold(0.0, f64::max);
                assert!(most < bound, "{sigma}, signal {number}: {most:e}");
            }
        }
    }

    #[test]
    fn a_constant_stays_up_to_the_border() {
        for sigma in [0.3, 1.0, 4.0, 30.0, 300.0, 1e6] {
            for len in [1, 2, 3, 40, 4096] {
                let mut planes = vec![1.234_567_9_f32; 3 * len];
                smooth(&mut planes, [len, 1, 1], [sigma; 3]);
                assert!(planes.iter().all(|&sample| (sample - 1.234_567_9).abs() <= 1.2e-7), "{sigma}, {len}");
            }
        }
    }

    #[test]
    fn a_line_is_filtered_alike_along_every_axis_and_in_every_volume() {
        let (signals, few) = (signals(), 37);
        let line = |number: usize| &signals[number % signals.len()][..few];
        let sizes = [[few, 83, 2], [83, few, 2], [83, 2, few]];
        let [along_x, along_y, along_z] = [0, 1, 2].map(|axis| {
            let size: [usize; 3] = sizes[axis];
            // In three volumes: a voxel's position along the axis, and the number of its line.
            let place = |i: usize| {
                let stride: usize = size[..axis].iter().product();
                (i / stride % few, i % stride + i / (stride * few) * stride)
            };
            let mut planes: Vec<f32> =
                (0..3 * size.iter().product::<usize>()).map(|i| line(place(i).1)[place(i).0]).collect();
            let mut sigmas = [0.0; 3];
            sigmas[axis] = 2.5;
            smooth(&mut planes, size, sigmas);
            let mut lines = vec![0.0; planes.len()];
            planes.iter().enumerate().for_each(|(i, &sample)| lines[place(i).1 * few + place(i).0] = sample);
            lines
        });
        assert!(along_x == along_y && along_x == along_z);
        assert_ne!(along_x[few..2 * few], *line(1));
    }

    #[test]
    fn lines_as_short_as_the_filter_are_smoothed_too() {
        for len in 2..8 {
            let line: Vec<f32> = (0..len).map(|i| (i * i % 5) as f32).collect();
            let mut planes = line.clone();
            smooth(&mut planes, [1, len, 1], [0.0, 3.0, 5.0]);
            for (sample, exact) in planes.iter().zip(exact(&line, 3.0)) {
                assert!((f64::from(*sample) - exact).abs() < 0.02, "{len}: {sample} for {exact}");
            }
        }
    }
}
