//! A pair of images and a map, prepared for counting on the CPU.

// Loops over lanes index several arrays at once.
#![allow(clippy::needless_range_loop)]

use crate::backend::lanes::{self, CHUNK, Lanes};
use crate::backend::mattes::{MattesPair, Windows};
use crate::image::{BinImage, StoredImage};
use gpu::math::{bin, mattes};
use gpu::params::Affine;

/// A pair of images and a map from voxels of the fixed to voxels of the moving image.
pub struct MattesTask<'a> {
    fixed: &'a [u16],
    pub fixed_size: [usize; 3],
    pub moving: &'a [u16],
    pub moving_size: [u32; 3],
    /// Bins of the fixed and of the moving image.
    pub bins: [u32; 2],
    pub windows: Windows,
    affine: Affine,
    columns: Vec<[Lanes; 3]>,
}

impl<'a> MattesTask<'a> {
    /// Makes a task of both images of a pair, and a map.
    pub fn new((fixed, moving): (&'a BinImage, &'a StoredImage), pair: &MattesPair, map: &Affine) -> Self {
        Self {
            fixed: &fixed.bins,
            fixed_size: fixed.size,
            moving: &moving.values,
            moving_size: moving.size.map(|n| n as u32),
            bins: pair.bins,
            windows: pair.windows,
            affine: *map,
            columns: lanes::columns(map, fixed.size[0]),
        }
    }

    /// The number of rows of the fixed image. They are numbered with y fastest, then z.
    pub fn rows(&self) -> usize {
        self.fixed_size[1] * self.fixed_size[2]
    }

    /// y and z of a row.
    #[inline(always)]
    pub fn row(&self, row: usize) -> [u32; 2] {
        [row % self.fixed_size[1], row / self.fixed_size[1]].map(|n| n as u32)
    }

    /// The number of chunks in a row.
    #[inline(always)]
    pub fn chunks(&self) -> usize {
        self.columns.len()
    }

    /// The number of first bins that a moving window can have, which is the distance in tables from one fixed bin to
    /// the next.
    #[inline(always)]
    pub fn stride(&self) -> u32 {
        self.bins[1] - 3
    }

    /// The fixed image in a chunk of a row, with masked voxels beyond the end of the row.
    #[inline(always)]
    fn fixed(&self, row: usize, chunk: usize) -> [u16; CHUNK] {
        let width = self.fixed_size[0];
        let rest = &self.fixed[row * width..][..width][chunk * CHUNK..];
        if let Some(whole) = rest.first_chunk() {
            return *whole;
        }
        let mut fixed = [bin::MASKED; CHUNK];
        fixed[..rest.len()].copy_from_slice(rest);
        fixed
    }

    /// A chunk of a row.
    #[inline(always)]
    pub fn chunk<const BOTH: bool>(&self, row: usize, chunk: usize) -> Chunk {
        let [y, z] = self.row(row);
        let fixed = self.fixed(row, chunk);
        let (positions, inside) = lanes::positions(&self.affine, self.moving_size, &self.columns[chunk], y, z);
        // All stored values count, except that of masked voxels.
        let end = if BOTH { u32::from(bin::MASKED) } else { self.bins[0] };
        let mut counted = [false; CHUNK];
        for l in 0..CHUNK {
            counted[l] = inside[l] & (u32::from(fixed[l]) < end);
        }
        Chunk { positions, fixed, counted }
    }
}

/// Neighbouring samples along x.
pub struct Chunk {
    /// Positions in the moving image. All are inside, also those of samples that are not counted.
    pub positions: [Lanes; 3],
    /// Bins of the fixed image, or its stored values if both images have windows.
    pub fixed: [u16; CHUNK],
    pub counted: [bool; CHUNK],
}

/// [`mattes::window`] of stored values: the first bin of each window, and the fraction into the second bin.
#[inline(always)]
pub fn windows(values: &Lanes, bins: u32) -> ([u32; CHUNK], Lanes) {
    let scale = mattes::scale(bins);
    let (mut first, mut into) = ([0; CHUNK], [0.0; CHUNK]);
    for l in 0..CHUNK {
        // SAFETY: interpolated values are in the range of the stored ones.
        (first[l], into[l]) = unsafe { mattes::window(values[l], bins, scale) };
    }
    (first, into)
}

/// Values of the fixed image, as [`windows`] takes them.
#[inline(always)]
pub fn values(fixed: &[u16; CHUNK]) -> Lanes {
    fixed.map(f32::from)
}
