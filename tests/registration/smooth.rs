//! Differentiable metrics, and the optimizers that use their derivatives.

use crate::support::{CPU, engine};
use glam::DAffine3;
use libtest_mimic::Trial;
use mireg::backend::BackendKind;
use mireg::metric::{Counted, Exponentials, Mattes, Metric, Sigmas, Viola, Windows};
use mireg::optimizer::OptimizerKind;
use mireg::registration::Sampling;
use mireg::transform::{Dimension, Kind, distance};
use mireg::{Error, Options, Registration, Silent, Volume};
use strum::VariantArray;

use super::{GOOD_MM, PAIR, error, plane, register, test};

pub fn tests() -> Vec<Trial> {
    vec![
        test("every_smooth_metric_registers_with_every_optimizer", every_smooth_metric_registers_with_every_optimizer),
        test("smooth_metrics_find_every_kind_of_motion", smooth_metrics_find_every_kind_of_motion),
        test("smooth_metrics_of_slices", smooth_metrics_of_slices),
        test("smooth_metrics_sample_either_image", smooth_metrics_sample_either_image),
        test("smooth_metrics_heed_masks_and_sampling", smooth_metrics_heed_masks_and_sampling),
        test("threads_do_not_matter_to_smooth_metrics", threads_do_not_matter_to_smooth_metrics),
        test("viola_takes_windows_and_samples", viola_takes_windows_and_samples),
        test("what_smooth_metrics_refuse", what_smooth_metrics_refuse),
    ]
}

fn counted() -> Metric {
    Metric::Counted(Counted::default())
}

fn smooth() -> [Metric; 3] {
    let symmetric = Mattes { windows: Windows::Both, ..Mattes::default() };
    [Metric::default(), Metric::Mattes(symmetric), Metric::Viola(Viola::default())]
}

/// Returns the largest mean error, in mm. It is larger with 8000 samples than with all voxels.
fn good(metric: Metric) -> f64 {
    if matches!(metric, Metric::Viola(_)) { 2.0 * GOOD_MM } else { GOOD_MM }
}

fn with(metric: Metric) -> Options {
    Options { metric, ..Options::default() }
}

fn is_good(found: &Registration, metric: Metric, what: &str) {
    let error = error(found, &DAffine3::IDENTITY);
    assert!(error < good(metric) && found.trusted(), "{metric:?}, {what}: {error:.3} mm, {:?}", found.doubts);
    let [before, after] = found.values;
    assert!(after > before && after == found.levels.last().unwrap().value, "{metric:?}, {what}: {before}, {after}");
}

fn every_smooth_metric_registers_with_every_optimizer() {
    for metric in smooth() {
        // Mattes is run with every optimizer. The other metrics have the same interface, so that those with derivatives
        // and one without suffice.
        let chosen = |&&optimizer: &&OptimizerKind| {
            metric == Metric::default() || optimizer.needs_gradient() || optimizer == OptimizerKind::Batch
        };
        for &optimizer in OptimizerKind::VARIANTS.iter().filter(chosen) {
            let found = register(&PAIR.ct, &PAIR.mr, &Options { optimizer: Some(optimizer), ..with(metric) });
            is_good(&found, metric, &format!("{optimizer:?}"));
        }
    }
    assert_eq!(with(Metric::default()).optimizer(), OptimizerKind::Bfgs);
    assert_eq!(with(counted()).optimizer(), OptimizerKind::Batch);
}

fn smooth_metrics_find_every_kind_of_motion() {
    // Rigid motion is tested above, with every optimizer.
    for metric in smooth() {
        for dof in [Kind::Similarity, Kind::Affine] {
            let found = register(&PAIR.ct, &PAIR.mr, &Options { dof, ..with(metric) });
            assert_eq!(found.transform.kind, dof);
            let error = error(&found, &DAffine3::IDENTITY);
            assert!(error < 2.0 * good(metric), "{metric:?}, {dof:?}: {error:.3} mm");
        }
    }
}

fn smooth_metrics_of_slices() {
    let ct = plane::fixed();
    for metric in smooth() {
        for dof in [Kind::Translation, Kind::Rigid] {
            let (moving, truth) = plane::moved(dof);
            let found = register(ct, &moving, &Options { dof, ..with(metric) });
            assert_eq!((found.transform.kind, found.transform.dimension), (dof, Dimension::Two));
            let apart = distance(&found.transform.to_affine(), &truth, &ct.geometry);
            assert!(apart < 0.5, "{metric:?}, {dof:?}: {apart:.3} mm, {:?}", found.doubts);
        }
    }
}

/// The CT has the larger voxels.
fn smooth_metrics_sample_either_image() {
    for metric in smooth() {
        let found = register(&PAIR.mr, &PAIR.ct, &with(metric));
        let error = PAIR.misplacement(&found.transform.to_affine().inverse()).mean_mm;
        assert!(error < good(metric), "{metric:?}: {error:.3} mm, {:?}", found.doubts);
    }
}

fn smooth_metrics_heed_masks_and_sampling() {
    let third = PAIR.ct.voxels.len() / 3;
    let voxels = (0..PAIR.ct.voxels.len()).map(|n| f32::from(u8::from(n > third))).collect();
    let fixed_mask = Some(Volume { voxels, ..PAIR.ct.clone() });
    let sampling = Sampling::Random { samples: 20_000, seed: 2 };
    for metric in smooth() {
        let found = register(&PAIR.ct, &PAIR.mr, &Options { fixed_mask: fixed_mask.clone(), sampling, ..with(metric) });
        let samples = found.levels.last().unwrap().samples;
        let expected = if matches!(metric, Metric::Viola(_)) { Viola::SAMPLES as u64 } else { 20_000 };
        assert!(samples.abs_diff(expected) < 600, "{metric:?}: {samples}");
        let error = error(&found, &DAffine3::IDENTITY);
        assert!(error < 2.0 * good(metric), "{metric:?}: {error:.3} mm");
    }
}

fn threads_do_not_matter_to_smooth_metrics() {
    for metric in smooth() {
        let bits = |threads| {
            let engine = engine(BackendKind::Cpu, threads);
            let found = engine.register(&PAIR.ct, &PAIR.mr, &with(metric), &Silent).unwrap();
            let parameters: Vec<u64> = found.transform.parameters.iter().map(|number| number.to_bits()).collect();
            (parameters, found.values.map(f64::to_bits))
        };
        assert!(bits(1) == bits(3), "{metric:?}");
    }
}

fn viola_takes_windows_and_samples() {
    let with_viola = |viola| register(&PAIR.ct, &PAIR.mr, &with(Metric::Viola(viola)));
    let [fixed, moving] = [0.02, 0.03].map(|part| part * 65535.0);
    let sigmas = Some(Sigmas { fixed, moving, joint: None });
    let quantised = Exponentials::Quantised;
    for exponentials in [Exponentials::Exact, quantised] {
        let viola = Viola { samples: 4000, sigmas, exponentials, ..Viola::default() };
        let found = with_viola(viola);
        is_good(&found, Metric::Viola(viola), &format!("{exponentials:?}"));
        let last = found.levels.last().unwrap();
        assert!(last.samples.abs_diff(4000) < 300, "{}", last.samples);
        let parts = last.sigmas.as_ref().unwrap();
        assert!((parts[0] - 0.02).abs() < 1e-12 && (parts[1] - 0.03).abs() < 1e-12 && parts.len() == 2, "{parts:?}");
    }
    let seed = |seed| with_viola(Viola { samples: 1000, seed, ..Viola::default() }).transform.parameters;
    assert_eq!(seed(1), seed(1));
    assert_ne!(seed(1), seed(2));
}

fn what_smooth_metrics_refuse() {
    let flat = Volume {
        voxels: PAIR.ct.voxels.iter().enumerate().map(|(n, _)| f32::from(u8::from(n == 7))).collect(),
        ..PAIR.ct.clone()
    };
    let few =
        Volume { voxels: (0..PAIR.ct.voxels.len()).map(|n| f32::from(u8::from(n < 60))).collect(), ..PAIR.ct.clone() };
    let mattes = |bins| with(Metric::Mattes(Mattes { bins, ..Mattes::default() }));
    let viola = || with(Metric::Viola(Viola::default()));
    let narrow = Sigmas { fixed: 0.0, moving: 1.0, joint: None };
    let cases = [
        (mattes(4), "5 to 1024"),
        (mattes(1025), "2 to 1024"),
        (Options { optimizer: Some(OptimizerKind::Bfgs), ..with(counted()) }, "gradient"),
        (Options { optimizer: Some(OptimizerKind::RegularStep), ..with(counted()) }, "`metric` mattes"),
        (with(Metric::Viola(Viola { samples: 99, ..Viola::default() })), "100 or more"),
        (with(Metric::Viola(Viola { sigmas: Some(narrow), ..Viola::default() })), "above 0"),
        (Options { fixed_mask: Some(few), ..viola() }, "too few"),
    ];
    for (options, says) in cases {
        let error = CPU.register(&PAIR.ct, &PAIR.mr, &options, &Silent).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, Error::Option { .. }) && text.contains(says) && text.lines().count() == 1, "{text}");
    }
    // Only one voxel differs, and it is not sampled.
    let error = CPU.register(&flat, &PAIR.mr, &viola(), &Silent).unwrap_err();
    assert!(matches!(error, Error::Option { .. }) && error.to_string().contains("fixed"), "{error}");
}
