//! The same head with other voxel sizes, orders of axes and crops.

use crate::support::CPU;
use glam::{DAffine3, DMat3, DVec3};
use gpu::math::interpolate::Interpolator;
use libtest_mimic::Trial;
use mireg::transform::distance;
use mireg::{Geometry, Options, Resampling, Volume};

use super::{GOOD_MM, PAIR, error, register, test};

pub fn tests() -> Vec<Trial> {
    vec![
        test("axes_in_any_order_and_sense", axes_in_any_order_and_sense),
        test("thick_slices_and_thin_ones", thick_slices_and_thin_ones),
        test("half_a_head", half_a_head),
    ]
}

/// The same voxels at the same places, stored with other axes first: the new axis n is the old axis `axes[n]`, backwards where
/// `flips[n]`.
fn restored(volume: &Volume, axes: [usize; 3], flips: [bool; 3]) -> Volume {
    let old = volume.geometry;
    let size = axes.map(|axis| old.size[axis]);
    let step = |n: usize| if flips[n] { -1.0 } else { 1.0 };
    let mut first = [0; 3];
    for n in (0..3).filter(|&n| flips[n]) {
        first[axes[n]] = size[n] - 1;
    }
    let voxel = |n: usize| {
        let place = [n % size[0], n / size[0] % size[1], n / size[0] / size[1]];
        let mut index = [0; 3];
        for n in 0..3 {
            index[axes[n]] = if flips[n] { size[n] - 1 - place[n] } else { place[n] };
        }
        volume.voxels[index[0] + old.size[0] * (index[1] + old.size[1] * index[2])]
    };
    let column = |n: usize| old.direction.col(axes[n]) * step(n);
    let geometry = Geometry {
        size,
        spacing: DVec3::from_array(axes.map(|axis| old.spacing[axis])),
        origin: old.index_to_world().transform_point3(DVec3::from_array(first.map(|n| n as f64))),
        direction: DMat3::from_cols(column(0), column(1), column(2)),
    };
    Volume { geometry, voxels: (0..geometry.voxels()).map(voxel).collect(), pixel: volume.pixel }
}

fn axes_in_any_order_and_sense() {
    let found = |moving: &Volume| register(&PAIR.ct, moving, &Options::default()).transform.to_affine();
    let (first, mut worst) = (found(&PAIR.mr), 0_f64);
    let orders = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0], [0, 2, 1], [1, 0, 2]];
    for (n, axes) in orders.into_iter().enumerate() {
        // Each order of the axes is tested with two of the eight combinations of flips, so that all combinations occur.
        for sense in [n, 7 - n] {
            let flips = [0, 1, 2].map(|axis| sense >> axis & 1 == 1);
            let other = found(&restored(&PAIR.mr, axes, flips));
            let apart = distance(&first, &other, &PAIR.ct.geometry);
            worst = worst.max(apart);
        }
    }
    // Positions are rounded down along the axes of storage, and the last search ends with a step of a twentieth of a
    // voxel of 3.6 mm in each of six parameters.
    assert!(worst < 0.25 * 3.6, "{worst} mm");
}

/// A part of a volume: voxels from `first` on.
fn cropped(volume: &Volume, first: [usize; 3], size: [usize; 3]) -> Volume {
    let old = volume.geometry;
    let origin = old.index_to_world().transform_point3(DVec3::from_array(first.map(|n| n as f64)));
    let geometry = Geometry { size, origin, ..old };
    let voxel = |n: usize| {
        let [x, y, z] = [n % size[0], n / size[0] % size[1], n / size[0] / size[1]];
        volume.voxels[x + first[0] + old.size[0] * (y + first[1] + old.size[1] * (z + first[2]))]
    };
    Volume { geometry, voxels: (0..geometry.voxels()).map(voxel).collect(), pixel: volume.pixel }
}

fn half_a_head() {
    let size = PAIR.mr.geometry.size;
    for axis in 0..3 {
        for second in [false, true] {
            let (mut first, mut half) = ([0; 3], size);
            half[axis] = size[axis] / 2;
            first[axis] = if second { size[axis] - half[axis] } else { 0 };
            let found = register(&PAIR.ct, &cropped(&PAIR.mr, first, half), &Options::default());
            let error = error(&found, &DAffine3::IDENTITY);
            assert!(error < 2.0 * GOOD_MM || !found.trusted(), "axis {axis}, second: {second}: {error:.3} mm");
        }
    }
}

/// Tests both directions: first the fixed image has slices five times as thick as the voxels of the moving one, then
/// the moving image has.
fn thick_slices_and_thin_ones() {
    let how = Resampling { interpolator: Interpolator::Linear, outside: 0.0 };
    let spacing = PAIR.mr.geometry.spacing * DVec3::new(1.0, 1.0, 5.0);
    let thick = CPU.resample(&PAIR.mr, &PAIR.mr.geometry.respaced(spacing), &DAffine3::IDENTITY.into(), &how).unwrap();
    let found = register(&PAIR.ct, &thick.volume, &Options::default());
    assert!(error(&found, &DAffine3::IDENTITY) < 2.0 * GOOD_MM);
    let options = Options { init: mireg::registration::Init::Header, ..Options::default() };
    let back = register(&thick.volume, &PAIR.ct, &options).transform.to_affine().inverse();
    let error = PAIR.misplacement(&back).mean_mm;
    assert!(error < 2.0 * GOOD_MM, "{error:.3} mm");
}
