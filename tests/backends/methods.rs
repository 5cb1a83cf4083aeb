//! Checks that every histogram method has the same counts as the CPU.

use super::{transforms, volumes};
use crate::support::{gpu, gpu_is_absent, stored};
use gpu::math::bin::MASKED;
use gpu::math::interpolate::Interpolator;
use gpu::params::Affine;
use libtest_mimic::{Failed, Trial};
use mireg::backend::emulated::Emulated;
use mireg::backend::{Backend, HistogramMethod, Pair, Wanted, cpu::Cpu};
use mireg::image::{BinImage, StoredImage};
use mireg::{Geometry, PixelType, Volume};

/// The methods that support more than 256 bins per image.
const WIDE: &[HistogramMethod] = &[
    HistogramMethod::SortCount,
    HistogramMethod::PerThread,
    HistogramMethod::GlobalCopies,
    HistogramMethod::GlobalCopiesMarginals,
];

/// The methods that also count the marginals.
const WITH_MARGINALS: &[HistogramMethod] =
    &[HistogramMethod::GlobalCopies, HistogramMethod::GlobalCopiesMarginals, HistogramMethod::ByteLanes];

/// The methods that support partial volume interpolation.
const WEIGHING: &[HistogramMethod] = &[HistogramMethod::SortCount, HistogramMethod::SharedAtomic];

pub fn tests() -> Vec<Trial> {
    let mut tests: Vec<_> = HistogramMethod::ALL.iter().flat_map(|&method| of(method)).collect();
    tests.extend(WIDE.iter().flat_map(|&method| wide(method)));
    tests.extend(WEIGHING.iter().flat_map(|&method| weighing(method)));
    // With cubic interpolation, every brick is counted sample by sample; with 256 bins, counters are narrow.
    let again = || alike_agree(&*gpu()?, HistogramMethod::Tiled, 64, [256; 2], Interpolator::CatmullRom);
    tests
        .push(Trial::test("backends::gpu_tiled_counts_again_what_overflows", again).with_ignored_flag(gpu_is_absent()));
    tests.push(Trial::test("backends::who_cannot_weigh_says_so", others_refuse_weights));
    tests
}

fn weighing(method: HistogramMethod) -> [Trial; 2] {
    let name = method.name();
    [
        Trial::test(format!("backends::emulator_{name}_weighs_as_the_cpu"), move || {
            weights_agree(&Emulated::with_seed(9), method, &FEW[2..])
        }),
        Trial::test(format!("backends::gpu_{name}_weighs_as_the_cpu"), move || weights_agree(&*gpu()?, method, ALL))
            .with_ignored_flag(gpu_is_absent()),
    ]
}

fn wide(method: HistogramMethod) -> [Trial; 2] {
    let name = method.name();
    [
        Trial::test(format!("backends::emulator_{name}_counts_many_bins"), move || {
            many_bins_agree(&Emulated::default(), method, 300)
        }),
        Trial::test(format!("backends::gpu_{name}_counts_many_bins"), move || many_bins_agree(&*gpu()?, method, 1024))
            .with_ignored_flag(gpu_is_absent()),
    ]
}

fn of(method: HistogramMethod) -> [Trial; 4] {
    let (name, absent) = (method.name(), gpu_is_absent());
    let test = |place: &str, what: &str, run: Run| Trial::test(format!("backends::{place}_{name}_{what}"), run);
    type Run = Box<dyn FnOnce() -> Result<(), Failed> + Send>;
    [
        test("emulator", "counts_as_the_cpu", Box::new(move || counts_agree(&emulated(method), method, FEW))),
        test(
            "emulator",
            "counts_many_alike",
            Box::new(move || many_alike_agree(&Emulated::default(), method, planes(method))),
        ),
        test("gpu", "counts_as_the_cpu", Box::new(move || counts_agree(&*gpu()?, method, ALL)))
            .with_ignored_flag(absent),
        test("gpu", "counts_many_alike", Box::new(move || many_alike_agree(&*gpu()?, method, [560; 2])))
            .with_ignored_flag(absent),
    ]
}

/// An emulator with as much shared memory as the method needs for 256 bins.
fn emulated(method: HistogramMethod) -> Emulated {
    if method == HistogramMethod::Tiled { Emulated::with_shared(160) } else { Emulated::with_seed(5) }
}

/// Sizes of a fixed and a moving image, and numbers of bins.
type Case = ([[usize; 3]; 2], [u32; 2]);

/// A few cases, with each size and each number of bins once.
const FEW: &[Case] = &[
    ([[37, 21, 5], [29, 24, 6]], [50, 50]),
    ([[37, 21, 5], [29, 24, 6]], [3, 200]),
    ([[2, 2, 2], [3, 3, 3]], [2, 2]),
    ([[45, 1, 7], [40, 2, 9]], [3, 3]),
    ([[1, 53, 3], [5, 48, 4]], [64, 64]),
    ([[33, 9, 2], [30, 10, 2]], [100, 100]),
    ([[130, 3, 3], [129, 4, 3]], [250, 250]),
    ([[19, 17, 5], [20, 15, 6]], [256, 256]),
];

/// The same cases, and large ones.
const ALL: &[Case] = &[
    FEW[0],
    FEW[1],
    FEW[2],
    FEW[3],
    FEW[4],
    FEW[5],
    FEW[6],
    FEW[7],
    ([[181, 217, 180], [150, 180, 50]], [64, 64]),
    ([[181, 217, 180], [150, 180, 50]], [256, 256]),
];

/// Compares the counts for noise with a mask, a smooth image and a constant one.
fn counts_agree(backend: &dyn Backend, method: HistogramMethod, cases: &[Case]) -> Result<(), Failed> {
    all_agree(backend, method, cases, [Interpolator::Linear, Interpolator::Nearest, Interpolator::Linear])
}

/// The same with partial volume interpolation.
fn weights_agree(backend: &dyn Backend, method: HistogramMethod, cases: &[Case]) -> Result<(), Failed> {
    all_agree(backend, method, cases, [Interpolator::PartialVolume; 3])
}

fn all_agree(
    backend: &dyn Backend,
    method: HistogramMethod,
    cases: &[Case],
    interpolators: [Interpolator; 3],
) -> Result<(), Failed> {
    for &([fixed, moving], bins) in cases {
        let (fixed, moving) = (volumes(fixed, 1), volumes(moving, 2));
        for (i, interpolator) in interpolators.into_iter().enumerate() {
            let transforms = transforms(&fixed[i].geometry, &moving[i].geometry);
            let (whole, moving) = (stored(&fixed[i], bins[0]).bins(bins[0]), stored(&moving[i], bins[1]));
            let fixed = if i == 0 { masked(&whole) } else { whole };
            pair_agrees(
                backend,
                method,
                Pair { fixed: (&fixed).into(), moving: (&moving).into(), bins, interpolator },
                &transforms,
            )?;
        }
    }
    Ok(())
}

/// Checks that methods without partial volume interpolation, and images too large for 32-bit counters, are refused with
/// one line.
fn others_refuse_weights() -> Result<(), Failed> {
    let fixed = BinImage { size: [1 << 10, 1 << 10, 1 << 8], bins: Vec::new() };
    let moving = StoredImage { size: [0; 3], values: Vec::new() };
    let pair = Pair {
        fixed: (&fixed).into(),
        moving: (&moving).into(),
        bins: [64; 2],
        interpolator: Interpolator::PartialVolume,
    };
    let of = |result: mireg::Result<_>| result.err().map(|error| error.to_string()).unwrap_or_default();
    let emulator = Emulated::default();
    for (found, expected) in [
        (of(Cpu.load(pair, HistogramMethod::Auto)), "1024 x 1024 x 256 voxels are too many for partial volumes"),
        (of(emulator.load(pair, HistogramMethod::PerThread)), "`histogram` per-thread does not count partial volumes"),
    ] {
        if !found.starts_with(expected) || found.contains('\n') {
            return Err(format!("it says: {found}").into());
        }
    }
    Ok(())
}

/// Masks a third of the voxels, in an irregular pattern.
fn masked(image: &BinImage) -> BinImage {
    let masked = |(i, &bin): (usize, &u16)| if i * i % 7 % 3 == 1 { MASKED } else { bin };
    BinImage { size: image.size, bins: image.bins.iter().enumerate().map(masked).collect() }
}

/// Compares the counts of each transform alone, and the entropies of all of them in one batch.
fn pair_agrees(
    backend: &dyn Backend,
    method: HistogramMethod,
    pair: Pair,
    transforms: &[Affine],
) -> Result<(), Failed> {
    let (mut ours, mut theirs) = (Cpu.load(pair, HistogramMethod::Auto)?, backend.load(pair, method)?);
    let wrong = |what: &str| format!("{:?}, {:?} bins, {:?}: {what}", pair.fixed.size(), pair.bins, pair.interpolator);
    for transform in transforms {
        let counts = ours.histogram(transform)?;
        if counts != theirs.histogram(transform)? {
            return Err(wrong(&format!("the counts differ at {transform:?}")).into());
        }
        if theirs.marginals()? != WITH_MARGINALS.contains(&method).then(|| projections(&counts, pair.bins)) {
            return Err(wrong(&format!("the marginals are not the projections at {transform:?}")).into());
        }
    }
    if ours.evaluate(transforms, Wanted::Ratios)? != theirs.evaluate(transforms, Wanted::Ratios)? {
        return Err(wrong("the entropies differ").into());
    }
    Ok(())
}

/// Returns the marginals: the sums over each fixed bin and over each moving bin.
fn projections(counts: &[u32], [fixed, moving]: [u32; 2]) -> [Vec<u32>; 2] {
    let columns = || counts.chunks_exact(fixed as usize);
    let fixed = (0..fixed as usize).map(|bin| columns().map(|column| column[bin]).sum()).collect();
    let moving = columns().take(moving as usize).map(|column| column.iter().sum()).collect();
    [fixed, moving]
}

/// Compares counts with more pairs of bins than 16 bits can number.
fn many_bins_agree(backend: &dyn Backend, method: HistogramMethod, bins: u32) -> Result<(), Failed> {
    let [fixed, moving] = [([37, 21, 11], 1), ([29, 24, 9], 2)].map(|(size, seed)| volumes(size, seed).remove(0));
    let transform = transforms(&fixed.geometry, &moving.geometry)[1];
    let (fixed, moving) = (stored(&fixed, bins).bins(bins), stored(&moving, bins));
    let pair =
        Pair { fixed: (&fixed).into(), moving: (&moving).into(), bins: [bins; 2], interpolator: Interpolator::Nearest };
    let counts = Cpu.load(pair, HistogramMethod::Auto)?.histogram(&transform)?;
    if counts.iter().sum::<u32>() == 0 || counts != backend.load(pair, method)?.histogram(&transform)? {
        return Err("the counts differ or are none".into());
    }
    Ok(())
}

/// Counts a constant image with itself, so that one bin has more voxels than any narrow counter can hold. `planes` are
/// the numbers of planes of 256 x 256 voxels for 2 and for 64 bins.
fn many_alike_agree(backend: &dyn Backend, method: HistogramMethod, planes: [usize; 2]) -> Result<(), Failed> {
    let mut cases = [2, 64].into_iter().zip(planes);
    cases.try_for_each(|(bins, planes)| alike_agree(backend, method, planes, [bins; 2], Interpolator::Nearest))
}

/// Returns the numbers of planes for the emulator, which is slow for methods whose lanes update one counter in turn.
/// Two 13-bit counters per word (mbe) overflow within five planes, with any number of bins. One 27-bit counter per word
/// would not overflow in a thousand.
fn planes(method: HistogramMethod) -> [usize; 2] {
    match method {
        HistogramMethod::WarpTagged | HistogramMethod::WarpTaggedDirect => [1; 2],
        HistogramMethod::Mbe | HistogramMethod::MbeBc | HistogramMethod::MbeStl => [1, 5],
        _ => [5; 2],
    }
}

/// Checks that, with all voxels of both images in one bin, that bin has all the counts.
fn alike_agree(
    backend: &dyn Backend,
    method: HistogramMethod,
    planes: usize,
    bins: [u32; 2],
    interpolator: Interpolator,
) -> Result<(), Failed> {
    let geometry = Geometry::axis_aligned([256, 256, planes], glam::DVec3::ONE, glam::DVec3::ZERO);
    let image = Volume { geometry, voxels: vec![1.0; geometry.voxels()], pixel: PixelType::F32 };
    let identity = transforms(&geometry, &geometry)[0];
    let (fixed, moving) = (stored(&image, bins[0]).bins(bins[0]), stored(&image, bins[1]));
    let pair = Pair { fixed: (&fixed).into(), moving: (&moving).into(), bins, interpolator };
    let mut loaded = backend.load(pair, method)?;
    let counts = loaded.histogram(&identity)?;
    if loaded.marginals()?.is_some_and(|marginals| marginals != projections(&counts, bins)) {
        return Err(format!("{bins:?} bins: the marginals are not the projections").into());
    }
    let most = counts.iter().max().copied();
    if most != Some(geometry.voxels() as u32) || counts.iter().filter(|&&count| count > 0).count() != 1 {
        return Err(format!("{bins:?} bins: {most:?} of {} are counted alike", geometry.voxels()).into());
    }
    Ok(())
}
