//! Compares the whole chain, from volumes to the metric and to resampled voxels, with the reference, which has neither
//! 16-bit intensities nor f32 positions.

use super::agree;
use super::scene::{Both, INTERPOLATORS, Scene, smooth};
use crate::support::{gpu, gpu_is_absent};
use glam::{DAffine3, DMat3};
use libtest_mimic::{Failed, Trial};
use mireg::backend::emulated::Emulated;
use mireg::backend::{Backend, cpu::Cpu};
use mireg::image::voxel_map;
use mireg::reference::{self, Interpolator};

pub fn tests() -> Vec<Trial> {
    let absent = gpu_is_absent();
    vec![
        Trial::test("reference::chain::cpu", || metrics_agree(&Cpu, &INTERPOLATORS, &BINS)),
        Trial::test("reference::chain::emulator", || metrics_agree(&Emulated::default(), &INTERPOLATORS, &[[64, 64]])),
        Trial::test("reference::chain::gpu", || metrics_agree(&*gpu()?, &INTERPOLATORS, &BINS))
            .with_ignored_flag(absent),
        Trial::test("reference::chain::an image on its own grid keeps its border", an_image_on_its_own_grid),
        Trial::test("reference::chain::cpu resamples", || voxels_agree(&Cpu)),
        Trial::test("reference::chain::gpu resamples", || voxels_agree(&*gpu()?)).with_ignored_flag(absent),
    ]
}

const BINS: [[u32; 2]; 7] = [[2, 2], [50, 50], [64, 64], [100, 100], [256, 256], [32, 200], [20, 500]];

fn metrics_agree(backend: &dyn Backend, interpolators: &[Both], bins: &[[u32; 2]]) -> Result<(), Failed> {
    for scene in smooth(1).iter().chain(&smooth(2)) {
        for &bins in bins {
            scene.check(backend, interpolators, bins, 5e-4)?;
        }
    }
    Ok(())
}

/// Resampled on its own grid, an image is unchanged, for any oblique grid and despite round-off in the maps to mm and
/// back.
fn an_image_on_its_own_grid() -> Result<(), Failed> {
    for (seed, turn) in (0..24).map(|n| (n, 0.1 + 0.05 * n as f64)) {
        let mut image = smooth(seed).remove(0).fixed;
        image.geometry.direction *= DMat3::from_rotation_y(turn);
        let scene = Scene { fixed: image.clone(), moving: image.clone(), transform: DAffine3::IDENTITY };
        let map = voxel_map(&image.geometry, &image.geometry, &scene.transform);
        for (how, interpolator) in &INTERPOLATORS[1..3] {
            let (_, found) = scene.measure(&Cpu, [64, 64], *interpolator)?;
            let expected = reference::compare(&image, &image, &scene.transform, [64, 64], *how);
            agree(&found, &expected, 1e-3, 0)?;
            if expected.overlap != image.voxels.len() as u64 || (expected.nmi - 2.0).abs() > 1e-12 {
                return Err(format!("turned by {turn}, {how:?}: {expected:?}").into());
            }
            if Cpu.resample(&image, image.geometry.size, &map, *interpolator)? != image.voxels {
                return Err(format!("turned by {turn}, {how:?}: resampling changes voxels").into());
            }
        }
    }
    Ok(())
}

fn voxels_agree(backend: &dyn Backend) -> Result<(), Failed> {
    for Scene { fixed, moving, transform } in smooth(3) {
        let map = voxel_map(&fixed.geometry, &moving.geometry, &transform);
        let (low, high) = moving.range();
        for (how, interpolator) in INTERPOLATORS {
            let found = backend.resample(&moving, fixed.geometry.size, &map, interpolator)?;
            let expected = reference::resample(&moving, &fixed.geometry, &transform, how);
            let inside = expected.iter().filter(|voxel| !voxel.is_nan()).count();
            let far = |&(&found, &expected): &(&f32, &f64)| {
                let expected = if expected.is_nan() { 0.0 } else { expected };
                (f64::from(found) - expected).abs() > 1e-4 * f64::from(high - low)
            };
            let far = found.iter().zip(&expected).filter(far).count();
            // Rounding to f32 may change the result on the border and halfway between two voxels.
            let allowed = if how == Interpolator::Nearest { 8 + inside / 1000 } else { 8 };
            if far > allowed {
                return Err(format!("{how:?}: {far} of {inside} voxels differ at {transform:?}").into());
            }
        }
    }
    Ok(())
}
