//! Checks that CPU, emulator and GPU give the same bits.

mod climb;
mod flow;
mod from_pairs;
mod gaussian;
mod images;
mod mattes;
mod methods;
mod reference;
mod search;
mod tensors;
mod threads;
mod viola;

use crate::support::{data_dir, engine, gpu, gpu_is_absent, random, stored};
use glam::{DAffine3, DVec3};
use gpu::math::interpolate::Interpolator;
use gpu::params::Affine;
use libtest_mimic::{Failed, Trial};
use mireg::backend::emulated::Emulated;
use mireg::backend::{Backend, BackendKind, HistogramMethod, Pair, Wanted, cpu::Cpu};
use mireg::image::pyramid;
use mireg::image::voxel_map;
use mireg::metric::{Mattes, Metric};
use mireg::transform::Rigid;
use mireg::{Engine, Geometry, Options, PixelType, Silent, Volume, io};

pub fn tests() -> Vec<Trial> {
    let absent = gpu_is_absent();
    let mut tests = vec![
        Trial::test("backends::emulator_counts_as_the_cpu", || counts_agree(&Emulated::default(), SMALL, &BINS)),
        Trial::test("backends::order_of_threads_does_not_matter", || {
            counts_agree(&Emulated::with_seed(7), SMALL, &[[50, 50], [3, 200]])
        }),
        Trial::test("backends::emulator_resamples_as_the_cpu", || resampling_agrees(&Emulated::default())),
        Trial::test("backends::emulator_counts_real_images_as_the_cpu", || {
            real_counts_agree(&Emulated::default(), 4.0)
        })
        .with_ignored_flag(data_dir().is_none()),
        Trial::test("backends::emulator_registers_as_the_cpu", || registrations_agree(BackendKind::Emulated)),
        Trial::test("backends::gpu_counts_real_images_as_the_cpu", || real_counts_agree(&*gpu()?, 1.0))
            .with_ignored_flag(absent || data_dir().is_none()),
        Trial::test("backends::gpu_registers_as_the_cpu", || {
            gpu().and_then(|_turn| registrations_agree(BackendKind::Cuda))
        })
        .with_ignored_flag(absent),
        Trial::test("backends::gpu_is_opened_by_the_first_run_that_needs_it", opened_late).with_ignored_flag(absent),
        Trial::test("backends::gpu_counts_as_the_cpu", || counts_agree(&*gpu()?, SMALL, &BINS))
            .with_ignored_flag(absent),
        Trial::test("backends::gpu_counts_large_images_as_the_cpu", || counts_agree(&*gpu()?, LARGE, &BINS))
            .with_ignored_flag(absent),
        Trial::test("backends::gpu_resamples_as_the_cpu", || resampling_agrees(&*gpu()?)).with_ignored_flag(absent),
    ];
    tests.extend(climb::tests());
    tests.extend(flow::tests());
    tests.extend(from_pairs::tests());
    tests.extend(gaussian::tests());
    tests.extend(images::tests());
    tests.extend(mattes::tests());
    tests.extend(methods::tests());
    tests.extend(reference::tests());
    tests.extend(search::tests());
    tests.extend(tensors::tests());
    tests.extend(threads::tests());
    tests.extend(viola::tests());
    tests
}

/// Sizes of a fixed and a moving image.
type Sizes = [[usize; 3]; 2];
const SMALL: Sizes = [[37, 21, 11], [29, 24, 9]];
const LARGE: Sizes = [[181, 217, 180], [150, 180, 50]];

/// Bins of a fixed and a moving image.
const BINS: [[u32; 2]; 6] = [[2, 2], [50, 50], [64, 64], [100, 100], [256, 256], [3, 200]];

/// Images with different statistics: noise, smooth, constant.
fn volumes(size: [usize; 3], seed: u64) -> Vec<Volume> {
    let geometry = Geometry::axis_aligned(size, DVec3::new(1.0, 1.2, 2.5), DVec3::new(-10.0, 5.0, 3.0));
    let mut random = random(seed);
    let volume = |voxels| Volume { geometry, voxels, pixel: PixelType::F32 };
    let noise = (0..geometry.voxels()).map(|_| random()).collect();
    let smooth = (0..geometry.voxels())
        .map(|i| ((i % size[0]) as f32 * 0.2).sin() + (i / size[0] % size[1]) as f32 * 0.1)
        .collect();
    vec![volume(noise), volume(smooth), volume(vec![3.0; geometry.voxels()])]
}

/// Returns the identity, a rotation, a transform with which half of the images overlaps, and one with which nothing
/// overlaps.
fn transforms(fixed: &Geometry, moving: &Geometry) -> Vec<Affine> {
    let rigid = |angles, translation| Rigid { angles, translation, centre: fixed.centre() };
    [
        rigid(DVec3::ZERO, DVec3::ZERO),
        rigid(DVec3::new(0.1, -0.2, 0.3), DVec3::new(1.5, -2.0, 0.7)),
        rigid(DVec3::new(3.0, 0.0, 0.0), DVec3::new(10.0, 0.0, 4.0)),
        rigid(DVec3::ZERO, DVec3::splat(1e4)),
    ]
    .map(|rigid| voxel_map(fixed, moving, &rigid.to_affine()))
    .to_vec()
}

fn opened_late() -> Result<(), Failed> {
    let _turn = gpu()?;
    let engine = Engine::unopened(BackendKind::Cuda, 1, &Silent)?;
    assert!(!engine.has_gpu() && engine.opening_seconds() == 0.0, "the GPU was opened before it was needed");
    let image = &volumes(SMALL[0], 1)[1];
    let found = engine.register(image, image, &Options::default(), &Silent)?;
    assert!(found.backend == "cuda" && engine.has_gpu() && engine.opening_seconds() > 0.0, "{}", found.backend);
    Ok(())
}

fn counts_agree(backend: &dyn Backend, [fixed, moving]: Sizes, bins: &[[u32; 2]]) -> Result<(), Failed> {
    for (fixed, moving) in volumes(fixed, 1).iter().zip(volumes(moving, 2).iter()) {
        let transforms = transforms(&fixed.geometry, &moving.geometry);
        for &bins in bins {
            for interpolator in [Interpolator::Linear, Interpolator::Nearest, Interpolator::BSpline] {
                let (fixed, moving) = (stored(fixed, bins[0]).bins(bins[0]), stored(moving, bins[1]));
                let pair = Pair { fixed: (&fixed).into(), moving: (&moving).into(), bins, interpolator };
                let (mut ours, mut theirs) =
                    (Cpu.load(pair, HistogramMethod::Auto)?, backend.load(pair, HistogramMethod::Auto)?);
                for transform in &transforms {
                    if ours.histogram(transform)? != theirs.histogram(transform)? {
                        return Err(
                            format!("{bins:?} bins, {interpolator:?}: the counts differ at {transform:?}").into()
                        );
                    }
                }
                for wanted in [Wanted::Ratios, Wanted::Entropies] {
                    let (ours, theirs) = (ours.evaluate(&transforms, wanted)?, theirs.evaluate(&transforms, wanted)?);
                    if ours != theirs {
                        return Err(format!("{bins:?} bins, {interpolator:?}: {theirs:?} is not {ours:?}").into());
                    }
                }
            }
        }
    }
    Ok(())
}

/// Compares the counts of a head's T1 and T2 on grids of about `mm`, aligned by their headers.
fn real_counts_agree(backend: &dyn Backend, mm: f64) -> Result<(), Failed> {
    let case = data_dir().ok_or("no data")?.join("cases/bw_00");
    let (fixed, moving) = (io::read(&case.join("fixed.nii.gz"))?, io::read(&case.join("moving.nii.gz"))?);
    let (fixed, moving) = (&pyramid::levels(&fixed, &[mm])[0], &pyramid::levels(&moving, &[mm])[0]);
    let transform = voxel_map(&fixed.geometry, &moving.geometry, &DAffine3::IDENTITY);
    for bins in [2, 50, 64, 100, 256] {
        let (fixed, moving) = (stored(fixed, bins).bins(bins), stored(moving, bins));
        let pair = Pair {
            fixed: (&fixed).into(),
            moving: (&moving).into(),
            bins: [bins; 2],
            interpolator: Interpolator::Linear,
        };
        let (mut ours, mut theirs) =
            (Cpu.load(pair, HistogramMethod::Auto)?, backend.load(pair, HistogramMethod::Auto)?);
        let counts = ours.histogram(&transform)?;
        if counts.iter().sum::<u32>() == 0 || counts != theirs.histogram(&transform)? {
            return Err(format!("{bins} bins: the counts differ or are none").into());
        }
    }
    Ok(())
}

/// Compares whole registrations of a small pair: the transforms must be the same to the last bit, and so must the
/// voxels.
fn registrations_agree(backend: BackendKind) -> Result<(), Failed> {
    let [fixed, mut moving] = [1, 2].map(|seed| volumes([30, 27, 18], seed).remove(1));
    moving.geometry.origin += DVec3::new(2.0, -1.0, 3.0);
    let register = |backend| {
        let metric = Metric::Mattes(Mattes { bins: 32, ..Mattes::default() });
        let options = Options { metric, ..Options::default() };
        engine(backend, 0).register(&fixed, &moving, &options, &Silent)
    };
    let (ours, theirs) = (register(BackendKind::Cpu)?, register(backend)?);
    if ours.transform != theirs.transform || ours.moved != theirs.moved || ours.end != theirs.end {
        return Err(format!("{:?} is not {:?}", theirs.transform, ours.transform).into());
    }
    Ok(())
}

fn resampling_agrees(backend: &dyn Backend) -> Result<(), Failed> {
    let [fixed, moving] = SMALL;
    let moving = &volumes(moving, 3)[0];
    let grid = Geometry::axis_aligned(fixed, DVec3::ONE, DVec3::new(-9.0, 6.0, 2.0));
    for transform in transforms(&grid, &moving.geometry) {
        for interpolator in [0, 1, 2, 3].map(Interpolator::of) {
            let ours = Cpu.resample(moving, fixed, &transform, interpolator)?;
            if ours != backend.resample(moving, fixed, &transform, interpolator)? {
                return Err(format!("{interpolator:?}: the voxels differ at {transform:?}").into());
            }
        }
    }
    Ok(())
}
