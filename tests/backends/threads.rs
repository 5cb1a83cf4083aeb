//! Checks that several threads can use one backend at once, and that each gets the results that it would get alone.

use super::{SMALL, transforms, volumes};
use crate::support::{gpu, gpu_is_absent, stored};
use gpu::math::interpolate::Interpolator;
use libtest_mimic::{Failed, Trial};
use mireg::backend::emulated::Emulated;
use mireg::backend::{Backend, Evaluator, HistogramMethod, MattesImages, Pair, Smooth, Wanted, Windows, cpu::Cpu};
use mireg::{Result, Volume};

pub fn tests() -> Vec<Trial> {
    vec![
        Trial::test("backends::emulator_works_for_several_threads", || threads_agree(&Emulated::default())),
        Trial::test("backends::gpu_works_for_several_threads", || threads_agree(&*gpu()?))
            .with_ignored_flag(gpu_is_absent()),
        Trial::test("backends::gpu_makes_nothing_twice", nothing_is_made_twice).with_ignored_flag(gpu_is_absent()),
    ]
}

const THREADS: usize = 4;

/// The results for a pair: counts, metrics, and a smoothed image.
type Found = (Vec<u32>, Vec<f64>, Vec<Smooth>, Vec<f32>);

fn found(backend: &dyn Backend, fixed: &Volume, moving: &Volume) -> Result<Found> {
    let maps = transforms(&fixed.geometry, &moving.geometry);
    let (bins, binned) = (stored(fixed, 50).bins(50), stored(moving, 50));
    let pair =
        Pair { fixed: (&bins).into(), moving: (&binned).into(), bins: [50; 2], interpolator: Interpolator::Linear };
    let mut evaluator: Box<dyn Evaluator> = backend.load(pair, HistogramMethod::Auto)?;
    let metrics = evaluator.evaluate(&maps, Wanted::Entropies)?.iter().map(|entropies| entropies.nmi).collect();
    let counts = evaluator.histogram(&maps[1])?;
    let images = MattesImages::new((fixed, fixed.range()), (moving, moving.range()), 50, Windows::Moving);
    let smooth = backend.load_mattes(images.pair())?.values(&maps)?;
    let mut planes = fixed.voxels.clone();
    backend.smooth(&mut planes, fixed.geometry.size, [1.5; 3])?;
    Ok((counts, metrics, smooth, planes))
}

/// Returns as many pairs as there are threads.
fn pairs() -> Vec<[Volume; 2]> {
    let [fixed, moving] = SMALL;
    (0..THREADS as u64).map(|n| [volumes(fixed, 1 + n).remove(0), volumes(moving, 100 + n).remove(0)]).collect()
}

fn threads_agree(backend: &dyn Backend) -> std::result::Result<(), Failed> {
    let pairs = pairs();
    let results: Vec<Result<Found>> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            pairs.iter().map(|[fixed, moving]| scope.spawn(move || found(backend, fixed, moving))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });
    for (n, ([fixed, moving], result)) in pairs.iter().zip(results).enumerate() {
        if found(&Cpu, fixed, moving)? != result? {
            return Err(format!("thread {n} has another result").into());
        }
    }
    Ok(())
}

fn nothing_is_made_twice() -> std::result::Result<(), Failed> {
    let gpu = gpu()?;
    threads_agree(&*gpu)?;
    let before = gpu.made();
    for [fixed, moving] in pairs() {
        found(&*gpu, &fixed, &moving)?;
    }
    match gpu.made() == before {
        true => Ok(()),
        false => Err(format!("allocations and kernels: {:?} after {before:?}", gpu.made()).into()),
    }
}
