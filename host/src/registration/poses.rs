//! The mutual information of two images where they were placed and at poses around, which are shifted or rotated.

use super::binned::{BINS, Ranged, Table, bins};
use super::moments::Moments;
use crate::metric::{self, NO_INFORMATION};
use crate::plane::canvas::Canvas;
use crate::transform::plane;
use crate::{Geometry, PixelType, Volume};
use glam::{DAffine3, DMat3, DVec3};
use rayon::prelude::*;
use std::f64::consts::TAU;
use std::ops::Range;

/// How far the poses around are shifted, as fractions of the moving image's longest side; the fewest voxels of a shift;
/// and how many shifts of each length there are in 2-D.
const SHIFTS: [f64; 3] = [0.04, 0.08, 0.12];
const FEWEST: f64 = 2.5;
const DIRECTIONS: usize = 8;
/// The poses around are also rotated, by multiples of these fractions of a full turn: in 2-D, and in 3-D about each
/// principal axis of the common foreground. Round outlines agree as well at other rotations.
const TURNS: u32 = 8;
const TURNS_IN_SPACE: u32 = 4;

/// Local contrast agrees if its mutual information is this many times that of the best pose around.
pub const CONTRAST_LEAD: f64 = 3.5;
/// A pose stands if its optimum agrees this many times better than any other one around.
pub const OPTIMUM_LEAD: f64 = 1.5;
/// A second pose with more than this fraction of what the best one has is as good as the best one.
pub const AS_GOOD: f64 = 0.9;
/// Mutual information that counts as none, nats beyond chance.
pub const LITTLE_INFORMATION: f64 = 0.04;
/// The least mutual information of volumes around, nats: local contrast leads only if it has [`LITTLE_INFORMATION`]. An
/// object that fills less than a hundredth of its image is not told from noise. Then everything counts as foreground,
/// and agrees a little better where the objects lie on each other, however they are rotated.
pub const LITTLE_AROUND: f64 = LITTLE_INFORMATION / CONTRAST_LEAD;
/// The most mutual information around that ratios are formed with, nats. Smooth images without noise share so much
/// several voxels away that hardly any ratio is left, although they share far more where they belong.
const MUCH_AROUND: f64 = 1.0;

/// Returns whether the mutual information at one pose makes it better than another, which has the information `than`.
pub fn is_clearly_more(information: f64, than: f64) -> bool {
    information * AS_GOOD > than
}

/// The fixed and the moving image.
pub struct Pair(pub [Ranged; 2]);

/// The mutual information of two images, nats beyond chance.
pub struct PoseInformation {
    /// Where they were placed.
    pub here: f64,
    /// The largest at the poses around, but at least [`LITTLE_AROUND`] for volumes.
    around: f64,
}

impl PoseInformation {
    /// Returns the ratio of the information where they were placed to that at the poses around. What exceeds
    /// [`MUCH_AROUND`] there is subtracted from both.
    pub fn lead(&self) -> f64 {
        let around = self.around.min(MUCH_AROUND);
        (self.here - (self.around - around)).max(0.0) / around
    }
}

impl Pair {
    /// Resamples the moving image through a map onto the grid of the fixed one and `margin` voxels more on each side.
    /// Returns its bins and the canvas.
    pub fn laid(&self, map: &DAffine3, margin: usize) -> (Vec<u8>, Canvas) {
        let Self([(fixed, _), (moving, range)]) = self;
        let canvas = Canvas::new(moving, &fixed.geometry, map, margin);
        (bins(&canvas.voxels, *range), canvas)
    }

    /// Returns the fixed image's foreground, positioned on such a canvas.
    fn runs(&self, canvas: &Canvas) -> Runs {
        let Self([(fixed, range), _]) = self;
        let grid = &fixed.geometry;
        let at = |n: usize| canvas.index(grid.index_of(n).map(|i| i as isize));
        Runs::new(bins(&fixed.voxels, *range), grid.size[0], at)
    }

    pub fn fixed(&self) -> &Volume {
        let Self([(fixed, _), _]) = self;
        fixed
    }

    /// Returns the pair with these voxels of the fixed image only, in ascending order.
    pub fn of_part(&self, voxels: &[usize]) -> Self {
        let Self([(fixed, range), moving]) = self;
        Self([(fixed.only(|n| voxels.binary_search(&n).is_ok()), *range), moving.clone()])
    }

    /// Returns the mutual information at `to` alone, nats beyond chance.
    pub fn here(&self, to: &DAffine3) -> f64 {
        let (moving, canvas) = self.laid(to, 0);
        self.runs(&canvas).information(&moving, 0)
    }

    /// Compares the images at `to` with a rival map.
    pub fn rival_information(&self, to: &DAffine3, rival: &DAffine3) -> PoseInformation {
        PoseInformation { here: self.here(to), around: self.here(rival).max(self.least_around()) }
    }

    fn least_around(&self) -> f64 {
        if self.fixed().geometry.is_flat() { NO_INFORMATION } else { LITTLE_AROUND }
    }

    /// Compares volumes also at poses that are rotated about the principal axes of the common foreground. This takes
    /// several times as long as the shifts do.
    pub fn also_rotated(&self, PoseInformation { here, around }: PoseInformation, to: &DAffine3) -> PoseInformation {
        let (moving, canvas) = self.laid(to, 0);
        let turns = self.runs(&canvas).turns(to, &moving, &self.fixed().geometry);
        let rotated = turns.par_iter().map(|map| self.here(map)).reduce(|| f64::NEG_INFINITY, f64::max);
        PoseInformation { here, around: around.max(rotated) }
    }

    /// Compares the images at `to` and at the poses around it, of which those of volumes are only shifted. `side` is the
    /// longest side of the moving image, mm.
    pub fn pose_information(&self, to: &DAffine3, side: f64) -> PoseInformation {
        let grid = &self.fixed().geometry;
        let shifts = shifts(grid, to, side);
        let margin = shifts.iter().flatten().map(|n| n.unsigned_abs()).max().unwrap_or(0);
        let lay = |map: &DAffine3| self.laid(map, margin);
        let (here, canvas) = lay(to);
        let fixed = self.runs(&canvas);
        let information = |moving: &[u8], shift| fixed.information(moving, canvas.index(shift) - canvas.index([0; 3]));
        let most = |moving: &[u8], shifts: &[[isize; 3]]| {
            shifts.par_iter().map(|shift| information(moving, *shift)).reduce(|| f64::NEG_INFINITY, f64::max)
        };
        let places = [&[[0; 3]], &*shifts].concat();
        let turned = |map: &DAffine3| most(&lay(map).0, &places);
        let turns = if grid.is_flat() { fixed.turns(to, &here, grid) } else { Vec::new() };
        let most_turned = turns.par_iter().map(turned).reduce(|| f64::NEG_INFINITY, f64::max);
        let around = most(&here, &shifts).max(most_turned).max(self.least_around());
        PoseInformation { here: information(&here, [0; 3]), around }
    }
}

/// Returns the shifts of the poses around `to`, whole voxels of the fixed image.
pub fn shifts(grid: &Geometry, to: &DAffine3, side: f64) -> Vec<[isize; 3]> {
    let voxels = grid.world_to_index().matrix3 * to.matrix3.inverse();
    let around: Vec<DVec3> = around(grid).into_iter().map(|part| voxels * (side * part)).collect();
    let nearest = around.iter().map(|shift| shift.length()).fold(f64::INFINITY, f64::min);
    around.iter().map(|shift| rounded_to_voxels(*shift * (FEWEST / nearest).max(1.0), grid)).collect()
}

/// Returns a rotation with each of its columns as the last one.
fn permuted(DMat3 { x_axis, y_axis, z_axis }: DMat3) -> [DMat3; 3] {
    [[y_axis, z_axis, x_axis], [z_axis, x_axis, y_axis], [x_axis, y_axis, z_axis]]
        .map(|[x, y, z]| DMat3::from_cols(x, y, z))
}

/// Returns the shifts of the poses around as fractions of the longest side. In 2-D, directions of one length lie
/// halfway between those of the one before; in 3-D they are the axes and diagonals of a cube.
fn around(grid: &Geometry) -> Vec<DVec3> {
    let ring = |(ring, part): (usize, &f64)| directions(grid, ring).into_iter().map(|v| v * *part).collect::<Vec<_>>();
    SHIFTS.iter().enumerate().flat_map(ring).collect()
}

/// Returns unit vectors in all directions. In 2-D, those of a ring lie halfway between those of the one before.
pub fn directions(grid: &Geometry, ring: usize) -> Vec<DVec3> {
    let turn = |n: usize| TAU * (n as f64 + 0.5 * ring as f64) / DIRECTIONS as f64;
    let in_plane = |n: usize| {
        let (sin, cos) = libm::sincos(turn(n));
        DVec3::new(cos, sin, 0.0)
    };
    if grid.is_flat() { (0..DIRECTIONS).map(in_plane).collect() } else { in_space() }
}

/// Returns unit vectors along the axes and the diagonals of a cube.
fn in_space() -> Vec<DVec3> {
    let steps = [-1.0, 0.0, 1.0];
    let all = steps.into_iter().flat_map(|z| steps.into_iter().flat_map(move |y| steps.map(|x| DVec3::new(x, y, z))));
    all.filter(|v| matches!(v.length_squared(), 1.0 | 3.0)).map(DVec3::normalize).collect()
}

/// Rounds a shift to whole voxels, and limits it to the longest side of the grid.
fn rounded_to_voxels(voxels: DVec3, grid: &Geometry) -> [isize; 3] {
    let most = grid.size.into_iter().max().unwrap_or(0) as f64;
    voxels.to_array().map(|n| n.round().clamp(-most, most) as isize)
}

/// Foreground voxels of the fixed image, as runs along its rows.
struct Runs {
    bins: Vec<u8>,
    /// Of each run, where its first voxel lies on the canvas, and the range of its bins.
    runs: Vec<(isize, Range<usize>)>,
}

impl Runs {
    /// Finds the runs of bins of all voxels; `place` returns where a voxel lies on the canvas.
    fn new(bins: Vec<u8>, width: usize, place: impl Fn(usize) -> isize) -> Self {
        let is_image = |n: usize| usize::from(bins[n]) < BINS;
        let mut runs: Vec<(isize, Range<usize>)> = Vec::new();
        for n in (0..bins.len()).filter(|&n| is_image(n)) {
            match runs.last_mut() {
                Some((_, run)) if run.end == n && n % width > 0 => run.end += 1,
                _ => runs.push((place(n), n..n + 1)),
            }
        }
        Self { bins, runs }
    }

    /// Returns the maps that rotate the fixed image about the centre of the common foreground before they apply `to`.
    /// `moving` has the moving image's bins at `to`.
    fn turns(&self, to: &DAffine3, moving: &[u8], grid: &Geometry) -> Vec<DAffine3> {
        let common = Moments::of(&self.common(moving, grid));
        let (frames, turns) = match grid.is_flat() {
            true => (vec![DMat3::IDENTITY], TURNS),
            false => (permuted(common.axes()).to_vec(), TURNS_IN_SPACE),
        };
        let turned = |frame: DMat3, n: u32| {
            let turn = frame * plane(TAU * f64::from(n) / f64::from(turns)) * frame.transpose();
            *to * DAffine3::from_mat3_translation(turn, common.centre - turn * common.centre)
        };
        frames.into_iter().flat_map(|frame| (1..turns).map(move |n| turned(frame, n))).collect()
    }

    /// Returns a mask of the voxels that are foreground in the moving image, too.
    fn common(&self, moving: &[u8], grid: &Geometry) -> Volume {
        let mut voxels = vec![0.0; self.bins.len()];
        for (at, n) in self.runs.iter().flat_map(|(at, run)| (*at..).zip(run.clone())) {
            voxels[n] = f32::from(usize::from(moving[at as usize]) < BINS);
        }
        Volume { geometry: *grid, voxels, pixel: PixelType::U8 }
    }

    /// Returns the mutual information with the moving image's bins at an offset of `away` on the canvas, nats beyond
    /// chance.
    fn information(&self, moving: &[u8], away: isize) -> f64 {
        let mut table = Table::new();
        for (at, run) in &self.runs {
            table.count(&self.bins[run.clone()], &moving[(at + away) as usize..][..run.len()]);
        }
        metric::information(&table.counts(), BINS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn much_information_around_hides_no_lead() {
        let lead = |here, around| PoseInformation { here, around }.lead();
        assert_eq!([lead(0.6, 0.3), lead(0.3, 0.6), lead(-0.1, 0.3)], [2.0, 0.5, 0.0]);
        assert_eq!([lead(2.5, 2.0), lead(2.0, 2.0), lead(1.0, 3.0)], [1.5, 1.0, 0.0]);
    }
}
