//! Mattes's mutual information and its derivative.

use super::scene::{Scene, smooth};
use crate::support::random;
use glam::{DAffine3, DMat3, DVec3};
use libtest_mimic::{Failed, Trial};
use mireg::backend::{Backend, MattesImages, SmoothSlope, Windows, cpu::Cpu};
use mireg::image::voxel_map;
use mireg::reference::{self, Mattes};
use mireg::{Geometry, PixelType, Volume};

pub fn tests() -> Vec<Trial> {
    vec![
        Trial::test("reference::mattes::cpu", || smooth_scenes_agree(&Cpu)),
        Trial::test("reference::mattes::cpu, an image on its own grid", || its_own_grid_agrees(&Cpu)),
        Trial::test("reference::mattes::cpu, ends of the range", || ends_of_the_range_agree(&Cpu)),
        Trial::test("reference::mattes::cpu, nothing to compare", || nothing_is_0(&Cpu)),
        Trial::test("reference::mattes::derivatives are those of the value", derivatives_are_those_of_the_value),
        Trial::test("reference::mattes::threads do not matter", threads_do_not_matter),
    ]
}

const WINDOWS: [(Windows, reference::Windows); 2] =
    [(Windows::Moving, reference::Windows::Moving), (Windows::Both, reference::Windows::Both)];

fn images(scene: &Scene, bins: u32, windows: Windows, keep: impl Fn(usize) -> bool + Sync) -> MattesImages {
    let [fixed, moving] = [&scene.fixed, &scene.moving].map(|volume| (volume, volume.range()));
    let mut images = MattesImages::new(fixed, moving, bins, windows);
    images.fixed.keep(keep);
    images
}

/// Returns value and derivative on a backend, after a check that evaluations with and without the derivative give the
/// same value.
fn measure(backend: &dyn Backend, images: &MattesImages, scene: &Scene) -> Result<SmoothSlope, Failed> {
    let map = voxel_map(&scene.fixed.geometry, &scene.moving.geometry, &scene.transform);
    let mut pair = backend.load_mattes(images.pair())?;
    let slope = pair.slope(&map)?;
    if pair.values(&[map, map])? != [slope.at; 2] {
        return Err("the value alone is another one".into());
    }
    Ok(slope)
}

/// The tolerances of value and derivatives.
struct Tolerance {
    value: f64,
    derivatives: f64,
}

/// The tolerance for images with many intensities; the error comes from weights in steps of 1/32768.
const USUAL: Tolerance = Tolerance { value: 1e-5, derivatives: 2e-3 };

/// Fails unless the value agrees to the tolerance, each derivative to the tolerance times the largest one with the same
/// factor, and the overlap is the same except for samples within f32's precision of the border.
fn agree(found: &SmoothSlope, expected: &Mattes, tolerance: &Tolerance) -> Result<(), String> {
    if found.at.overlap.abs_diff(expected.overlap) > 4 {
        return Err(format!("{} samples overlap, not {}", found.at.overlap, expected.overlap));
    }
    if (found.at.mi - expected.mi).abs() > tolerance.value * expected.mi.max(0.1) {
        return Err(format!("MI is {}, not {}", found.at.mi, expected.mi));
    }
    derivatives_agree(&found.by_map, &expected.by_map, tolerance.derivatives)
}

fn derivatives_agree(found: &[[f64; 4]; 3], expected: &[[f64; 4]; 3], tolerance: f64) -> Result<(), String> {
    for i in 0..4 {
        let largest = expected.iter().map(|row| row[i].abs()).fold(0.0, f64::max);
        for r in 0..3 {
            // If the derivatives are small, the rounding of weights is a larger fraction of them.
            let close = (found[r][i] - expected[r][i]).abs() <= tolerance * largest.max(0.01);
            if !close {
                return Err(format!("derivative {r}, {i} is {:e}, not {:e}", found[r][i], expected[r][i]));
            }
        }
    }
    Ok(())
}

fn check(
    backend: &dyn Backend,
    scene: &Scene,
    bins: u32,
    keep: impl Fn(usize) -> bool + Sync,
    tolerance: &Tolerance,
) -> Result<(), Failed> {
    for (windows, of_reference) in WINDOWS {
        let Scene { fixed, moving, transform } = scene;
        let expected = reference::mattes(fixed, moving, transform, bins as usize, of_reference, &keep);
        let found = measure(backend, &images(scene, bins, windows, &keep), scene)?;
        agree(&found, &expected, tolerance)
            .map_err(|wrong| format!("{bins} bins, {windows:?}, {transform:?}: {wrong}"))?;
    }
    Ok(())
}

/// Checks oblique grids, with all, most and half of the fixed image inside, without and with a mask.
fn smooth_scenes_agree(backend: &dyn Backend) -> Result<(), Failed> {
    for scene in smooth(1) {
        check(backend, &scene, 50, |_| true, &USUAL)?;
        check(backend, &scene, 24, |voxel| voxel % 5 < 3, &USUAL)?;
    }
    check(backend, &smooth(2)[1], 5, |_| true, &USUAL)
}

/// Checks an image on its own grid, where the last voxels have no neighbour. The grid has integer positions, so that
/// round-off does not move a position to the other side of a voxel.
fn its_own_grid_agrees(backend: &dyn Backend) -> Result<(), Failed> {
    let Scene { mut fixed, .. } = smooth(3).remove(0);
    fixed.geometry = Geometry::axis_aligned(fixed.geometry.size, DVec3::ONE, DVec3::ZERO);
    let mut moving = fixed.clone();
    moving.voxels.iter_mut().for_each(|v| *v = (*v - 1.0).abs());
    check(backend, &Scene { fixed, moving, transform: DAffine3::IDENTITY }, 50, |_| true, &USUAL)
}

/// Returns noise on a grid of integer positions. `value` converts numbers from 0 to 1 to intensities.
fn noise(size: [usize; 3], seed: u64, value: impl Fn(f32) -> f32) -> Volume {
    let geometry = Geometry::axis_aligned(size, DVec3::ONE, DVec3::ZERO);
    let mut random = random(seed);
    Volume { geometry, voxels: (0..geometry.voxels()).map(|_| value(random())).collect(), pixel: PixelType::F32 }
}

/// Checks an image with only the lowest and the highest intensity, and samples between voxels. With so few intensities,
/// all samples have the same rounding error.
fn ends_of_the_range_agree(backend: &dyn Backend) -> Result<(), Failed> {
    let tolerance = Tolerance { value: 2e-4, derivatives: 1e-3 };
    for transform in [DAffine3::IDENTITY, DAffine3::from_translation(DVec3::new(0.25, 0.0, 0.125))] {
        for bins in [5, 50] {
            let fixed = noise([33, 20, 9], 1, |v| if v < 0.5 { -7.0 } else { 9.0 });
            let moving = noise([33, 20, 9], 1, |v| if v < 0.6 { 70.0 } else { 3.0 });
            check(backend, &Scene { fixed, moving, transform }, bins, |_| true, &tolerance)?;
        }
    }
    Ok(())
}

/// The result is 0 if no sample is inside, if all are masked, and for constant images.
fn nothing_is_0(backend: &dyn Backend) -> Result<(), Failed> {
    let scene = |away: f64, contrast: f32| {
        let volume = |contrast: f32| noise([20, 7, 5], 1, |v| 3.0 + contrast * v);
        let transform = DAffine3::from_translation(DVec3::splat(away));
        Scene { fixed: volume(1.0), moving: volume(contrast), transform }
    };
    let (far, near, flat) = (scene(1e4, 1.0), scene(0.5, 1.0), scene(0.5, 0.0));
    for (windows, _) in WINDOWS {
        for (scene, keep, overlap) in [(&far, true, 0), (&near, false, 0), (&flat, true, 19 * 6 * 4)] {
            let found = measure(backend, &images(scene, 50, windows, |_| keep), scene)?;
            if found.at.overlap != overlap || found.at.mi > 1e-7 || found.by_map != [[0.0; 4]; 3] {
                return Err(format!("{windows:?}, {:?}: {found:?}", scene.transform).into());
            }
        }
    }
    Ok(())
}

/// Compares the reference's derivatives with central differences, all in f64. All samples stay inside.
fn derivatives_are_those_of_the_value() -> Result<(), Failed> {
    let Scene { fixed, moving, transform } = smooth(4).remove(0);
    let [of_fixed, of_moving] = [fixed.geometry.index_to_world(), moving.geometry.index_to_world()];
    for (_, windows) in WINDOWS {
        let at = |transform| reference::mattes(&fixed, &moving, &transform, 32, windows, |voxel| voxel % 11 == 0);
        let mut differences = [[0.0; 4]; 3];
        for (r, row) in differences.iter_mut().enumerate() {
            for (i, difference) in row.iter_mut().enumerate() {
                let step = [2e-6, 2e-6, 5e-6, 1e-4][i];
                let moved = |step: f64| {
                    let mut change = [[0.0; 4]; 3];
                    change[r][i] = step;
                    // The map from voxels to voxels, changed, between points.
                    let map = of_moving.inverse() * transform * of_fixed;
                    at(of_moving * sum(&map, &change) * of_fixed.inverse()).mi
                };
                *difference = (moved(step) - moved(-step)) / (2.0 * step);
            }
        }
        derivatives_agree(&at(transform).by_map, &differences, 1e-3)
            .map_err(|wrong| format!("{windows:?}: {wrong}"))?;
    }
    Ok(())
}

fn sum(map: &DAffine3, rows: &[[f64; 4]; 3]) -> DAffine3 {
    let column = |i: usize| DVec3::new(rows[0][i], rows[1][i], rows[2][i]);
    DAffine3 {
        matrix3: map.matrix3 + DMat3::from_cols(column(0), column(1), column(2)),
        translation: map.translation + column(3),
    }
}

/// Compares several threads with one. With one, 32-bit counters would overflow if they were not emptied in time.
fn threads_do_not_matter() -> Result<(), Failed> {
    let transform = DAffine3::from_rotation_z(0.03) * DAffine3::from_translation(DVec3::new(0.4, 3.1, 1.2));
    let fixed = noise([71, 64, 100], 1, |v| if v < 0.9 { 0.0 } else { v });
    let moving = noise([76, 70, 110], 2, |v| if v < 0.98 { 0.0 } else { v - 0.5 });
    let scene = Scene { fixed, moving, transform };
    for (windows, _) in WINDOWS {
        let images = images(&scene, 50, windows, |voxel| voxel % 97 > 3);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| measure(&Cpu, &images, &scene))
        };
        let one = with(1)?;
        for threads in [2, 3, 8] {
            let several = with(threads)?;
            if several != one {
                return Err(format!("{windows:?}: {several:?} with {threads} threads, {one:?} with 1").into());
            }
        }
    }
    Ok(())
}
