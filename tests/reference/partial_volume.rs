//! Partial volume interpolation, which uses integer weights, compared with eq. 9 in f64.

use super::agree;
use super::scene::{Scene, smooth};
use crate::support::trial;
use glam::{DAffine3, DVec3};
use gpu::math::interpolate::Interpolator;
use libtest_mimic::{Failed, Trial};
use mireg::backend::{Backend, cpu::Cpu, emulated::Emulated};
use mireg::reference::{Similarity, partial_volume};
use mireg::{Geometry, PixelType, Volume};
use ndarray::Array2;

pub fn tests() -> Vec<Trial> {
    vec![
        trial("reference::partial_volume::by hand", by_hand),
        Trial::test("reference::partial_volume::cpu", || weights_agree(&Cpu, &BINS)),
        Trial::test("reference::partial_volume::emulator", || weights_agree(&Emulated::default(), &[[64, 64]])),
    ]
}

const BINS: [[u32; 2]; 4] = [[2, 2], [64, 64], [256, 256], [32, 200]];

/// The greatest unit, which these small scenes have.
const UNIT: u64 = 4096;

fn by_hand() {
    let volume = |voxels: [f32; 4]| Volume {
        geometry: Geometry::axis_aligned([2, 2, 1], DVec3::ONE, DVec3::ZERO),
        voxels: voxels.to_vec(),
        pixel: PixelType::F32,
    };
    // Of four samples, moved by (1/4, 1/2, 0), only the first is inside, between all four voxels.
    let transform = DAffine3::from_translation(DVec3::new(0.25, 0.5, 0.0));
    let found = partial_volume(&volume([1.0, 0.0, 0.0, 0.0]), &volume([0.0, 1.0, 2.0, 2.0]), &transform, [2, 3]);
    assert_eq!(found, ndarray::array![[0.0, 0.0, 0.0], [0.375, 0.125, 0.5]]);
    assert_eq!(Similarity::of_weights(&found).overlap, 1);
}

fn weights_agree(backend: &dyn Backend, bins: &[[u32; 2]]) -> Result<(), Failed> {
    for scene in smooth(4) {
        for &bins in bins {
            check(&scene, backend, bins).map_err(|wrong| format!("{bins:?} bins, {:?}: {wrong}", scene.transform))?;
        }
    }
    Ok(())
}

/// Compares the metric to 2e-4, as for other interpolators. Of the sum of weights, 1 in 200 may be in other bins
/// because rounding to 16 bits moves an intensity to the next bin, and half as much because weights are rounded: eight
/// weights with errors of about 0.5 / 4096 each are 1 in 1000.
fn check(scene: &Scene, backend: &dyn Backend, bins: [u32; 2]) -> Result<(), String> {
    let (counts, found) =
        scene.measure(backend, bins, Interpolator::PartialVolume).map_err(|error| error.to_string())?;
    let expected = partial_volume(&scene.fixed, &scene.moving, &scene.transform, [bins[0] as usize, bins[1] as usize]);
    if counts.sum() != UNIT * found.counts {
        return Err(format!("{} samples weigh {}", found.counts, counts.sum()));
    }
    let weights: Array2<f64> = counts.mapv(|count| count as f64 / UNIT as f64);
    agree(&found, &Similarity::of_weights(&weights), 1e-12, 0)?;
    agree(&found, &Similarity::of_weights(&expected), 2e-4, 8)?;
    let elsewhere: f64 = (&weights - &expected).iter().map(|difference| difference.abs()).sum();
    if elsewhere > 0.0075 * found.counts as f64 {
        return Err(format!("{elsewhere} of {} samples are counted elsewhere", found.counts));
    }
    Ok(())
}
