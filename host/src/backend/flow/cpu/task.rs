//! Access to two images and a field between them, by rows of the fixed grid, in chunks that the compiler turns into
//! vector instructions.

// Loops over lanes index several arrays at once.
#![allow(clippy::needless_range_loop)]

use crate::backend::flow::Halves;
use crate::backend::lanes::{CHUNK, Lanes};
use crate::threads::should_continue;
use gpu::math::flow::{self, VoxelForce};
use gpu::math::{bin, interpolate};
use gpu::params::Affine;
use rayon::prelude::*;

/// Voxels of a piece of work, about.
const PIECE: usize = 1 << 14;

/// A field on a grid.
#[derive(Clone, Copy)]
pub struct FieldView<'a> {
    pub size: [u32; 3],
    /// Three planes and their padding.
    pub field: &'a [f32],
}

impl FieldView<'_> {
    pub fn voxels(&self) -> usize {
        self.size.iter().map(|&n| n as usize).product()
    }

    /// Returns the number at an index in memory.
    ///
    /// # Safety
    /// The index is in the planes or their padding.
    #[inline(always)]
    pub unsafe fn number(&self, index: usize) -> f32 {
        // SAFETY: the caller guarantees the index. Vector gathers take signed offsets.
        unsafe { *self.field.as_ptr().offset(index as u32 as i32 as isize) }
    }

    /// The displacements of a chunk; 0 beyond the end of the row.
    #[inline(always)]
    pub fn chunk(&self, row: usize, x: usize) -> [Lanes; 3] {
        let voxels = self.voxels();
        [0, 1, 2].map(|plane| chunk(&self.field[plane * voxels..][..voxels], self.size[0] as usize, row, x))
    }
}

/// A chunk of a row of a volume; 0 beyond the end of the row.
#[inline(always)]
pub fn chunk<T: Copy + Default>(volume: &[T], width: usize, row: usize, x: usize) -> [T; CHUNK] {
    let rest = &volume[row * width..][..width][x..];
    if let Some(whole) = rest.first_chunk() {
        return *whole;
    }
    let mut chunk = [T::default(); CHUNK];
    chunk[..rest.len()].copy_from_slice(rest);
    chunk
}

/// Iterates over the rows of several planes at once.
#[inline(always)]
pub fn rows<const N: usize>(planes: [&mut [f32]; N], width: usize) -> impl Iterator<Item = [&mut [f32]; N]> {
    together(planes.map(|plane| plane.chunks_exact_mut(width)))
}

/// Zips iterators of the same length.
#[inline(always)]
fn together<I: Iterator, const N: usize>(mut iterators: [I; N]) -> impl Iterator<Item = [I::Item; N]> {
    std::iter::from_fn(move || {
        let next = iterators.each_mut().map(Iterator::next);
        next.iter().all(Option::is_some).then(|| next.map(|item| item.expect("all have one")))
    })
}

/// Writes a chunk into a row of each plane, and leaves out what is beyond the end of the row.
#[inline(always)]
pub fn store<const N: usize>(planes: &mut [&mut [f32]; N], x: usize, chunks: &[Lanes; N]) {
    for (row, chunk) in planes.iter_mut().zip(chunks) {
        store_one(row, x, chunk);
    }
}

#[inline(always)]
fn store_one(row: &mut [f32], x: usize, chunk: &Lanes) {
    let rest = &mut row[x..];
    match rest.first_chunk_mut() {
        Some(whole) => *whole = *chunk,
        None => rest.copy_from_slice(&chunk[..rest.len()]),
    }
}

/// Writes a voxel's force and precision into lane `l` of three chunks of force and one of precision.
#[inline(always)]
pub fn put(chunks: &mut [Lanes; 4], l: usize, VoxelForce { force: [x, y, z], precision }: VoxelForce) {
    for (chunk, number) in chunks.iter_mut().zip([x, y, z, precision]) {
        chunk[l] = number;
    }
}

/// How a metric's forces and precisions are written to their planes.
#[derive(Clone, Copy)]
pub struct ForceOutput {
    /// 1 / spacing^2, as [`flow::voxel_force`] takes it.
    pub per_square: [f32; 3],
    /// The factor of the forces and precisions.
    pub weight: f32,
    /// Whether they are added to the numbers in the planes instead of replacing them.
    pub adds: bool,
}

/// Writes or adds a chunk of forces and precisions to a row of each plane, as [`VoxelForce::added`] does, and leaves
/// out what is beyond the end of the row.
#[inline(always)]
pub fn store_forces(planes: &mut [&mut [f32]; 4], x: usize, forces: &[Lanes; 4], output: ForceOutput) {
    for (row, force) in planes.iter_mut().zip(forces) {
        let mut sum = if output.adds { chunk(row, row.len(), 0, x) } else { [0.0; CHUNK] };
        for l in 0..CHUNK {
            sum[l] = flow::added(sum[l], force[l], output.weight);
        }
        store_one(row, x, &sum);
    }
}

/// Divides N planes into pieces of whole rows. `work` is called for each piece with the number of its first row, and
/// its part of each plane.
pub fn pieces<const N: usize>(planes: &mut [f32], width: usize, work: impl Fn(usize, [&mut [f32]; N]) + Sync) {
    let rows = PIECE.div_ceil(width);
    let mut whole = planes.chunks_exact_mut(planes.len() / N);
    let planes: [_; N] = std::array::from_fn(|_| whole.next().expect("there are N planes").chunks_mut(rows * width));
    let pieces: Vec<_> = together(planes).collect();
    let pieces = pieces.into_par_iter().enumerate().take_any_while(|_| should_continue());
    pieces.for_each(|(piece, planes)| work(piece * rows, planes));
}

/// Two images and a field.
#[derive(Clone, Copy)]
pub struct FlowTask<'a> {
    pub grid: FieldView<'a>,
    /// 16-bit values.
    pub fixed: &'a [u16],
    /// 16-bit values, with padding.
    pub moving: &'a [u16],
    pub moving_size: [u32; 3],
    /// As [`FlowChannel::masks`](crate::backend::flow::FlowChannel::masks).
    pub masks: [&'a [u8]; 2],
    /// As [`gpu::params::FlowImages::halves`].
    pub halves: u32,
    /// As [`gpu::math::flow::half`] takes them.
    pub blocks: [f32; 3],
    pub map: Affine,
}

impl FlowTask<'_> {
    /// The number of rows. They are numbered with y fastest, then z.
    pub fn rows(&self) -> usize {
        (self.grid.size[1] * self.grid.size[2]) as usize
    }

    /// The positions of a chunk's voxels in the moving image, and which of them are inside it. Positions outside are
    /// clamped, so that they are safe to read.
    #[inline(always)]
    pub fn positions(&self, row: usize, x: usize) -> ([Lanes; 3], [bool; CHUNK]) {
        positions(&self.grid, &self.map, self.moving_size, row, x)
    }

    /// The same positions, and which of the voxels count: those inside the moving image, in a half that counts, and
    /// kept by both masks.
    #[inline(always)]
    pub fn counted(&self, row: usize, x: usize) -> ([Lanes; 3], [bool; CHUNK]) {
        let (positions, mut counts) = self.positions(row, x);
        if self.halves != Halves::Both.number() {
            let [y, z] = [row as u32 % self.grid.size[1], row as u32 / self.grid.size[1]];
            (0..CHUNK).for_each(|l| counts[l] &= self.halves & flow::half([(x + l) as u32, y, z], self.blocks) != 0);
        }
        let [fixed, moving] = self.masks;
        if !fixed.is_empty() {
            let kept = chunk(fixed, self.grid.size[0] as usize, row, x);
            (0..CHUNK).for_each(|l| counts[l] &= kept[l] != 0);
        }
        if !moving.is_empty() {
            for l in 0..CHUNK {
                let position = [positions[0][l], positions[1][l], positions[2][l]];
                // SAFETY: positions are inside, or were clamped.
                counts[l] &= moving[unsafe { interpolate::nearest(position, self.moving_size) } as usize] != 0;
            }
        }
        (positions, counts)
    }

    /// The fixed image's values in a chunk.
    #[inline(always)]
    pub fn fixed(&self, row: usize, x: usize) -> Lanes {
        chunk(self.fixed, self.grid.size[0] as usize, row, x).map(f32::from)
    }
}

/// The positions of the voxels of a chunk of `grid` in an image of `size`: see [`FlowTask::positions`].
#[inline(always)]
pub fn positions(grid: &FieldView, map: &Affine, size: [u32; 3], row: usize, x: usize) -> ([Lanes; 3], [bool; CHUNK]) {
    let displacement = grid.chunk(row, x);
    let height = grid.size[1] as usize;
    let [y, z] = [row % height, row / height].map(|n| n as u32);
    let width = grid.size[0];
    let last = interpolate::last(size);
    let (mut found, mut inside) = ([[0.0; CHUNK]; 3], [false; CHUNK]);
    for l in 0..CHUNK {
        let voxel = [x as u32 + l as u32, y, z];
        let position = flow::position(map, voxel, [displacement[0][l], displacement[1][l], displacement[2][l]]);
        inside[l] = interpolate::inside(position, last) & (voxel[0] < width);
        let safe = interpolate::clamp(position, last);
        for axis in 0..3 {
            found[axis][l] = safe[axis];
        }
    }
    (found, inside)
}

/// Converts stored values to fractions of the intensity range.
#[inline(always)]
pub fn fractions(values: Lanes) -> Lanes {
    values.map(|value| value / bin::FULL)
}
