//! The CPU's joint histogram, a row of the fixed image at a time, in chunks that the compiler turns into vector instructions.

// Loops over lanes run along several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::partial_volume;
use super::simd::widest;
use crate::backend::Pair;
use crate::image::CubicImage;
use gpu::math::interpolate::{self, Interpolator};
use gpu::math::{affine, bin, cubic};
use gpu::params::Affine;
use std::ops::Range;

/// Samples that go through each step together.
const CHUNK: usize = 16;

/// A pair of images and a transform, ready to be counted.
pub struct Task<'a> {
    pub(super) fixed: &'a [u16],
    pub(super) fixed_size: [usize; 3],
    pub(super) moving: &'a [u16],
    pub(super) moving_size: [u32; 3],
    /// What a cubic interpolator samples; empty for others.
    cubic: &'a [f32],
    pub(super) bins: [u32; 2],
    /// What a sample counts.
    pub(super) unit: u32,
    interpolator: Interpolator,
    pub(super) affine: Affine,
    /// The x terms of the positions along a row, in whole chunks.
    columns: Vec<[[f32; CHUNK]; 3]>,
}

impl<'a> Task<'a> {
    /// A run over `pair` through `affine`; a sample counts `unit`, and `cubic` is the moving image's where the interpolator is cubic.
    pub fn new(pair: &Pair<'a>, unit: u32, cubic: Option<&'a CubicImage>, affine: &Affine) -> Self {
        let (fixed, moving) = (pair.fixed, pair.moving);
        let moving_size = moving.size.map(|n| n as u32);
        assert!(fixed.bins.len() == fixed.size.iter().product::<usize>());
        assert!(moving.values.len() == moving.size.iter().product::<usize>() + interpolate::padding(moving_size));
        let cubic = cubic.map_or(&[][..], |image| &image.values);
        let padded = cubic::padded(moving_size).map(|n| n as usize);
        assert!(!pair.interpolator.is_cubic() || cubic.len() == padded.iter().product::<usize>());
        let chunk = |chunk: usize| {
            let terms: [[f32; 3]; CHUNK] = std::array::from_fn(|l| affine::from_x(affine, (chunk * CHUNK + l) as u32));
            [0, 1, 2].map(|axis| terms.map(|term| term[axis]))
        };
        Self {
            fixed: &fixed.bins,
            fixed_size: fixed.size,
            moving: &moving.values,
            moving_size,
            cubic,
            bins: pair.bins,
            unit,
            interpolator: pair.interpolator,
            affine: *affine,
            columns: (0..fixed.size[0].div_ceil(CHUNK)).map(chunk).collect(),
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

/// Positions or values of a chunk.
type Lanes = [f32; CHUNK];

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
    let last = interpolate::last(task.moving_size);
    let mut positions = [[0.0; CHUNK]; 3];
    let mut inside = [false; CHUNK];
    for l in 0..CHUNK {
        let position = affine::add_y(&task.affine, [terms[0][l], terms[1][l], terms[2][l]], y);
        let position = affine::add_z(&task.affine, position, z);
        inside[l] = interpolate::inside(position, last);
        let safe = interpolate::clamp(position, last);
        for axis in 0..3 {
            positions[axis][l] = safe[axis];
        }
    }
    let values = match HOW {
        NEAREST => nearest(task, &positions),
        LINEAR => linear(task, &positions),
        _ => cubic::<HOW>(task, &positions),
    };
    let scale = bin::scale(task.bins[1]);
    let mut pairs = [0; CHUNK];
    for l in 0..CHUNK {
        // SAFETY: interpolated values are in the range of the stored ones.
        let pair = unsafe { bin::pair(u32::from(fixed[l]), task.bins[0], values[l], scale, 0) };
        pairs[l] = if inside[l] & (u32::from(fixed[l]) < task.bins[0]) { pair } else { task.bins[0] * task.bins[1] };
    }
    pairs
}

/// Trilinear values at positions inside.
#[inline(always)]
fn linear(task: &Task, positions: &[Lanes; 3]) -> Lanes {
    let size = task.moving_size;
    let mut index = [0; CHUNK];
    let mut fraction = [[0.0; CHUNK]; 3];
    for l in 0..CHUNK {
        // SAFETY: inside.
        let place = unsafe { interpolate::place([positions[0][l], positions[1][l], positions[2][l]], size) };
        index[l] = place.index;
        for axis in 0..3 {
            fraction[axis][l] = place.fraction[axis];
        }
    }
    let [y, z] = [size[0], size[0] * size[1]];
    let words =
        [gather(task, &index, 0), gather(task, &index, y), gather(task, &index, z), gather(task, &index, y + z)];
    let mut values = [0.0; CHUNK];
    for l in 0..CHUNK {
        let words = [words[0][l], words[1][l], words[2][l], words[3][l]];
        values[l] = interpolate::linear(words, [fraction[0][l], fraction[1][l], fraction[2][l]]);
    }
    values
}

/// The words of two neighbours along x, `offset` voxels from each index.
#[inline(always)]
fn gather(task: &Task, index: &[u32; CHUNK], offset: u32) -> [u32; CHUNK] {
    let mut words = [0; CHUNK];
    for l in 0..CHUNK {
        // SAFETY: within the image and its padding.
        let pair =
            unsafe { task.moving.as_ptr().offset((index[l] + offset) as i32 as isize).cast::<u32>().read_unaligned() };
        words[l] = u32::from_le(pair);
    }
    words
}

/// Cubic values at positions inside, clamped to the range.
#[inline(always)]
fn cubic<const HOW: u32>(task: &Task, positions: &[Lanes; 3]) -> Lanes {
    let size = cubic::padded(task.moving_size);
    let mut index = [0; CHUNK];
    // By axis, tap and lane.
    let mut weights = [[[0.0; CHUNK]; 3]; 3];
    for l in 0..CHUNK {
        // SAFETY: inside, and so in the padded volume.
        let place = unsafe { interpolate::place([positions[0][l], positions[1][l], positions[2][l]], size) };
        index[l] = place.index;
        let found = cubic::weights(Interpolator::of(HOW), place.fraction);
        for axis in 0..3 {
            for tap in 0..3 {
                weights[axis][tap][l] = found[axis][tap];
            }
        }
    }
    let of_lane = |axis: usize, l: usize| [weights[axis][0][l], weights[axis][1][l], weights[axis][2][l]];
    let mut columns = [[0.0; 4]; CHUNK];
    for l in 0..CHUNK {
        // SAFETY: the padding goes as far as the taps.
        columns[l] = unsafe { cubic::columns(task.cubic, index[l], size, of_lane(1, l), of_lane(2, l)) };
    }
    let mut values = [0.0; CHUNK];
    for l in 0..CHUNK {
        values[l] = cubic::clamp(cubic::mix(columns[l], of_lane(0, l)));
    }
    values
}

/// The nearest voxels' values at positions inside.
#[inline(always)]
fn nearest(task: &Task, positions: &[Lanes; 3]) -> Lanes {
    let mut values = [0.0; CHUNK];
    for l in 0..CHUNK {
        // SAFETY: inside.
        let index =
            unsafe { interpolate::nearest([positions[0][l], positions[1][l], positions[2][l]], task.moving_size) };
        values[l] = f32::from(task.moving[index as usize]);
    }
    values
}
