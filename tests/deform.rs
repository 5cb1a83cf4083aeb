//! Deformable registration: what it finds, that the bits are the same on all backends, and which input is refused.

mod bytes;
mod content;
mod contrasts;
mod landmarks;
mod masks;
mod motion;
mod parts;
mod real;
mod refused;
mod symmetric;
mod trusted;
mod truth;

use crate::support::{CPU, trial};
use glam::{DAffine3, DVec3};
use libtest_mimic::Trial;
use mireg::deform::{Deformation, Options, Start};
use mireg::transform::{Dimension, Kind, Linear};
use mireg::{Geometry, PixelType, Resampling, Silent, Volume, resample_through};

pub fn tests() -> Vec<Trial> {
    let all = [
        bytes::tests(),
        content::tests(),
        contrasts::tests(),
        landmarks::tests(),
        masks::tests(),
        motion::tests(),
        parts::tests(),
        real::tests(),
        refused::tests(),
        symmetric::tests(),
        trusted::tests(),
        truth::tests(),
    ];
    all.into_iter().flatten().collect()
}

fn test(name: &str, test: impl FnOnce() + Send + 'static) -> Trial {
    trial(format!("deform::{name}"), test)
}

/// Returns a start from a given transform.
fn from(start: &DAffine3) -> Start {
    Start::Transform(Linear::new(Kind::Affine, Dimension::Three, DVec3::ZERO, start))
}

fn from_headers() -> Options {
    Options { start: Start::Headers, ..Options::default() }
}

fn found(pair: &Pair, options: &Options) -> Deformation {
    CPU.deform(&pair.fixed, &pair.moving, options, &Silent).expect("this pair can be registered")
}

/// Two images of one object with a known deformation between them.
struct Pair {
    fixed: Volume,
    moving: Volume,
}

impl Pair {
    /// Makes a pair on a grid of `size` voxels of 2 x 2 x 2.5 mm; the moving grid is shifted and larger. `contrast`
    /// computes the moving intensities from those of the fixed image, 0 to 100.
    fn new(size: [usize; 3], contrast: fn(f32) -> f32) -> Self {
        let spacing = DVec3::new(2.0, 2.0, if size[2] == 1 { 1.0 } else { 2.5 });
        let grid = Geometry::axis_aligned(size, spacing, DVec3::ZERO);
        let mut moving = grid;
        for axis in (0..3).filter(|&axis| size[axis] > 1) {
            moving.size[axis] += 4;
            moving.origin[axis] = -2.0 * spacing[axis] + 0.3;
        }
        // The object is sampled more finely than both images, so that resampling it for the fixed image blurs little.
        let object = Volume { geometry: moving, voxels: object(&moving), pixel: PixelType::F32 };
        let how = Resampling { interpolator: gpu::math::interpolate::Interpolator::CatmullRom, outside: 0.0 };
        let fixed = resample_through(&object, &grid, |p| truth(&grid, p), &how).expect("it can be resampled").volume;
        let voxels = object.voxels.iter().map(|&v| contrast(v)).collect();
        Self { fixed, moving: Volume { voxels, ..object } }
    }

    /// Returns the mean and the largest error of a field, in mm, at voxels away from the border.
    fn errors(&self, found: &Deformation) -> [f64; 2] {
        let grid = &self.fixed.geometry;
        let errors: Vec<f64> = inner(grid).map(|p| found.field.at(p).distance(truth(grid, p) - p)).collect();
        [errors.iter().sum::<f64>() / errors.len() as f64, errors.iter().copied().fold(0.0, f64::max)]
    }
}

/// Returns the position in the moving image of a point of the fixed image. The displacement is up to about 4 mm and
/// largest in the middle.
fn truth(grid: &Geometry, p: DVec3) -> DVec3 {
    let from = (p - grid.centre()) / 40.0;
    let fade = (-from.length_squared()).exp();
    let flat = if grid.is_flat() { 0.0 } else { 2.0 };
    p + fade * DVec3::new(4.0 * (p.y / 30.0).cos(), -3.0, flat)
}

/// Every fourth voxel centre at least four voxels away from the border.
fn inner(grid: &Geometry) -> impl Iterator<Item = DVec3> + '_ {
    let along = |axis: usize| {
        let n = grid.size[axis];
        let ends = if n == 1 { 0..1 } else { 4..n - 4 };
        ends.step_by(4)
    };
    let to_mm = grid.index_to_world();
    along(2)
        .flat_map(move |k| along(1).flat_map(move |j| along(0).map(move |i| [i, j, k])))
        .map(move |voxel| to_mm.transform_point3(DVec3::from_array(voxel.map(|n| n as f64))))
}

/// Returns waves of several lengths, so that there are gradients everywhere; 0 to 100.
fn object(grid: &Geometry) -> Vec<f32> {
    let to_mm = grid.index_to_world();
    let [width, height, _] = grid.size;
    let voxel = |i: usize| {
        let p = to_mm.transform_point3(DVec3::new(
            (i % width) as f64,
            (i / width % height) as f64,
            (i / width / height) as f64,
        ));
        let waves =
            (p.x / 4.1).sin() * (p.y / 5.3).cos() + (p.z / 6.1 + p.x / 9.7).sin() + 0.7 * (p.y / 3.7 - p.z / 7.9).sin();
        (50.0 + 18.0 * waves) as f32
    };
    (0..grid.voxels()).map(voxel).collect()
}
