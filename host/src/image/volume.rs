//! Volumes: voxels with their grid.

use super::Geometry;
use crate::threads::made_by_piece;
use glam::DVec3;
use rayon::prelude::*;
use std::ops;

/// The type of a voxel in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PixelType {
    /// Unsigned, 8 bits.
    U8,
    /// Signed, 8 bits.
    I8,
    /// Unsigned, 16 bits.
    U16,
    /// Signed, 16 bits.
    I16,
    /// Unsigned, 32 bits.
    U32,
    /// Signed, 32 bits.
    I32,
    /// Unsigned, 64 bits.
    U64,
    /// Signed, 64 bits.
    I64,
    /// Floating point, 32 bits.
    F32,
    /// Floating point, 64 bits.
    F64,
}

impl PixelType {
    /// Bytes of one voxel.
    pub fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }
}

/// The smallest and the largest intensity.
pub type Range = (f32, f32);

/// A box of voxels: columns, rows and slices.
pub(crate) type Part = [ops::Range<usize>; 3];

/// A three-dimensional scalar image, or a two-dimensional one.
///
/// A 2-D image has one voxel along k, which is the z axis: its spacing along k is 1, its origin has z = 0, and its direction
/// turns and mirrors x and y only. A single slice of another orientation keeps its place in space.
#[derive(Debug, Clone, PartialEq)]
pub struct Volume {
    /// The grid of the voxels.
    pub geometry: Geometry,
    /// Intensities after the file's own scaling, i fastest, then j, then k. They are finite, or NaN for voxels without
    /// data.
    pub voxels: Vec<f32>,
    /// The type of the voxels in a file of this volume.
    pub pixel: PixelType,
}

impl Volume {
    /// Makes a volume on the same grid. `voxel` gives the intensity of each voxel, by its number.
    pub(crate) fn with(&self, voxel: impl Fn(usize) -> f32 + Send + Sync) -> Self {
        let voxels = (0..self.voxels.len()).into_par_iter().with_min_len(1 << 15).map(voxel).collect();
        Self { voxels, ..*self }
    }

    /// Makes a volume with NaN in all voxels for whose number `keep` is false.
    pub(crate) fn only(&self, keep: impl Fn(usize) -> bool + Send + Sync) -> Self {
        self.with(|n| if keep(n) { self.voxels[n] } else { f32::NAN })
    }

    /// Returns a volume with 0 where it is NaN, and which of its voxels are not NaN: the opposite of [`Volume::only`].
    pub(crate) fn without_nan(&self) -> (Self, Vec<bool>) {
        let known: Vec<bool> = self.voxels.iter().map(|voxel| !voxel.is_nan()).collect();
        (self.with(|n| if known[n] { self.voxels[n] } else { 0.0 }), known)
    }

    /// Returns the part of a volume that a box holds.
    pub(crate) fn cropped(&self, part: &Part) -> Self {
        let [width, height, _] = self.geometry.size;
        let first = DVec3::from_array(part.each_ref().map(|axis| axis.start as f64));
        let origin = self.geometry.index_to_world().transform_point3(first);
        let [columns, rows, slices] = part;
        let geometry = Geometry { size: part.each_ref().map(ops::Range::len), origin, ..self.geometry };
        let voxels = made_by_piece(geometry.voxels(), columns.len(), |number, row| {
            let (y, z) = (rows.start + number % rows.len(), slices.start + number / rows.len());
            row.copy_from_slice(&self.voxels[(y + height * z) * width..][columns.clone()]);
        });
        Self { geometry, voxels, pixel: self.pixel }
    }

    /// Whether there are voxels without data, which are NaN.
    pub(crate) fn has_gaps(&self) -> bool {
        let gap = |voxels: &[f32]| voxels.iter().fold(false, |gap, voxel| gap | voxel.is_nan());
        self.voxels.par_chunks(1 << 16).any(gap)
    }

    /// The smallest and the largest intensity. NaN is left out.
    pub fn range(&self) -> (f32, f32) {
        let none = (f32::INFINITY, f32::NEG_INFINITY);
        let chunks = self
            .voxels
            .par_chunks(1 << 16)
            .map(|chunk| chunk.iter().fold(none, |all, &v| (all.0.min(v), all.1.max(v))));
        chunks.reduce(|| none, |a, b| (a.0.min(b.0), a.1.max(b.1)))
    }
}
