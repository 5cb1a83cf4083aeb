//! Checks that the metric with Mattes windows has the same bits on CPU, emulator and GPU.

use super::{Sizes, transforms, volumes};
use crate::support::{gpu, gpu_is_absent, random, stored};
use gpu::math::bin::MASKED;
use gpu::math::mattes;
use libtest_mimic::{Failed, Trial};
use mireg::backend::emulated::Emulated;
use mireg::backend::{Backend, MattesPair, Windows, cpu::Cpu};
use mireg::image::{BinImage, StoredImage};

/// Odd sizes; one is a plane.
const SMALL: &[Sizes] = &[[[37, 21, 11], [29, 24, 9]], [[70, 45, 1], [66, 50, 1]]];
const LARGE: &[Sizes] = &[[[181, 217, 180], [150, 180, 50]], [[701, 450, 1], [660, 500, 1]]];

/// Bins of the fixed and of the moving image: the fewest; more than the emulator has room to count at once.
const BINS: &[[u32; 2]] = &[[5, 5], [6, 9], [50, 50], [64, 64], [120, 120]];

pub fn tests() -> Vec<Trial> {
    let [emulated, gpu_] = [Windows::Moving, Windows::Both].map(|windows| {
        let name = format!("{windows:?}").to_lowercase();
        [
            Trial::test(format!("backends::emulator_mattes_{name}_as_the_cpu"), move || {
                agree(&Emulated::with_seed(3), windows, SMALL, BINS)
            }),
            Trial::test(format!("backends::gpu_mattes_{name}_as_the_cpu"), move || {
                let gpu = gpu()?;
                agree(&*gpu, windows, SMALL, BINS)?;
                agree(&*gpu, windows, LARGE, &[[50; 2], [256; 2], [1024, 700]])
            })
            .with_ignored_flag(gpu_is_absent()),
        ]
    });
    emulated.into_iter().chain(gpu_).collect()
}

/// Compares values, one by one and in a batch, and derivatives, for noise, a smooth image and a constant one, with a
/// tenth of the fixed image masked.
fn agree(backend: &dyn Backend, windows: Windows, sizes: &[Sizes], bins: &[[u32; 2]]) -> Result<(), Failed> {
    for &[fixed, moving] in sizes {
        for (fixed, moving) in volumes(fixed, 1).iter().zip(volumes(moving, 2).iter()) {
            let maps = transforms(&fixed.geometry, &moving.geometry);
            for &bins in bins {
                let fixed = prepared(&stored(fixed, 1024), bins[0], windows);
                let moving = stored(moving, 1024);
                let pair = MattesPair { fixed: (&fixed).into(), moving: (&moving).into(), bins, windows };
                let (mut ours, mut theirs) = (Cpu.load_mattes(pair)?, backend.load_mattes(pair)?);
                let (values, slopes) = (ours.values(&maps)?, maps.iter().map(|map| ours.slope(map)));
                if values != theirs.values(&maps)? {
                    return Err(format!("{bins:?} bins: the values are not {values:?}").into());
                }
                for (map, slope) in maps.iter().zip(slopes) {
                    let (ours, theirs) = (slope?, theirs.slope(map)?);
                    if ours != theirs {
                        return Err(format!("{bins:?} bins, {map:?}: {theirs:?} is not {ours:?}").into());
                    }
                }
            }
        }
    }
    Ok(())
}

/// Returns the fixed image as a pair stores it: bin numbers, or the stored values themselves.
fn prepared(image: &StoredImage, bins: u32, windows: Windows) -> BinImage {
    let mut random = random(4);
    let scale = mattes::scale(bins);
    let number = |&value: &u16| match windows {
        // SAFETY: stored values are in range.
        Windows::Moving => unsafe { mattes::window(f32::from(value), bins, scale).0 as u16 + 1 },
        Windows::Both => value.min(MASKED - 1),
    };
    let bins = image.voxels().iter().map(number).map(|n| if random() < 0.1 { MASKED } else { n }).collect();
    BinImage { size: image.size, bins }
}
