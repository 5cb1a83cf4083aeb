//! All kinds of initialisation, from poses from which each must succeed.

use std::f64::consts::PI;

use glam::{DAffine3, DMat3, DQuat, DVec3};
use libtest_mimic::Trial;
use mireg::io::{self, Channel, transform::Grids};
use mireg::registration::{Init, Options, Started};
use mireg::transform::{Dimension, Kind, Linear, distance};
use mireg::{Geometry, Volume};

use super::{GOOD_MM, PAIR, error, place, placed, register, test};
use crate::cli::{self, mireg};
use crate::support::data_dir;

pub fn tests() -> Vec<Trial> {
    vec![
        test("half_a_turn_about_any_axis", half_a_turn_about_any_axis),
        test("far_off", far_off),
        test("each_start_from_what_it_must_solve", each_start_from_what_it_must_solve),
        test("moments_turn_an_image_onto_itself", moments_turn_an_image_onto_itself),
        test("a_start_in_a_file", a_start_in_a_file),
        test("files_that_are_no_start", files_that_are_no_start),
        test("pictures_that_were_turned_and_halved", pictures_that_were_turned_and_halved)
            .with_ignored_flag(data_dir().is_none()),
    ]
}

/// Returns a rotation about the middle of the MR, followed by a translation in mm.
fn moved(axis: DVec3, degrees: f64, shift: DVec3) -> DAffine3 {
    let turn = DMat3::from_axis_angle(axis.normalize(), degrees.to_radians());
    let middle = PAIR.mr.geometry.centre();
    DAffine3::from_mat3_translation(turn, middle + shift - turn * middle)
}

/// Registers with the MR moved by `by`, and asserts that the result is good.
fn brings_home(by: DAffine3, init: Init) {
    let options = Options { init: init.clone(), ..Options::default() };
    let found = register(&PAIR.ct, &placed(&PAIR.mr, &by), &options);
    let error = error(&found, &by);
    assert!(error < GOOD_MM, "{init:?} from {by}: {error:.3} mm");
    assert!(found.trusted(), "{:?}", found.doubts);
}

fn half_a_turn_about_any_axis() {
    for axis in [DVec3::X, DVec3::Y, DVec3::Z, DVec3::new(1.0, -0.7, 0.4)] {
        brings_home(moved(axis, 180.0, DVec3::ZERO), Init::Auto);
    }
}

fn far_off() {
    brings_home(moved(DVec3::new(0.2, 1.0, -0.5), 40.0, DVec3::new(30.0, -30.0, 27.0)), Init::Auto);
    // By the headers, the images do not overlap.
    brings_home(moved(DVec3::X, 25.0, DVec3::new(2000.0, -3000.0, 500.0)), Init::Auto);
}

fn each_start_from_what_it_must_solve() {
    let far = moved(DVec3::Z, 5.0, DVec3::new(400.0, 0.0, -300.0));
    let turned = moved(DVec3::new(1.0, 0.5, -0.3), 100.0, DVec3::new(400.0, 0.0, -300.0));
    brings_home(DAffine3::IDENTITY, Init::Header);
    brings_home(far, Init::Geometry);
    brings_home(far, Init::Mass);
    brings_home(turned, Init::Search);
    brings_home(turned, Init::Transform(turned));
}

/// An image is registered with itself, rotated, so that the moments are equal. Those of the two scans differ, because
/// they cut the head off at different places.
fn moments_turn_an_image_onto_itself() {
    for degrees in [60.0, 150.0] {
        let by = moved(DVec3::new(0.3, 1.0, 0.2), degrees, DVec3::new(-400.0, 200.0, 0.0));
        let found = register(&PAIR.mr, &placed(&PAIR.mr, &by), &Options { init: Init::Moments, ..Options::default() });
        let apart = distance(&found.transform.to_affine(), &by, &PAIR.mr.geometry);
        assert!(apart < 0.2, "{degrees} degrees: {apart} mm");
    }
}

fn a_start_in_a_file() {
    let (folder, pair) = cli::patient();
    let by = moved(DVec3::new(1.0, 2.0, 0.5), 120.0, DVec3::new(90.0, 0.0, 500.0));
    io::write(&folder.path().join("far.mha"), &placed(&pair.mr, &by)).unwrap();
    let start = Linear::new(Kind::Rigid, Dimension::Three, DVec3::ZERO, &by);
    io::transform::write_linear(&folder.path().join("start.tfm"), None, &start, &Grids::default()).unwrap();
    let arguments = ["register", "ct.nii.gz", "far.mha", "--out", "out", "--init", "start.tfm", "--backend", "cpu"];
    mireg(folder.path(), &arguments).assert().success();
    let read = |name: &str| std::fs::read_to_string(folder.path().join("out").join(name)).unwrap();
    let report: serde_json::Value = serde_json::from_str(&read("report.json")).unwrap();
    assert_eq!((&report["started"]["from"], &report["started"]["candidates"]), (&"file".into(), &1.into()));
    let found = io::transform::read_linear(&folder.path().join("out/transform.tfm"), None, &Grids::default()).unwrap();
    let error = pair.misplacement(&(by.inverse() * found.to_affine())).mean_mm;
    assert!(error < 1.5, "{error:.3} mm with voxels of 4.5 x 4.5 x 12.5 mm");
    // A good start differs from the headers by little more than the motion of the patient.
    assert!(report["started"]["distance_mm"].as_f64() < Some(40.0), "{report:#}");
}

fn files_that_are_no_start() {
    let (folder, _) = cli::patient();
    for (file, word) in [("none.tfm", "no such file"), ("ct.nii.gz", "ct.nii.gz")] {
        let arguments = ["register", "ct.nii.gz", "mr.nii.gz", "--out", "out", "--init", file, "--quiet"];
        let assert = mireg(folder.path(), &arguments).assert().code(2);
        let told = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(told.contains(word) && told.lines().count() == 1, "{file}: {told}");
        assert!(!folder.path().join("out").exists());
    }
}

/// Returns a picture upside down, and the map of its points to those of the one that was given.
fn upside_down(mut picture: Volume) -> (Volume, DAffine3) {
    picture.voxels.reverse();
    let middle = DAffine3::from_translation(picture.geometry.centre());
    (picture, middle * DAffine3::from_rotation_z(PI) * middle.inverse())
}

/// Returns a picture with half as many columns and rows, and the map of its points to those of the one that was given.
fn halved(picture: &Volume) -> (Volume, DAffine3) {
    let size = picture.geometry.size.map(|n| (n / 2).max(1));
    let first = |n: usize| 2 * (n / size[0]) * picture.geometry.size[0] + 2 * (n % size[0]);
    let below = picture.geometry.size[0];
    let mean =
        |n: usize| [0, 1, below, below + 1].map(|next| picture.voxels[first(n) + next]).iter().sum::<f32>() / 4.0;
    let geometry = Geometry { size, ..picture.geometry };
    let voxels = (0..geometry.voxels()).map(mean).collect();
    let map = DAffine3::from_scale_rotation_translation(
        DVec3::new(2.0, 2.0, 1.0),
        DQuat::IDENTITY,
        DVec3::new(0.5, 0.5, 0.0),
    );
    (Volume { geometry, voxels, pixel: picture.pixel }, map)
}

/// A radar and an optical image, and MR and PET of one head. Local contrast does not find them.
fn pictures_that_were_turned_and_halved() {
    let found = |pair, dof, change: fn(Volume) -> (Volume, DAffine3)| {
        let [fixed, moving] = place::pictures(pair, Channel::Auto);
        let (moving, back) = change(moving);
        let found = register(&fixed, &moving, &Options { dof, ..Options::default() });
        let off = place::mean_error(pair, &(back * found.transform.to_affine()));
        let Started { from, .. } = found.started;
        assert!(
            found.trusted() && from == "wide_contrast" && off < 3.0,
            "{pair}: {off:.2} px, from {from}, {:?}, {:?}",
            found.place,
            found.doubts
        );
    };
    found("sar_optical/SO1", Kind::Affine, upside_down);
    found("sar_optical/SO1", Kind::Affine, |picture| halved(&picture));
    found("mr_pet/MRI_PET_1", Kind::Rigid, upside_down);
}
