//! Checks that images are filtered and packed to the same bits on CPU, emulator and GPU, whether or not the images are
//! kept on the device.

use super::{transforms, volumes};
use crate::support::{gpu, gpu_is_absent};
use gpu::math::binning::{Binning, Stored};
use gpu::math::interpolate::Interpolator;
use libtest_mimic::{Failed, Trial};
use mireg::backend::emulated::Emulated;
use mireg::backend::{Backend, Counted, HistogramMethod, Interpolated, MattesPair, Pair, Wanted, Windows, cpu::Cpu};
use mireg::image::{ToBins, ToValues, pyramid};
use mireg::{Volume, threads};
use std::borrow::Cow;

/// Odd sizes, a slice and a line.
const SIZES: &[[usize; 3]] = &[[23, 17, 11], [40, 31, 1], [50, 1, 1]];
const LARGE: &[[usize; 3]] = &[[181, 217, 60]];

pub fn tests() -> Vec<Trial> {
    let absent = gpu_is_absent();
    vec![
        Trial::test("backends::emulator_filters_as_the_cpu", || filters_agree(&Emulated::default(), SIZES)),
        Trial::test("backends::gpu_filters_as_the_cpu", || {
            let gpu = gpu()?;
            filters_agree(&*gpu, SIZES)?;
            filters_agree(&*gpu, LARGE)
        })
        .with_ignored_flag(absent),
        Trial::test("backends::many_threads_count_what_is_not_yet_packed", packed_by_many),
        Trial::test("backends::emulator_packs_as_the_cpu", || packing_agrees(&Emulated::default(), SIZES[0])),
        Trial::test("backends::gpu_packs_as_the_cpu", || {
            let gpu = gpu()?;
            packing_agrees(&*gpu, SIZES[0])?;
            packing_agrees(&*gpu, LARGE[0])
        })
        .with_ignored_flag(absent),
    ]
}

fn same(a: &Volume, b: &Volume) -> bool {
    a.geometry == b.geometry && a.voxels.iter().zip(&b.voxels).all(|(a, b)| a.to_bits() == b.to_bits())
}

fn filters_agree(backend: &dyn Backend, sizes: &[[usize; 3]]) -> Result<(), Failed> {
    for &size in sizes {
        for volume in volumes(size, 3) {
            let thinning = [2.5, 3.7, 9.0].map(|mm| pyramid::thinning(&volume.geometry, mm));
            let smoothing = [[0.8, 0.0, 2.3], [0.0, 5.5, 0.0]].map(|sigmas| Some(pyramid::smoothing(size, sigmas)));
            let keeping = backend.keeping(&[&volume]);
            for filters in thinning.into_iter().chain(smoothing).flatten() {
                let expected = Cpu.filtered(&volume, &filters)?;
                // The keeping backend runs twice, as it has the volume on the device the second time.
                for backend in [backend, &*keeping, &*keeping] {
                    if !same(&expected, &backend.filtered(&volume, &filters)?) {
                        return Err(format!("a filtered volume of {size:?} differs").into());
                    }
                }
            }
        }
    }
    Ok(())
}

fn packing_agrees(backend: &dyn Backend, size: [usize; 3]) -> Result<(), Failed> {
    let [fixed, moving] = [5, 6].map(|seed| volumes(size, seed).swap_remove(0));
    let [fixed_grid, moving_grid] = [fixed.geometry, moving.geometry];
    let keep: Vec<bool> = (0..fixed.voxels.len()).map(|n| n % 7 > 1).collect();
    let keeping = backend.keeping(&[&fixed, &moving]);
    for (bins, masked, sigmas) in [(64, false, [0.0; 3]), (256, true, [0.0, 0.0, 1.3]), (300, true, [0.7; 3])] {
        let keep = || masked.then(|| keep.clone());
        // Some intensities are outside this range.
        let [low, high] = [0.1, 0.85];
        let to_values = || ToValues::new(Cow::Borrowed(&moving), sigmas, (0.05, 0.9), bins);
        let to_bins = |stored| ToBins::new(Cow::Borrowed(&fixed), Binning { low, high, bins, stored }, keep());
        for interpolator in [Interpolator::Linear, Interpolator::Nearest, Interpolator::PartialVolume] {
            let count = |backend: &dyn Backend| -> mireg::Result<_> {
                let (fixed, moving) = (to_bins(Stored::Bins), to_values());
                let (fixed, moving) = (Counted::Image(&fixed), Interpolated::Image(&moving));
                let mut pair =
                    backend.load(Pair { fixed, moving, bins: [bins; 2], interpolator }, HistogramMethod::Auto)?;
                transforms(&fixed_grid, &moving_grid)
                    .iter()
                    .map(|map| pair.histogram(map))
                    .collect::<mireg::Result<Vec<_>>>()
            };
            let expected = count(&Cpu)?;
            if count(backend)? != expected || count(&*keeping)? != expected {
                return Err(format!("{bins} bins, {interpolator:?}: counts differ").into());
            }
        }
        for windows in [Windows::Moving, Windows::Both] {
            let measure = |backend: &dyn Backend| -> mireg::Result<_> {
                let fixed = ToBins::new(Cow::Borrowed(&fixed), windows.binning((low, high), bins), keep());
                let moving = ToValues::fine(Cow::Borrowed(&moving), sigmas, (0.05, 0.9));
                let (fixed, moving) = (Counted::Image(&fixed), Interpolated::Image(&moving));
                let mut pair = backend.load_mattes(MattesPair { fixed, moving, bins: [bins; 2], windows })?;
                transforms(&fixed_grid, &moving_grid)
                    .iter()
                    .map(|map| pair.slope(map))
                    .collect::<mireg::Result<Vec<_>>>()
            };
            let expected = measure(&Cpu)?;
            if measure(backend)? != expected || measure(&*keeping)? != expected {
                return Err(format!("{bins} bins, {windows:?}: values differ").into());
            }
        }
    }
    Ok(())
}

/// Checks for a deadlock. While threads pack an image together, one of them may begin with another map, which needs the
/// packed image, too. With a lock held during the packing, they waited for each other.
fn packed_by_many() -> Result<(), Failed> {
    let volume = volumes([64, 60, 50], 4).swap_remove(0);
    let maps = vec![transforms(&volume.geometry, &volume.geometry)[0]; 64];
    let binning = Binning { low: 0.0, high: 1.0, bins: 64, stored: Stored::Bins };
    let round = |_| {
        let fixed = ToBins::new(Cow::Borrowed(&volume), binning, None);
        let moving = ToValues::new(Cow::Borrowed(&volume), [0.0; 3], (0.0, 1.0), 64);
        let (fixed, moving) = (Counted::Image(&fixed), Interpolated::Image(&moving));
        let pair = Pair { fixed, moving, bins: [64; 2], interpolator: Interpolator::Linear };
        Cpu.load(pair, HistogramMethod::Auto)?.evaluate(&maps, Wanted::Entropies).map(drop)
    };
    Ok(threads::with(16, || (0..5).try_for_each(round))?)
}
