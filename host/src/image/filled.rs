//! Voxels without data, which are NaN, filled from their neighbours: smoothing and interpolation beside them then meet no edge.

use super::Volume;
use rayon::prelude::*;

/// A grid of sums: of the intensities that a cell holds, and how many these are.
struct Cells {
    size: [usize; 3],
    sums: Vec<[f32; 2]>,
}

impl Cells {
    fn index(&self, [x, y, z]: [usize; 3]) -> usize {
        x + self.size[0] * (y + self.size[1] * z)
    }

    fn place(&self, n: usize) -> [usize; 3] {
        let [width, height, _] = self.size;
        [n % width, n / width % height, n / width / height]
    }

    /// Cells of twice the side, each with the mean of those below it that hold something.
    fn coarser(&self) -> Self {
        let size = self.size.map(|n| n.div_ceil(2));
        let mut coarser = Self { size, sums: Vec::new() };
        let cell = |n: usize| {
            let [x, y, z] = coarser.place(n).map(|n| 2 * n);
            let [i, j, k] = [x, y, z].map(|n| [n, n + 1]);
            let cells =
                k.into_iter().flat_map(|z| j.into_iter().flat_map(move |y| i.into_iter().map(move |x| [x, y, z])));
            let inside = cells.filter(|at| (0..3).all(|axis| at[axis] < self.size[axis]));
            let held = inside.map(|at| self.sums[self.index(at)]).filter(|sum| sum[1] > 0.0);
            let (sum, count) = held.fold((0.0, 0.0), |(sum, count), held| (sum + held[0], count + 1.0));
            if count > 0.0 { [sum / count, 1.0] } else { [0.0; 2] }
        };
        coarser.sums = (0..size.iter().product()).into_par_iter().with_min_len(1 << 10).map(cell).collect();
        coarser
    }

    /// Gives each cell that holds nothing what lies around it in a coarser grid without such cells, interpolated.
    fn fill_from(&mut self, coarser: &Self) {
        let filled = |n: usize| {
            if self.sums[n][1] > 0.0 {
                return self.sums[n];
            }
            [coarser.between(self.place(n)), 1.0]
        };
        self.sums = (0..self.sums.len()).into_par_iter().with_min_len(1 << 10).map(filled).collect();
    }

    /// The trilinear value at the middle of a cell of the next finer grid.
    fn between(&self, fine: [usize; 3]) -> f32 {
        // The middle of a fine cell lies a quarter of a coarse one from the middle of its own.
        let near = fine.map(|n| n / 2);
        let far = [0, 1, 2].map(|axis: usize| {
            let next = if fine[axis].is_multiple_of(2) { near[axis].saturating_sub(1) } else { near[axis] + 1 };
            next.min(self.size[axis] - 1)
        });
        let along = |axis: usize| [(near[axis], 0.75), (far[axis], 0.25)];
        let mut sum = 0.0;
        for (z, of_z) in along(2) {
            for (y, of_y) in along(1) {
                for (x, of_x) in along(0) {
                    sum += of_x * of_y * of_z * self.sums[self.index([x, y, z])][0];
                }
            }
        }
        sum
    }
}

/// The volume with every NaN replaced by what lies around it: means of ever larger cells, interpolated; 0 where all are NaN.
pub fn filled(volume: &Volume) -> Volume {
    let hold = |&voxel: &f32| if voxel.is_nan() { [0.0; 2] } else { [voxel, 1.0] };
    let sums = volume.voxels.par_iter().map(hold).collect();
    let mut grids = vec![Cells { size: volume.geometry.size, sums }];
    let has_gaps = |grid: &&Cells| grid.size != [1; 3] && grid.sums.par_iter().any(|sum| sum[1] == 0.0);
    while let Some(coarsest) = grids.last().filter(has_gaps) {
        let coarser = coarsest.coarser();
        grids.push(coarser);
    }
    let mut coarser = grids.pop();
    while let (Some(mut finer), Some(above)) = (grids.pop(), &coarser) {
        finer.fill_from(above);
        coarser = Some(finer);
    }
    let voxels = coarser.map(|grid| grid.sums.par_iter().map(|sum| sum[0]).collect()).unwrap_or_default();
    Volume { geometry: volume.geometry, voxels, pixel: volume.pixel }
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
        let closed = filled(&ramp(hole));
        for (n, (found, was)) in closed.voxels.iter().zip(&whole.voxels).enumerate() {
            let place = [n % 30, n / 30 % 21, n / 630];
            let off = (found - was).abs();
            assert!(if hole(place) { off < 3.0 } else { off == 0.0 }, "{place:?}: {found} for {was}");
        }
    }

    #[test]
    fn one_number_fills_all() {
        let alone = filled(&ramp(|place| place != [7, 3, 2]));
        assert!(alone.voxels.iter().all(|&voxel| voxel == 7.0));
        assert!(filled(&ramp(|_| true)).voxels.iter().all(|&voxel| voxel == 0.0), "nothing fills nothing");
    }
}
