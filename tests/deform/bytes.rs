//! Checks that results have the same bits on all backends and with any number of threads.

use super::{Pair, from_headers, test};
use crate::support::{CPU, engine, gpu, gpu_is_absent};
use libtest_mimic::Trial;
use mireg::backend::BackendKind;
use mireg::deform::{Channel, Deformation, Force, Forces, Options};
use mireg::{Engine, Silent};
use strum::VariantArray;

pub fn tests() -> Vec<Trial> {
    vec![
        test("threads_do_not_matter", || {
            for (force, symmetric) in forces().into_iter().flat_map(|force| [(force.clone(), false), (force, true)]) {
                let options = Options { force, symmetric, ..short() };
                let found = |threads| bits(&pair_found(&engine(BackendKind::Cpu, threads), [29, 26, 21], &options));
                let one = found(1);
                assert!([2, 3, 8].into_iter().all(|threads| found(threads) == one), "{}, {symmetric}", options.force);
            }
        }),
        test("the_emulator_deforms_as_the_cpu", || {
            let options = Options { iterations: Some(vec![3]), ..short() };
            agrees_with_the_cpu(BackendKind::Emulated, &[[17, 14, 11], [24, 21, 1]], &options);
        }),
        Trial::test("deform::gpu_deforms_as_the_cpu", || {
            let _turn = gpu()?;
            agrees_with_the_cpu(BackendKind::Cuda, &[[29, 26, 21], [67, 70, 40], [80, 61, 1]], &short());
            Ok(())
        })
        .with_ignored_flag(gpu_is_absent()),
    ]
}

fn short() -> Options {
    Options { iterations: Some(vec![15]), bins: 64, ..from_headers() }
}

/// Returns each force alone, and several together.
fn forces() -> Vec<Forces> {
    let alone = Force::VARIANTS.iter().map(|&force| force.into());
    alone.chain(["mi,ssd:2,lcc:0.5".parse().unwrap()]).collect()
}

/// Registers a pair, with two channels if there are several forces.
fn pair_found(engine: &Engine, size: [usize; 3], options: &Options) -> Deformation {
    let pair = Pair::new(size, |v| (v - 60.0).abs());
    let mut options = options.clone();
    if options.force.all().len() > 1 {
        let Pair { fixed, moving } = Pair::new(size, |v| 3.0 * v);
        options.extra = vec![Channel { fixed, moving, weight: 1.5 }];
    }
    let options = &options;
    engine.deform(&pair.fixed, &pair.moving, options, &Silent).expect("this pair can be registered")
}

/// Returns the bits of everything that is written to files.
fn bits(found: &Deformation) -> [Vec<u32>; 5] {
    let vectors = |vectors: &[[f32; 3]]| vectors.as_flattened().iter().map(|v| v.to_bits()).collect();
    let voxels = |voxels: &[f32]| voxels.iter().map(|v| v.to_bits()).collect();
    let numbers = [found.consistency.mean_mm, found.consistency.worst_mm, found.values[0], found.values[1]];
    [
        vectors(&found.field.vectors),
        vectors(&found.inverse.vectors),
        voxels(&found.moved.as_ref().unwrap().voxels),
        voxels(&found.jacobian.voxels),
        numbers.iter().flat_map(|v| [v.to_bits() as u32, (v.to_bits() >> 32) as u32]).collect(),
    ]
}

fn agrees_with_the_cpu(backend: BackendKind, sizes: &[[usize; 3]], options: &Options) {
    let other = engine(backend, 0);
    for &size in sizes {
        for force in forces() {
            for symmetric in [false, true] {
                let options = Options { force: force.clone(), symmetric, ..options.clone() };
                let found = |engine| bits(&pair_found(engine, size, &options));
                assert!(found(&other) == found(&CPU), "{force}, {symmetric}, {size:?}");
            }
        }
    }
}
