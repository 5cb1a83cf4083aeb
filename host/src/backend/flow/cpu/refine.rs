//! Resamples a field on another grid.

use super::task::{FieldView, pieces, rows};
use crate::backend::lanes::simd::widest;
use gpu::math::interpolate::{self, Place, lerp};

/// Resamples a field on a grid of `size`, as [`gpu::math::flow::refined`] does for each voxel. Each row of the old grid
/// is resampled along x once for all new rows between it and the next.
pub fn refine(old: &FieldView, [from, ratio]: [[f32; 3]; 2], size: [u32; 3], out: &mut [f32]) {
    let [columns, ys, zs] = [0, 1, 2].map(|axis: usize| {
        let position = |voxel: u32| voxel as f32 / ratio[axis] + from[axis];
        (0..size[axis]).map(|voxel| place(position(voxel), old.size[axis])).collect::<Vec<_>>()
    });
    let [width, height] = [size[0] as usize, size[1] as usize];
    let [old_height, old_depth] = [old.size[1] as usize, old.size[2] as usize];
    pieces(out, width, |first, planes: [_; 3]| {
        let mut near = OldRows::new(width);
        for (row, planes) in rows(planes, width).enumerate() {
            let [y, z] = [&ys[(first + row) % height], &zs[(first + row) / height]];
            for (axis, out) in planes.into_iter().enumerate() {
                let low = y.index as usize + old_height * (z.index as usize + old_depth * axis);
                let rows = [[low, low + 1], [low + old_height, low + old_height + 1]];
                let rows = near.resampled(old, &columns, axis, rows);
                between(rows, [y.fraction, z.fraction, ratio[axis]], out);
            }
        }
    });
}

/// Returns the place of a position on an axis of `len` voxels. Positions outside are clamped.
fn place(position: f32, len: u32) -> Place<f32> {
    let line = [len, 1, 1];
    let inside = interpolate::clamp([position, 0.0, 0.0], interpolate::last(line));
    // SAFETY: a clamped position is inside, and no size is above 2^22.
    let place = unsafe { interpolate::place(inside, line) };
    Place { index: place.index, fraction: place.fraction[0] }
}

/// The rows of the old grid around a new row, resampled along x. Rows are numbered through all planes and their padding:
/// as in [`gpu::math::field::at`], the row after the last one of a plane is read, and has no weight.
struct OldRows(Vec<OldRow>);

struct OldRow {
    number: usize,
    resampled: Vec<f32>,
}

impl OldRows {
    fn new(width: usize) -> Self {
        Self((0..12).map(|_| OldRow { number: usize::MAX, resampled: vec![0.0; width] }).collect())
    }

    /// Returns these rows of a plane: at y and y + 1, for z and z + 1.
    fn resampled(
        &mut self,
        old: &FieldView,
        columns: &[Place<f32>],
        plane: usize,
        rows: [[usize; 2]; 2],
    ) -> [[&[f32]; 2]; 2] {
        // The next row along y is also the first one of what comes next, so each row stays in the place of its parity.
        let slot = |z: usize, row: usize| 4 * plane + 2 * z + row % 2;
        for (z, number) in [0, 1].into_iter().flat_map(|z| rows[z].map(|number| (z, number))) {
            let row = &mut self.0[slot(z, number)];
            if row.number != number {
                row.number = number;
                resample(old, number * old.size[0] as usize, columns, &mut row.resampled);
            }
        }
        [0, 1].map(|z: usize| rows[z].map(|number| &*self.0[slot(z, number)].resampled))
    }
}

widest! {
    /// Resamples the row of the old grid that begins at this index in memory.
    fn resample(old: &FieldView, row: usize, columns: &[Place<f32>], out: &mut [f32]) {
        for (out, column) in out.iter_mut().zip(columns) {
            let at = row + column.index as usize;
            // SAFETY: the field has its padding.
            let [low, high] = unsafe { [old.number(at), old.number(at + 1)] };
            *out = lerp(low, high, column.fraction);
        }
    }
}

widest! {
    /// Interpolates along y, then along z, and converts to voxels of the new grid.
    fn between(rows: [[&[f32]; 2]; 2], how: [f32; 3], out: &mut [f32]) {
        let [y, z, ratio] = how;
        let [near, far] = rows.map(|[low, high]| low.iter().zip(high));
        for (out, ((a, b), (c, d))) in out.iter_mut().zip(near.zip(far)) {
            *out = lerp(lerp(*a, *b, y), lerp(*c, *d, y), z) * ratio;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::flow::padded;
    use gpu::math::flow;

    #[test]
    fn rows_have_the_bits_of_single_voxels() {
        let (old_size, size) = ([7, 5, 6], [40, 30, 20]);
        let planes: Vec<_> = (0..3 * 7 * 5 * 6).map(|i| (i as f32 * 0.7).sin() - 0.1).collect();
        let field = padded(&planes, old_size.map(|n| n as usize));
        let old = FieldView { size: old_size, field: &field };
        // Finer and coarser grids, which begin inside and outside.
        for how in [[[-0.3, 0.2, 0.0], [6.0, 5.5, 3.3]], [[1.1, -2.0, 0.4], [2.0, 9.0, 0.9]]] {
            let voxels = size.iter().product::<u32>() as usize;
            let mut out = vec![0.0; 3 * voxels];
            refine(&old, how, size, &mut out);
            for i in 0..voxels as u32 {
                let voxel = [i % size[0], i / size[0] % size[1], i / (size[0] * size[1])];
                // SAFETY: the field has its padding.
                let expected = unsafe { flow::refined(|i| field[i], old_size, voxel, how) };
                let found = [0, 1, 2].map(|plane: usize| out[plane * voxels + i as usize]);
                assert_eq!(found.map(f32::to_bits), expected.map(f32::to_bits), "{voxel:?}");
            }
        }
    }
}
