//! The mutual information of two images where they were placed and at poses around, which are shifted and in 2-D also
//! rotated.

use super::binned::{BINS, Ranged, Table, bins};
use crate::Geometry;
use crate::metric::{self, NO_INFORMATION};
use crate::plane::canvas::Canvas;
use glam::{DAffine3, DMat3, DVec3};
use rayon::prelude::*;
use std::f64::consts::TAU;
use std::ops::Range;

/// How far the poses around are shifted, as fractions of the moving image's longest side; the fewest voxels of a shift;
/// and how many shifts of each length there are in 2-D.
const SHIFTS: [f64; 3] = [0.04, 0.08, 0.12];
const FEWEST: f64 = 2.5;
const DIRECTIONS: usize = 8;
/// In 2-D the poses around are also rotated, by multiples of this fraction of a full turn.
const TURNS: u32 = 8;

/// The fixed and the moving image.
pub struct Pair(pub [Ranged; 2]);

/// The mutual information of two images, nats beyond chance.
pub struct PoseInformation {
    /// Where they were placed.
    pub here: f64,
    /// The largest at the poses around.
    pub around: f64,
}

impl PoseInformation {
    /// Returns how many times the information where they were placed exceeds that at the poses around.
    pub fn lead(&self) -> f64 {
        self.here.max(0.0) / self.around.max(NO_INFORMATION)
    }
}

impl Pair {
    /// Resamples the moving image through a map onto the grid of the fixed one and `margin` voxels more on each side.
    /// Returns its bins and the canvas.
    fn laid(&self, map: &DAffine3, margin: usize) -> (Vec<u8>, Canvas) {
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

    /// Returns the mutual information at `to` alone, nats beyond chance.
    pub fn here(&self, to: &DAffine3) -> f64 {
        let (moving, canvas) = self.laid(to, 0);
        self.runs(&canvas).information(&moving, 0)
    }

    /// Compares the images at `to` and at the poses around it. `side` is the longest side of the moving image, mm.
    pub fn pose_information(&self, to: &DAffine3, side: f64) -> PoseInformation {
        let Self([(fixed, _), _]) = self;
        let grid = &fixed.geometry;
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
        let turns = if grid.is_flat() { turns(to, fixed.middle(&here, grid)) } else { Vec::new() };
        let most_turned = turns.par_iter().map(turned).reduce(|| f64::NEG_INFINITY, f64::max);
        PoseInformation { here: information(&here, [0; 3]), around: most(&here, &shifts).max(most_turned) }
    }
}

/// Returns the shifts of the poses around `to`, whole voxels of the fixed image.
pub fn shifts(grid: &Geometry, to: &DAffine3, side: f64) -> Vec<[isize; 3]> {
    let voxels = grid.world_to_index().matrix3 * to.matrix3.inverse();
    let around: Vec<DVec3> = around(grid).into_iter().map(|part| voxels * (side * part)).collect();
    let nearest = around.iter().map(|shift| shift.length()).fold(f64::INFINITY, f64::min);
    around.iter().map(|shift| rounded_to_voxels(*shift * (FEWEST / nearest).max(1.0), grid)).collect()
}

/// Returns the maps that rotate the fixed image about `middle`, LPS mm, before they apply `to`.
fn turns(to: &DAffine3, middle: DVec3) -> Vec<DAffine3> {
    let turned = |n: u32| {
        let (sin, cos) = libm::sincos(TAU * f64::from(n) / f64::from(TURNS));
        let turn = DMat3::from_cols(DVec3::new(cos, sin, 0.0), DVec3::new(-sin, cos, 0.0), DVec3::Z);
        *to * DAffine3::from_mat3_translation(turn, middle - turn * middle)
    };
    (1..TURNS).map(turned).collect()
}

/// Returns the shifts of the poses around as fractions of the longest side. In 2-D, directions of one length lie
/// halfway between those of the one before; in 3-D they are the axes and diagonals of a cube.
fn around(grid: &Geometry) -> Vec<DVec3> {
    let turn = |n: usize, ring: usize| TAU * (n as f64 + 0.5 * ring as f64) / DIRECTIONS as f64;
    let in_plane = |n: usize, ring: usize| {
        let (sin, cos) = libm::sincos(turn(n, ring));
        DVec3::new(cos, sin, 0.0)
    };
    let directions = |ring: usize| match grid.is_flat() {
        true => (0..DIRECTIONS).map(|n| in_plane(n, ring)).collect(),
        false => in_space(),
    };
    SHIFTS.iter().enumerate().flat_map(|(ring, part)| directions(ring).into_iter().map(move |v| v * *part)).collect()
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

    /// Returns the centre, LPS mm, of the voxels that are foreground in the moving image, too.
    fn middle(&self, moving: &[u8], grid: &Geometry) -> DVec3 {
        let voxel = |n: usize| DVec3::from(grid.index_of(n).map(|i| i as f64));
        let is_image = |(at, _): &(isize, usize)| usize::from(moving[*at as usize]) < BINS;
        let all = self.runs.iter().flat_map(|(at, run)| (*at..).zip(run.clone())).filter(is_image);
        let (sum, count) = all.fold((DVec3::ZERO, 0), |(sum, count), (_, n)| (sum + voxel(n), count + 1));
        grid.index_to_world().transform_point3(sum / f64::from(count.max(1)))
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
