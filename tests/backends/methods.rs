//! Every histogram method counts what the CPU counts.

use super::{Sizes, transforms, volumes};
use crate::support::{gpu, gpu_is_absent, stored};
use glam::DVec3;
use gpu::math::bin::MASKED;
use gpu::math::interpolate::Interpolator;
use gpu::params::Affine;
use libtest_mimic::{Failed, Trial};
use mireg::backend::emulated::Emulated;
use mireg::backend::{Backend, HistogramMethod as Method, Pair, cpu::Cpu};
use mireg::image::BinImage;
use mireg::{Geometry, PixelType, Volume};

/// The methods that are there.
const METHODS: &[Method] = &[Method::WarpTagged, Method::WarpTaggedDirect, Method::Mbe, Method::MbeBc, Method::MbeStl];

/// Sizes that are no multiple of anything, down to the thinnest.
const SMALL: &[Sizes] = &[[[37, 21, 5], [29, 24, 9]], [[2, 2, 2], [2, 2, 2]], [[131, 3, 2], [2, 40, 5]]];
const LARGE: &[Sizes] = &[[[181, 217, 180], [150, 180, 50]], [[2, 3, 70_001], [5, 2, 9]]];

/// Bins for all images, and bins that take an emulator longer for noise alone.
const BINS: &[[u32; 2]] = &[[2, 2], [3, 3], [3, 200], [50, 50], [64, 64]];
const MANY_BINS: &[[u32; 2]] = &[[100, 100], [250, 250], [256, 256], [200, 3]];

pub fn tests() -> Vec<Trial> {
    METHODS.iter().flat_map(|&method| of_method(method)).collect()
}

fn of_method(method: Method) -> [Trial; 5] {
    let test = |name: &str, run: fn(Method) -> Result<(), Failed>| {
        Trial::test(format!("backends::{}", name.replace("METHOD", method.name())), move || run(method))
    };
    let absent = gpu_is_absent();
    [
        test("emulator_METHOD_counts_as_the_cpu", |method| {
            SMALL.iter().enumerate().try_for_each(|(i, &sizes)| agree(&Emulated::with_seed(i as u64), method, sizes))
        }),
        test("emulator_METHOD_counts_many_voxels_in_one_bin", |method| {
            one_bin_agrees(&Emulated::default(), method, [64, 64, 66])
        }),
        test("gpu_METHOD_counts_as_the_cpu", |method| {
            let gpu = gpu()?;
            [SMALL, LARGE].concat().into_iter().try_for_each(|sizes| agree(&*gpu, method, sizes))
        })
        .with_ignored_flag(absent),
        // More than 2^27 voxels, in an image and a working memory of 1 GB at most.
        test("gpu_METHOD_counts_many_voxels_in_one_bin", |method| one_bin_agrees(&*gpu()?, method, [512, 512, 513]))
            .with_ignored_flag(absent),
        test("emulator_METHOD_takes_up_to_1024_bins_or_says_so", most_bins),
    ]
}

/// Noise, smooth and constant images, with and without a mask; with the images turned, and wholly apart.
fn agree(backend: &dyn Backend, method: Method, [fixed, moving]: Sizes) -> Result<(), Failed> {
    for (kind, (fixed, moving)) in volumes(fixed, 1).iter().zip(volumes(moving, 2).iter()).enumerate() {
        let transforms = transforms(&fixed.geometry, &moving.geometry);
        let many_bins = if kind == 0 { MANY_BINS } else { &[] };
        for (i, &bins) in BINS.iter().chain(many_bins).enumerate() {
            let mut fixed = stored(fixed).bins(bins[0]);
            let interpolator = [Interpolator::Linear, Interpolator::Nearest][i % 2];
            same_counts(backend, method, &fixed, moving, bins, interpolator, &transforms[1..2])?;
            fixed.bins.iter_mut().step_by(3).for_each(|bin| *bin = MASKED);
            let interpolator = [Interpolator::Nearest, Interpolator::Linear][i % 2];
            same_counts(backend, method, &fixed, moving, bins, interpolator, &[transforms[3], transforms[0]])?;
        }
    }
    Ok(())
}

/// The same counts one by one, and the same entropies in one go.
fn same_counts(
    backend: &dyn Backend,
    method: Method,
    fixed: &BinImage,
    moving: &Volume,
    bins: [u32; 2],
    interpolator: Interpolator,
    transforms: &[Affine],
) -> Result<(), Failed> {
    let pair = Pair { fixed, moving: &stored(moving), bins, interpolator };
    let (mut ours, mut theirs) = (Cpu.load(pair, Method::Auto)?, backend.load(pair, method)?);
    for transform in transforms {
        if ours.histogram(transform)? != theirs.histogram(transform)? {
            return Err(format!("{bins:?} bins, {interpolator:?}: the counts differ at {transform:?}").into());
        }
    }
    if transforms.len() > 1 && ours.evaluate(transforms)? != theirs.evaluate(transforms)? {
        return Err(format!("{bins:?} bins, {interpolator:?}: the entropies differ").into());
    }
    Ok(())
}

/// All voxels of a fixed image in one bin, so many that a warp's narrow counters could not hold them.
fn one_bin_agrees(backend: &dyn Backend, method: Method, size: [usize; 3]) -> Result<(), Failed> {
    let fixed = BinImage { size, bins: vec![1; size.iter().product()] };
    let geometry = Geometry::axis_aligned([2; 3], DVec3::ONE, DVec3::ZERO);
    let moving = Volume { geometry, voxels: vec![3.0; 8], pixel: PixelType::F32 };
    let small = 1.0 / 1024.0;
    let inside = Affine { rows: [[small, 0.0, 0.0, 0.0], [0.0, small, 0.0, 0.0], [0.0, 0.0, small, 0.0]] };
    same_counts(backend, method, &fixed, &moving, [2, 2], Interpolator::Nearest, &[inside])
}

/// Counts alone: the entropies take 256.
fn most_bins(method: Method) -> Result<(), Failed> {
    let [fixed, moving] = [[9, 8, 7], [7, 9, 8]].map(|size| volumes(size, 3).remove(0));
    let transforms = transforms(&fixed.geometry, &moving.geometry);
    let (bins, fixed) = ([1024, 700], stored(&fixed).bins(1024));
    match same_counts(&Emulated::default(), method, &fixed, &moving, bins, Interpolator::Linear, &transforms[..1]) {
        Err(error) if error.message().is_some_and(|text| text.contains("bins: choose another, or auto")) => Ok(()),
        result => result,
    }
}
