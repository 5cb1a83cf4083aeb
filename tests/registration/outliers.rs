//! Outliers and voxels without data, which clinical images often have, must change the result very little.

use super::{PAIR, register, test};
use glam::{DAffine3, DVec3};
use libtest_mimic::Trial;
use mireg::image::IntensityRange;
use mireg::metric::{Comparison, Counted, Metric};
use mireg::transform::distance;
use mireg::{Options, Registration, Volume};
use std::sync::LazyLock;

use crate::support::{CPU, by_place};

pub fn tests() -> Vec<Trial> {
    vec![
        test("one_hot_voxel_changes_nothing", one_hot_voxel_changes_nothing),
        test("one_cold_voxel_changes_nothing", one_cold_voxel_changes_nothing),
        test("metal_changes_next_to_nothing", metal_changes_next_to_nothing),
        test("hot_pixels_change_little", hot_pixels_change_little),
        test("air_without_data_changes_little", air_without_data_changes_little),
        test("a_part_without_data_is_left_out", a_part_without_data_is_left_out),
        test("a_range_that_is_given_is_used", a_range_that_is_given_is_used),
        test("the_metric_of_two_images_does_not_see_a_hot_voxel", the_metric_does_not_see_a_hot_voxel),
    ]
}

static CLEAN: LazyLock<Registration> = LazyLock::new(|| register(&PAIR.ct, &PAIR.mr, &Options::default()));
static CLEAN_NMI: LazyLock<Registration> = LazyLock::new(|| register(&PAIR.ct, &PAIR.mr, &nmi()));

fn nmi() -> Options {
    Options { metric: Metric::Counted(Counted::default()), ..Options::default() }
}

/// Returns the distance between two results, in mm.
fn apart(one: &Registration, other: &Registration) -> f64 {
    distance(&one.transform.to_affine(), &other.transform.to_affine(), &PAIR.ct.geometry)
}

/// The same image with other intensities, by the number of a voxel and its place relative to the middle, LPS mm.
fn changed(volume: &Volume, intensity: impl Fn(usize, DVec3, f32) -> f32) -> Volume {
    let middle = volume.geometry.centre();
    by_place(volume, |n, place, v| intensity(n, place - middle, v))
}

fn with_one(volume: &Volume, voxel: f32) -> Volume {
    let mut volume = volume.clone();
    let n = volume.voxels.len() / 3;
    volume.voxels[n] = voxel;
    volume
}

fn alone(voxel: f32) {
    let (ct, mr) = (with_one(&PAIR.ct, voxel), with_one(&PAIR.mr, voxel));
    // With voxels of 4 mm, the joint counts are noisy, so that NMI is accurate to a millimetre only, with or without
    // outliers.
    for (clean, options, most_mm) in [(&*CLEAN, Options::default(), 0.4), (&*CLEAN_NMI, nmi(), 1.5)] {
        let found = register(&ct, &mr, &options);
        assert!(apart(&found, clean) < most_mm && found.trusted(), "{} mm", apart(&found, clean));
        let ends = |found: &Registration| found.intensities.map(|image| image.range);
        assert_eq!(ends(&found), ends(clean));
        assert!(found.intensities.iter().all(|image| image.below + image.above == 1));
        assert_eq!(
            found.moved.as_ref().unwrap().voxels.iter().filter(|v| v.abs() == voxel.abs()).count(),
            0,
            "it is interpolated"
        );
    }
}

fn one_hot_voxel_changes_nothing() {
    alone(30_000.0);
}

fn one_cold_voxel_changes_nothing() {
    alone(-32_768.0);
}

/// A clip in one image, of a hundred times its range.
fn metal_changes_next_to_nothing() {
    let clip = |volume: &Volume, at: DVec3| {
        changed(volume, |_, p, v| if p.distance(at) < 9.0 { 100.0 * volume.range().1 } else { v })
    };
    let ct = clip(&PAIR.ct, DVec3::new(20.0, 30.0, 10.0));
    let mr = clip(&PAIR.mr, DVec3::new(-25.0, 5.0, -12.0));
    for (fixed, moving) in [(&ct, &PAIR.mr), (&PAIR.ct, &mr), (&ct, &mr)] {
        let found = register(fixed, moving, &Options::default());
        assert!(apart(&found, &CLEAN) < 0.3 && found.trusted(), "{} mm", apart(&found, &CLEAN));
    }
}

/// One voxel of 200.
fn hot_pixels_change_little() {
    let hot = |volume: &Volume| {
        let picked = |n: usize| (n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 & 0xFF_FFFF < 83_886;
        changed(volume, |n, _, v| if picked(n) { 10.0 * volume.range().1 } else { v })
    };
    let found = register(&hot(&PAIR.ct), &hot(&PAIR.mr), &Options::default());
    assert!(apart(&found, &CLEAN) < 0.6 && found.trusted(), "{} mm", apart(&found, &CLEAN));
}

fn air_without_data_changes_little() {
    let within = |volume: &Volume, air: f32| changed(volume, |_, _, v| if v < air { f32::NAN } else { v });
    let (ct, mr) = (within(&PAIR.ct, -500.0), within(&PAIR.mr, 30.0));
    for (fixed, moving) in [(&ct, &PAIR.mr), (&PAIR.ct, &mr), (&ct, &mr)] {
        let found = register(fixed, moving, &Options::default());
        assert!(apart(&found, &CLEAN) < 1.0 && found.trusted(), "{} mm, {:?}", apart(&found, &CLEAN), found.doubts);
        let missing = [fixed, moving].map(|image| image.voxels.iter().filter(|v| v.is_nan()).count() as u64);
        assert_eq!(found.intensities.map(|image| image.missing), missing);
        assert!(missing.iter().any(|&n| n > 1000));
    }
}

/// A quarter of the fixed and a fifth of the moving image have no data. The moved image has no data there either.
fn a_part_without_data_is_left_out() {
    let side =
        |volume: &Volume, axis: DVec3, mm: f64| changed(volume, |_, p, v| if p.dot(axis) < mm { f32::NAN } else { v });
    let (ct, mr) = (side(&PAIR.ct, DVec3::Z, -40.0), side(&PAIR.mr, DVec3::X, -50.0));
    let found = register(&ct, &mr, &Options::default());
    assert!(apart(&found, &CLEAN) < 1.5 && found.trusted(), "{} mm, {:?}", apart(&found, &CLEAN), found.doubts);
    assert!(found.end.samples < ct.voxels.iter().filter(|v| !v.is_nan()).count() as u64);
    let gaps = found.moved.as_ref().unwrap().voxels.iter().filter(|v| v.is_nan()).count();
    assert!(gaps > 1000 && gaps < ct.voxels.len() / 2, "{gaps} voxels without data were moved");
    assert!(found.moved.as_ref().unwrap().voxels.iter().all(|v| !v.is_infinite()));
}

fn a_range_that_is_given_is_used() {
    let options = Options { fixed_range: IntensityRange::Between(-100.0, 200.0), ..Options::default() };
    let found = register(&PAIR.ct, &PAIR.mr, &options);
    let [fixed, moving] = found.intensities;
    assert_eq!((fixed.range, moving.range), ((-100.0, 200.0), CLEAN.intensities[1].range));
    let beyond = |test: fn(f32) -> bool| PAIR.ct.voxels.iter().filter(|v| test(**v)).count() as u64;
    assert_eq!((fixed.below, fixed.above), (beyond(|v| v < -100.0), beyond(|v| v > 200.0)));
    let wrong = |range| {
        let options = Options { moving_range: range, ..Options::default() };
        CPU.register(&PAIR.ct, &PAIR.mr, &options, &mireg::Silent).unwrap_err().to_string()
    };
    assert!(wrong(IntensityRange::Between(2.0, 1.0)).contains("the smaller one first"));
    assert!(wrong(IntensityRange::Between(1e6, 1e7)).contains("no intensity of the moving image"));
}

fn the_metric_does_not_see_a_hot_voxel() {
    let value = |ct: &Volume, range| {
        let comparison = Comparison { fixed_range: range, ..Comparison::default() };
        CPU.evaluate(ct, &PAIR.mr, &DAffine3::IDENTITY, &comparison).unwrap().mi
    };
    let (clean, hot) = (value(&PAIR.ct, IntensityRange::Auto), with_one(&PAIR.ct, 1e7));
    assert!((value(&hot, IntensityRange::Auto) - clean).abs() < 0.01 * clean);
    assert!(value(&hot, IntensityRange::Full) < 0.5 * clean);
}
