//! Fills voxels without data, which are NaN, from their neighbours, so that smoothing and interpolation next to them
//! meet no edge.

use super::Volume;
use rayon::prelude::*;

/// Numbers on a grid, NaN where there is none.
struct Cells {
    size: [usize; 3],
    values: Vec<f32>,
}

/// The two cells next to a position along an axis, and their interpolation weights.
type Around = [(usize, f32); 2];

impl Cells {
    fn row(&self, y: usize, z: usize) -> &[f32] {
        &self.values[(y + self.size[1] * z) * self.size[0]..][..self.size[0]]
    }

    fn has_gaps(&self) -> bool {
        self.values.par_chunks(1 << 16).any(|values| values.iter().any(|value| value.is_nan()))
    }

    /// The grid with cells of twice the side, each with the mean of the numbers in the fine cells below it.
    fn coarser(&self) -> Self {
        let size = self.size.map(|n| n.div_ceil(2));
        let [width, height, _] = size;
        let mut values = vec![0.0; size.iter().product()];
        values.par_chunks_mut(width).with_min_len(16).enumerate().for_each(|(row, means)| {
            let pair = |n: usize, axis: usize| 2 * n..(2 * n + 2).min(self.size[axis]);
            let rows = || pair(row / height, 2).flat_map(|z| pair(row % height, 1).map(move |y| self.row(y, z)));
            for (x, mean) in means.iter_mut().enumerate() {
                let held = rows().flat_map(|row| &row[pair(x, 0)]).filter(|value| !value.is_nan());
                let (sum, count) = held.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
                // NaN if there are none.
                *mean = sum / count;
            }
        });
        Self { size, values }
    }

    /// The trilinear value at a position.
    fn between(&self, [x, y, z]: [Around; 3]) -> f32 {
        let mut sum = 0.0;
        for (z, of_z) in z {
            for (y, of_y) in y {
                let row = self.row(y, z);
                for (x, of_x) in x {
                    sum += of_x * of_y * of_z * row[x];
                }
            }
        }
        sum
    }

    /// The two cells along an axis next to the middle of a cell of the next finer grid, and their weights.
    fn around(&self, fine: usize, axis: usize) -> Around {
        // The middle of a fine cell is a quarter of a coarse cell away from the middle of the coarse cell that contains
        // it.
        let near = fine / 2;
        let far = if fine.is_multiple_of(2) { near.saturating_sub(1) } else { near + 1 };
        [(near, 0.75), (far.min(self.size[axis] - 1), 0.25)]
    }

    /// Fills each empty cell by interpolation in a coarser grid that has no empty cells.
    fn fill_from(&mut self, coarser: &Self) {
        let [width, height, _] = self.size;
        let columns: Vec<Around> = (0..width).map(|x| coarser.around(x, 0)).collect();
        self.values.par_chunks_mut(width).with_min_len(16).enumerate().for_each(|(row, values)| {
            let (y, z) = (coarser.around(row % height, 1), coarser.around(row / height, 2));
            for (value, &x) in values.iter_mut().zip(&columns).filter(|(value, _)| value.is_nan()) {
                *value = coarser.between([x, y, z]);
            }
        });
    }

    /// Fills all empty cells; with 0 if all are empty.
    fn filled(mut self) -> Self {
        if !self.has_gaps() {
            return self;
        }
        if self.size == [1; 3] {
            return Self { values: vec![0.0], ..self };
        }
        let coarser = self.coarser().filled();
        self.fill_from(&coarser);
        self
    }
}

/// Replaces every NaN by interpolation of the numbers around it: of means over cells that are larger the larger the gap
/// is. If all voxels are NaN, they become 0.
pub fn filled(volume: Volume) -> Volume {
    let Volume { geometry, voxels, pixel } = volume;
    let Cells { values, .. } = Cells { size: geometry.size, values: voxels }.filled();
    Volume { geometry, voxels: values, pixel }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Geometry, PixelType};
    use glam::DVec3;

    fn ramp(missing: impl Fn([usize; 3]) -> bool) -> Volume {
        let geometry = Geometry::axis_aligned([30, 21, 17], DVec3::ONE, DVec3::ZERO);
        let place = |n: usize| [n % 30, n / 30 % 21, n / 630];
        let voxel = |n: usize| if missing(place(n)) { f32::NAN } else { (n % 30) as f32 };
        Volume { geometry, voxels: (0..geometry.voxels()).map(voxel).collect(), pixel: PixelType::F32 }
    }

    #[test]
    fn holes_are_closed_by_what_surrounds_them_and_the_rest_stays() {
        let whole = ramp(|_| false);
        let hole = |[x, y, z]: [usize; 3]| (10..16).contains(&x) && (6..12).contains(&y) && (5..11).contains(&z);
        let closed = filled(ramp(hole));
        for (n, (found, was)) in closed.voxels.iter().zip(&whole.voxels).enumerate() {
            let place = [n % 30, n / 30 % 21, n / 630];
            let off = (found - was).abs();
            assert!(if hole(place) { off < 3.0 } else { off == 0.0 }, "{place:?}: {found} for {was}");
        }
    }

    #[test]
    fn one_number_fills_all() {
        let alone = filled(ramp(|place| place != [7, 3, 2]));
        assert!(alone.voxels.iter().all(|&voxel| voxel == 7.0));
        assert!(filled(ramp(|_| true)).voxels.iter().all(|&voxel| voxel == 0.0), "nothing fills nothing");
    }
}
