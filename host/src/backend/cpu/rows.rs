//! The CPU's joint histogram, a row of the fixed image at a time, in chunks that the compiler turns into vector instructions.

// Loops over lanes run along several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::partial_volume;
use super::simd::widest;
use super::values;
use crate::Result;
use crate::backend::Pair;
use crate::image::CubicImage;
use gpu::math::interpolate::{self, Interpolator};
use gpu::math::{affine, bin, eight_bit};
use gpu::params::Affine;
use std::ops::Range;

/// Samples that go through each step together.
pub const CHUNK: usize = 16;

/// What an interpolator samples, made once for a pair.
pub enum Samples<'a> {
    /// 16-bit values.
    Values(&'a [u16]),
    /// [Words](eight_bit::word) of 8-bit levels.
    Words(Vec<u32>),
    /// A padded volume.
    Cubic(CubicImage),
}

impl<'a> Samples<'a> {
    /// Those of a pair's moving image.
    pub fn new(pair: &Pair<'a>) -> Result<Self> {
        let (moving, how) = (pair.moving, pair.interpolator);
        let size = moving.size.map(|n| n as u32);
        assert!(moving.values.len() == moving.size.iter().product::<usize>() + interpolate::padding(size));
        Ok(match how {
            Interpolator::CatmullRom | Interpolator::BSpline => Self::Cubic(CubicImage::new(moving, how)?),
            Interpolator::Linear if !bin::fine(pair.bins[1]) => Self::Words(moving.words(false)),
            _ => Self::Values(&moving.values),
        })
    }
}

/// A pair of images and a transform, ready to be counted.
pub struct Task<'a> {
    pub fixed: &'a [u16],
    pub fixed_size: [usize; 3],
    /// Each is empty where the interpolator samples another.
    pub moving: &'a [u16],
    pub words: &'a [u32],
    pub cubic: &'a [f32],
    pub moving_size: [u32; 3],
    pub bins: [u32; 2],
    /// What a sample counts.
    pub unit: u32,
    interpolator: Interpolator,
    pub affine: Affine,
    /// The x terms of the positions along a row, in whole chunks.
    columns: Vec<[Lanes; 3]>,
}

impl<'a> Task<'a> {
    /// A run over `pair` through `affine`; `samples` are the pair's, each of which counts `unit`.
    pub fn new(pair: &Pair<'a>, unit: u32, samples: &'a Samples<'a>, affine: &Affine) -> Self {
        let fixed = pair.fixed;
        assert!(fixed.bins.len() == fixed.size.iter().product::<usize>());
        let (mut moving, mut words, mut cubic) = (&[][..], &[][..], &[][..]);
        match samples {
            Samples::Values(values) => moving = values,
            Samples::Words(all) => words = all,
            Samples::Cubic(image) => cubic = &image.values,
        }
        Self {
            fixed: &fixed.bins,
            fixed_size: fixed.size,
            moving,
            words,
            cubic,
            moving_size: pair.moving.size.map(|n| n as u32),
            bins: pair.bins,
            unit,
            interpolator: pair.interpolator,
            affine: *affine,
            columns: columns(affine, fixed.size[0]),
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
        match self.interpolator {
            Interpolator::Nearest => count_nearest(self, rows, counters),
            Interpolator::Linear if bin::fine(self.bins[1]) => count_fine_linear(self, rows, counters),
            Interpolator::Linear => count_linear(self, rows, counters),
            Interpolator::CatmullRom => count_catmull_rom(self, rows, counters),
            Interpolator::BSpline => count_b_spline(self, rows, counters),
            Interpolator::PartialVolume => partial_volume::count(self, rows, counters),
        }
    }
}

widest! {
    fn count_nearest(task: &Task, rows: Range<usize>, counters: &mut [u32]) {
        count::<NEAREST>(task, rows, counters);
    }
}

widest! {
    fn count_linear(task: &Task, rows: Range<usize>, counters: &mut [u32]) {
        count::<LINEAR>(task, rows, counters);
    }
}

widest! {
    fn count_fine_linear(task: &Task, rows: Range<usize>, counters: &mut [u32]) {
        count::<FINE_LINEAR>(task, rows, counters);
    }
}

widest! {
    fn count_catmull_rom(task: &Task, rows: Range<usize>, counters: &mut [u32]) {
        count::<CATMULL_ROM>(task, rows, counters);
    }
}

widest! {
    fn count_b_spline(task: &Task, rows: Range<usize>, counters: &mut [u32]) {
        count::<B_SPLINE>(task, rows, counters);
    }
}

// Interpolators as constants to compile the loops for.
const NEAREST: u32 = Interpolator::Nearest as u32;
const LINEAR: u32 = Interpolator::Linear as u32;
const CATMULL_ROM: u32 = Interpolator::CatmullRom as u32;
const B_SPLINE: u32 = Interpolator::BSpline as u32;
/// Linear, of 16-bit values.
const FINE_LINEAR: u32 = 100;

/// Positions or values of a chunk.
pub type Lanes = [f32; CHUNK];

/// The x terms of the positions along a row of so many voxels, in whole chunks.
pub fn columns(matrix: &Affine, width: usize) -> Vec<[Lanes; 3]> {
    let chunk = |chunk: usize| {
        let terms: [[f32; 3]; CHUNK] = std::array::from_fn(|l| affine::from_x(matrix, (chunk * CHUNK + l) as u32));
        [0, 1, 2].map(|axis| terms.map(|term| term[axis]))
    };
    (0..width.div_ceil(CHUNK)).map(chunk).collect()
}

/// The positions of a chunk in a moving image of `size`, and which of them are inside; those outside are moved to where it is safe to
/// read.
#[inline(always)]
pub fn positions(matrix: &Affine, size: [u32; 3], terms: &[Lanes; 3], y: u32, z: u32) -> ([Lanes; 3], [bool; CHUNK]) {
    let last = interpolate::last(size);
    let mut positions = [[0.0; CHUNK]; 3];
    let mut inside = [false; CHUNK];
    for l in 0..CHUNK {
        let position = affine::add_y(matrix, [terms[0][l], terms[1][l], terms[2][l]], y);
        let position = affine::add_z(matrix, position, z);
        inside[l] = interpolate::inside(position, last);
        let safe = interpolate::clamp(position, last);
        for axis in 0..3 {
            positions[axis][l] = safe[axis];
        }
    }
    (positions, inside)
}

/// Whole functions and a constant rather than a closure: a call through a closure would lose the caller's instruction set.
#[inline(always)]
fn count<const HOW: u32>(task: &Task, rows: Range<usize>, counters: &mut [u32]) {
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

/// The joint indices of a chunk; those outside get the counter after the last.
#[inline(always)]
fn pairs<const HOW: u32>(task: &Task, terms: &[Lanes; 3], y: u32, z: u32, fixed: &[u16; CHUNK]) -> [u32; CHUNK] {
    let (positions, inside) = positions(&task.affine, task.moving_size, terms, y, z);
    let (values, full) = match HOW {
        NEAREST => (values::nearest(task, &positions), bin::FULL),
        LINEAR => (values::linear(task, &positions), eight_bit::FULL),
        FINE_LINEAR => (values::fine_linear(task.moving, task.moving_size, &positions), bin::FULL),
        _ => (values::cubic::<HOW>(task, &positions), bin::FULL),
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
