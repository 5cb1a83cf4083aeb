//! Compares a few samples with an image at very many shifts, by whole voxels and in coarse bins.

use super::binned::{BINS, bins};
use super::elsewhere::lattice;
use super::samples::Samples;
use glam::{DAffine3, DVec3};

/// The distance between shifts along each axis, in units of the moving image's smallest spacing.
const STEP: f64 = 2.0;
/// Each bin is two of those of the samples. The next one is for the background.
const COARSE_BINS: usize = BINS / 2;
/// Cells per row of a joint histogram: the bins, padded up to a power of two.
const ROW: usize = 16;

/// Samples of the fixed image, and shifts at which they are compared with the moving image.
pub struct Scan<'a> {
    samples: &'a Samples<'a>,
    points: Vec<DVec3>,
    fixed_bins: Vec<u8>,
    /// The bins of the moving image within a margin of background.
    moving_bins: Vec<u8>,
    /// The width of the margin and the size with it, voxels.
    margin: isize,
    size: [isize; 3],
    /// In voxels of the moving image.
    shifts: Vec<[isize; 3]>,
    /// n ln n for all counts.
    n_ln_n: Vec<f64>,
}

impl<'a> Scan<'a> {
    /// Prepares shifts of up to `mm`.
    pub fn new(samples: &'a Samples<'a>, mm: f64) -> Self {
        let (image, range) = samples.moving;
        let grid = &image.geometry;
        let (shifts, reach) = shifts(grid.spacing, mm);
        // Half of it for positions outside of the image, half for shifts of these.
        let margin = 2 * (reach + 1);
        let points: Vec<DVec3> = samples.points().collect();
        let coarse = |bins: &[u8]| bins.iter().map(|bin| bin / 2).collect::<Vec<_>>();
        let n_ln_n = |n: usize| if n == 0 { 0.0 } else { n as f64 * libm::log(n as f64) };
        let scan = Self {
            samples,
            fixed_bins: coarse(&samples.bins[..points.len()]),
            moving_bins: Vec::new(),
            margin,
            size: grid.size.map(|n| n as isize + 2 * margin),
            shifts,
            n_ln_n: (0..=points.len()).map(n_ln_n).collect(),
            points,
        };
        let mut moving = vec![COARSE_BINS as u8; scan.size.iter().product::<isize>() as usize];
        for (n, bin) in coarse(&bins(&image.voxels, *range)).into_iter().enumerate() {
            moving[scan.place(grid.index_of(n).map(|n| n as isize)) as usize] = bin;
        }
        Self { moving_bins: moving, ..scan }
    }

    /// Returns where a voxel of the moving image lies among [`Scan::moving_bins`].
    fn place(&self, voxel: [isize; 3]) -> isize {
        let [x, y, z] = voxel.map(|n| n + self.margin);
        x + self.size[0] * (y + self.size[1] * z)
    }

    /// Finds the best shift of the moving image after `map`, which takes fixed points to moving points, LPS mm. Returns
    /// `map` with that shift, and the mutual information there, nats beyond chance.
    pub fn best(&self, map: &DAffine3) -> (DAffine3, f64) {
        let grid = &self.samples.moving.0.geometry;
        let to_index = grid.world_to_index() * *map;
        let outside = self.margin / 2;
        let place = |point: &DVec3| {
            let voxel = to_index.transform_point3(*point).round().to_array();
            self.place(
                [0, 1, 2].map(|axis| (voxel[axis] as isize).clamp(-outside, grid.size[axis] as isize - 1 + outside)),
            )
        };
        let places: Vec<isize> = self.points.iter().map(place).collect();
        let origin = self.place([0; 3]);
        let informed = self.shifts.iter().map(|shift| (shift, self.information(&places, self.place(*shift) - origin)));
        let (shift, information) = informed.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((&[0; 3], 0.0));
        let mm = grid.index_to_world().matrix3 * DVec3::from_array(shift.map(|n| n as f64));
        (DAffine3::from_translation(mm) * *map, information)
    }

    /// Returns the mutual information of the samples with the voxels of the moving image that are `away` from `places`,
    /// nats beyond chance; 0 if too few of these are foreground. There are too many shifts for `metric::information`,
    /// which allocates and computes logarithms.
    fn information(&self, places: &[isize], away: isize) -> f64 {
        let mut counts = [[0_u16; ROW]; ROW];
        for (place, &fixed) in places.iter().zip(&self.fixed_bins) {
            let moving = self.moving_bins[(place + away) as usize];
            counts[usize::from(moving) % ROW][usize::from(fixed) % ROW] += 1;
        }
        let term = |n: u16| self.n_ln_n[usize::from(n)];
        let mut columns = [0; ROW];
        // Chance fills cells of the histogram: see `metric::chance`.
        let (mut nats, mut total, mut filled) = (0.0, 0, 1);
        for row in &counts[..COARSE_BINS] {
            let sum = row.iter().sum();
            nats -= term(sum);
            filled -= i32::from(sum > 0);
            total += sum;
            for (column, &n) in columns.iter_mut().zip(row) {
                nats += term(n);
                filled += i32::from(n > 0);
                *column += n;
            }
        }
        for column in columns {
            nats -= term(column);
            filled -= i32::from(column > 0);
        }
        if usize::from(total) < self.samples.least {
            return 0.0;
        }
        (nats + term(total) - 0.5 * f64::from(filled.max(0))) / f64::from(total.max(1))
    }
}

/// Returns all shifts of up to `mm`, in voxels, and the longest along any axis.
fn shifts(spacing: DVec3, mm: f64) -> (Vec<[isize; 3]>, isize) {
    let step = (STEP * spacing.min_element() / spacing).round().max(DVec3::ONE);
    let voxels = lattice((mm / (step * spacing)).floor()).map(|steps| steps * step);
    let near = voxels.filter(|voxels| (*voxels * spacing).length() <= mm);
    let shifts: Vec<_> = near.map(|voxels| voxels.to_array().map(|n| n as isize)).collect();
    let longest = shifts.iter().flatten().copied().max().unwrap_or(0);
    (shifts, longest)
}

#[cfg(test)]
mod tests {
    use super::super::segments::tests::turned_head;
    use super::*;

    #[test]
    fn the_shift_between_two_images_is_found() {
        let (mut pair, _) = turned_head(0.0, 68.0);
        let shift = DVec3::new(8.0, -12.0, 4.0);
        pair.0[1].0.geometry.origin += shift;
        let samples = Samples::of(&pair.0, &DAffine3::from_translation(shift), 500);
        let (map, information) = Scan::new(&samples, 20.0).best(&DAffine3::IDENTITY);
        assert!(map.translation.distance(shift) < 1e-9 && information > 1.0, "{map:?}, {information}");
        let (map, less) = Scan::new(&samples, 10.0).best(&DAffine3::IDENTITY);
        assert!(map.translation.length() <= 10.0 && less < information / 2.0, "{map:?}, {less}");
    }
}
