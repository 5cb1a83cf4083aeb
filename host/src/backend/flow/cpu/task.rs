//! Two images and a field between them, a row of the fixed grid at a time, in chunks that the compiler turns into vector instructions.

// Loops over lanes run along several arrays at once.
#![allow(clippy::needless_range_loop)]

use crate::backend::lanes::{CHUNK, Lanes};
use crate::threads::wanted;
use gpu::math::{bin, flow, interpolate};
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

    /// Reads the field by index in memory.
    ///
    /// # Safety
    /// The index is in the planes or their padding.
    #[inline(always)]
    pub unsafe fn number(&self, index: usize) -> f32 {
        // SAFETY: as this function's. Signed offsets are what vector gathers take.
        unsafe { *self.field.as_ptr().offset(index as u32 as i32 as isize) }
    }

    /// The displacements of a chunk, which are 0 after the row's end.
    #[inline(always)]
    pub fn chunk(&self, row: usize, x: usize) -> [Lanes; 3] {
        let voxels = self.voxels();
        [0, 1, 2].map(|plane| chunk(&self.field[plane * voxels..][..voxels], self.size[0] as usize, row, x))
    }
}

/// A chunk of a row of a volume, with 0 after the row's end.
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

/// The rows of a piece of three planes.
#[inline(always)]
pub fn rows([xs, ys, zs]: [&mut [f32]; 3], width: usize) -> impl Iterator<Item = [&mut [f32]; 3]> {
    let [xs, ys, zs] = [xs, ys, zs].map(|plane| plane.chunks_exact_mut(width));
    xs.zip(ys).zip(zs).map(|((xs, ys), zs)| [xs, ys, zs])
}

/// Puts a chunk of a row into each of three planes, but for what is after the row's end.
#[inline(always)]
pub fn store([xs, ys, zs]: &mut [&mut [f32]; 3], x: usize, [a, b, c]: &[Lanes; 3]) {
    store_one(xs, x, a);
    store_one(ys, x, b);
    store_one(zs, x, c);
}

#[inline(always)]
fn store_one(row: &mut [f32], x: usize, chunk: &Lanes) {
    let rest = &mut row[x..];
    match rest.first_chunk_mut() {
        Some(whole) => *whole = *chunk,
        None => rest.copy_from_slice(&chunk[..rest.len()]),
    }
}

/// Works on pieces of three planes: `work` gets the first row of a piece and what the planes hold of it, whole rows.
pub fn pieces(planes: &mut [f32], width: usize, work: impl Fn(usize, [&mut [f32]; 3]) + Sync) {
    let rows = PIECE.div_ceil(width);
    let (x, rest) = planes.split_at_mut(planes.len() / 3);
    let (y, z) = rest.split_at_mut(x.len());
    let planes = x.par_chunks_mut(rows * width).zip(y.par_chunks_mut(rows * width)).zip(z.par_chunks_mut(rows * width));
    let pieces = planes.enumerate().take_any_while(|_| wanted());
    pieces.for_each(|(piece, ((x, y), z))| work(piece * rows, [x, y, z]));
}

/// Two images and a field.
#[derive(Clone, Copy)]
pub struct FlowTask<'a> {
    pub grid: FieldView<'a>,
    /// 16-bit values.
    pub fixed: &'a [u16],
    /// 16-bit values and their padding.
    pub moving: &'a [u16],
    pub moving_size: [u32; 3],
    /// As [`FlowLevel::masks`](crate::backend::flow::FlowLevel::masks).
    pub masks: [&'a [u8]; 2],
    pub map: Affine,
}

impl FlowTask<'_> {
    /// Rows, numbered with y fastest, then z.
    pub fn rows(&self) -> usize {
        (self.grid.size[1] * self.grid.size[2]) as usize
    }

    /// Where a chunk's voxels lie in the moving image, and which of them lie inside; those outside are moved to where it is safe to
    /// read.
    #[inline(always)]
    pub fn positions(&self, row: usize, x: usize) -> ([Lanes; 3], [bool; CHUNK]) {
        positions(&self.grid, &self.map, self.moving_size, row, x)
    }

    /// The same, and which of those inside both masks keep.
    #[inline(always)]
    pub fn counted(&self, row: usize, x: usize) -> ([Lanes; 3], [bool; CHUNK]) {
        let (positions, mut counts) = self.positions(row, x);
        let [fixed, moving] = self.masks;
        if !fixed.is_empty() {
            let kept = chunk(fixed, self.grid.size[0] as usize, row, x);
            (0..CHUNK).for_each(|l| counts[l] &= kept[l] != 0);
        }
        if !moving.is_empty() {
            for l in 0..CHUNK {
                let position = [positions[0][l], positions[1][l], positions[2][l]];
                // SAFETY: positions are inside, or were moved there.
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

/// Where the voxels of a chunk of `grid` lie in an image of `size`, as [`FlowTask::positions`].
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

/// Fractions of the range.
#[inline(always)]
pub fn fractions(values: Lanes) -> Lanes {
    values.map(|value| value / bin::FULL)
}
