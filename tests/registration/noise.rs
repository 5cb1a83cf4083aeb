//! Noisy images whose grids have the same spacing. Interpolation averages noise, most halfway between voxels, so that
//! metrics prefer shifts by half a voxel.

use glam::{DAffine3, DMat3, DVec3};
use gpu::math::interpolate::Interpolator;
use libtest_mimic::Trial;
use mireg::registration::Sampling;
use mireg::{Geometry, Options, Resampling, Volume, random};
use mireg_cli::demo::Pair;

use super::{register, test};
use crate::support::CPU;

pub fn tests() -> Vec<Trial> {
    vec![test("noise_on_equal_grids_does_not_draw_to_half_voxels", noise_on_equal_grids_does_not_draw_to_half_voxels)]
}

/// Returns an image resampled on `grid` through `map`, with white noise.
fn noisy(image: &Volume, grid: &Geometry, map: DAffine3, sigma: f32, seed: u64) -> Volume {
    let how = Resampling { interpolator: Interpolator::BSpline, outside: 0.0 };
    let mut volume = CPU.resample(image, grid, &map.into(), &how).unwrap().volume;
    volume.voxels.iter_mut().enumerate().for_each(|(n, voxel)| *voxel += sigma * random::normal(seed, n as u64));
    volume
}

fn noise_on_equal_grids_does_not_draw_to_half_voxels() {
    let head = Pair::new(3, 2.0).mr;
    let grid = head.geometry.respaced(DVec3::splat(3.0));
    let middle = grid.centre();
    let turn = DMat3::from_axis_angle(DVec3::new(0.4, -0.8, 0.45).normalize(), 0.6_f64.to_radians());
    let moved = DAffine3::from_mat3_translation(turn, middle - turn * middle + DVec3::new(1.1, -0.6, 0.9));
    let sigma = 0.1 * head.voxels.iter().copied().fold(0.0, f32::max);
    let points = Geometry::axis_aligned([2; 3], DVec3::splat(80.0), middle - 40.0).corners();
    for seed in [1, 3] {
        let fixed = noisy(&head, &grid, DAffine3::IDENTITY, sigma, seed);
        let moving = noisy(&head, &grid, moved.inverse(), sigma, seed + 1);
        let error = |sampling| {
            let found = register(&fixed, &moving, &Options { sampling, ..Options::default() });
            assert!(found.trusted(), "seed {seed}: {:?}", found.doubts);
            let found = found.transform.to_affine();
            let off = |at| found.transform_point3(at).distance(moved.transform_point3(at));
            points.map(off).iter().sum::<f64>() / 8.0
        };
        let [between, at_voxels] = [Sampling::Grid { samples: Sampling::SAMPLES }, Sampling::Full].map(error);
        assert!(between < 0.22 && 1.5 * between < at_voxels, "seed {seed}: {between:.3} and {at_voxels:.3} mm off");
    }
}
