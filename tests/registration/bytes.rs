//! Checks that results have the same bits on all backends and with any number of threads.

use libtest_mimic::Trial;
use mireg::backend::BackendKind;
use mireg::metric::{Counted, Mattes, Metric};
use mireg::optimizer::OptimizerKind;
use mireg::transform::Kind;
use mireg::{Engine, Options, Registration, Silent};
use mireg_cli::demo::Pair;
use std::sync::LazyLock;
use strum::VariantArray;

use super::test;
use crate::support::{CPU, engine, gpu, gpu_is_absent};

/// A pair with voxels of 5.4 x 5.4 x 15 mm and of 6 mm. Small images suffice to compare bits.
static TINY: LazyLock<Pair> = LazyLock::new(|| Pair::new(5, 6.0));

pub fn tests() -> Vec<Trial> {
    vec![
        test("threads_do_not_matter_to_any_optimizer", threads_do_not_matter_to_any_optimizer),
        test("the_emulator_registers_as_the_cpu", || {
            agrees_with_the_cpu(BackendKind::Emulated, &[OptimizerKind::Batch], &[Kind::Rigid])
        }),
        Trial::test("registration::gpu_registers_as_the_cpu_with_every_optimizer", || {
            let _turn = gpu()?;
            agrees_with_the_cpu(BackendKind::Cuda, OptimizerKind::VARIANTS, Kind::VARIANTS);
            Ok(())
        })
        .with_ignored_flag(gpu_is_absent()),
    ]
}

fn register(engine: &Engine, options: &Options) -> Registration {
    engine.register(&TINY.ct, &TINY.mr, options, &Silent).unwrap()
}

/// Returns options with an optimizer and a metric that it supports.
fn by(optimizer: OptimizerKind, bins: u32) -> Options {
    let metric = match optimizer.needs_gradient() {
        true => Metric::Mattes(Mattes { bins, ..Mattes::default() }),
        false => Metric::Counted(Counted { bins, ..Counted::default() }),
    };
    Options { optimizer: Some(optimizer), metric, ..Options::default() }
}

/// Returns the bits of what is written to files.
fn bits(found: &Registration) -> (Vec<u64>, Vec<u32>, u64) {
    let parameters = found.transform.parameters.iter().map(|number| number.to_bits()).collect();
    let voxels = found.moved.as_ref().unwrap().voxels.iter().map(|voxel| voxel.to_bits()).collect();
    (parameters, voxels, found.end.nmi.to_bits())
}

/// A second run gives the same result, too.
fn threads_do_not_matter_to_any_optimizer() {
    for &optimizer in OptimizerKind::VARIANTS {
        for &dof in Kind::VARIANTS {
            let found =
                |threads| bits(&register(&engine(BackendKind::Cpu, threads), &Options { dof, ..by(optimizer, 64) }));
            let one = found(1);
            // Common kinds and optimizers are run with every number of threads, the others with one other number.
            let usual = [OptimizerKind::Batch, OptimizerKind::Bfgs].contains(&optimizer);
            let counts: &[usize] = if usual && dof == Kind::Rigid { &[1, 2, 3, 8] } else { &[3] };
            for &threads in counts {
                assert!(found(threads) == one, "{optimizer:?}, {dof:?}: {threads} threads");
            }
        }
    }
}

fn agrees_with_the_cpu(backend: BackendKind, optimizers: &[OptimizerKind], kinds: &[Kind]) {
    let other = engine(backend, 0);
    for &optimizer in optimizers {
        for &dof in kinds {
            let found = |engine| bits(&register(engine, &Options { dof, ..by(optimizer, 32) }));
            assert!(found(&other) == found(&CPU), "{optimizer:?}, {dof:?}");
        }
    }
}
