//! Resampling on the CPU.

use crate::backend::lanes::simd::widest;
use crate::backend::lanes::{CHUNK, Lanes, columns, positions, values};
use crate::image::CubicImage;
use crate::threads::made_by_piece;
use crate::{Result, Volume};
use gpu::math::interpolate::{self, Interpolator};
use gpu::math::{affine, cubic};
use gpu::params::Affine;

/// See [`crate::backend::Backend::resample`].
pub fn resample(moving: &Volume, size: [usize; 3], affine: &Affine, how: Interpolator) -> Result<Vec<f32>> {
    let samples = CubicImage::samples(moving, how)?;
    let moving_size = moving.geometry.size.map(|n| n as u32);
    let columns = columns(affine, size[0]);
    Ok(made_by_piece(size.iter().product(), size[0], |row, out| {
        let row = [row % size[1], row / size[1]].map(|n| n as u32);
        match how {
            Interpolator::Linear | Interpolator::PartialVolume => {
                linear_row(&samples, moving_size, affine, &columns, row, out);
            }
            _ => resample_row(&samples, moving_size, affine, how, row, out),
        }
    }))
}

widest! {
    fn linear_row(
        voxels: &[f32],
        size: [u32; 3],
        matrix: &Affine,
        columns: &[[Lanes; 3]],
        row: [u32; 2],
        out: &mut [f32],
    ) {
        for (out, terms) in out.chunks_mut(CHUNK).zip(columns) {
            let (positions, inside) = positions(matrix, size, terms, row[0], row[1]);
            let mut values = values::volume_linear(voxels, size, &positions);
            for l in 0..CHUNK {
                values[l] = if inside[l] { values[l] } else { 0.0 };
            }
            out.copy_from_slice(&values[..out.len()]);
        }
    }
}

widest! {
    fn resample_row(
        samples: &[f32],
        size: [u32; 3],
        matrix: &Affine,
        how: Interpolator,
        row: [u32; 2],
        out: &mut [f32],
    ) {
        for (x, out) in out.iter_mut().enumerate() {
            let position = affine::position(matrix, [x as u32, row[0], row[1]]);
            // SAFETY: the samples fill the grid, with padding for cubic interpolators.
            *out = unsafe {
                match how.is_cubic() {
                    true => cubic::at(samples, size, position, how),
                    false => interpolate::at(|i| samples[i], size, position, how),
                }
            };
        }
    }
}
