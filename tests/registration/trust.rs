//! Checks that results that should not be used are marked as such.

use glam::{DAffine3, DVec3};
use libtest_mimic::Trial;
use mireg::transform::{Kind, distance};
use mireg::{Geometry, Options, PixelType, Registration, Volume, io};

use super::{PAIR, register, test};
use crate::cli::{self, mireg, names};
use crate::support::random;

pub fn tests() -> Vec<Trial> {
    vec![
        test("noise_tells_nothing_about_a_head", noise_tells_nothing_about_a_head),
        test("an_image_that_is_almost_constant_tells_nothing", an_image_that_is_almost_constant_tells_nothing),
        test("what_looks_the_same_from_two_sides_has_a_rival", what_looks_the_same_from_two_sides_has_a_rival),
        test("images_that_lie_exactly_on_each_other_pass", images_that_lie_exactly_on_each_other_pass),
        test("a_failed_result_is_written_and_says_so", a_failed_result_is_written_and_says_so),
    ]
}

fn noise() -> Volume {
    let mut random = random(7);
    Volume { voxels: PAIR.mr.voxels.iter().map(|_| (1000.0 * random()).round()).collect(), ..PAIR.mr.clone() }
}

fn grave(found: &Registration) -> Vec<&str> {
    found.doubts.iter().filter(|doubt| doubt.grave).map(|doubt| doubt.check.name()).collect()
}

fn noise_tells_nothing_about_a_head() {
    for (fixed, moving) in [(&PAIR.ct, &noise()), (&noise(), &PAIR.ct)] {
        let found = register(fixed, moving, &Options::default());
        assert!(grave(&found).contains(&"information"), "{:?}, {:?}", found.end, found.doubts);
    }
}

fn an_image_that_is_almost_constant_tells_nothing() {
    let mut flat = PAIR.mr.clone();
    flat.voxels.fill(0.0);
    flat.voxels[12_345] = 1.0;
    let found = register(&PAIR.ct, &flat, &Options::default());
    assert!(grave(&found).contains(&"information"), "{:?}, {:?}", found.end, found.doubts);
}

/// An ellipsoid, denser towards its middle.
fn what_looks_the_same_from_two_sides_has_a_rival() {
    let geometry = Geometry::axis_aligned([40; 3], DVec3::splat(2.0), DVec3::splat(-39.0));
    let to_world = geometry.index_to_world();
    let voxel = |n: usize| {
        let place = DVec3::new((n % 40) as f64, (n / 40 % 40) as f64, (n / 1600) as f64);
        let from_middle = (to_world.transform_point3(place) / DVec3::new(34.0, 24.0, 16.0)).length();
        (1000.0 * (1.0 - from_middle).max(0.0)) as f32
    };
    let volume = Volume { geometry, voxels: (0..geometry.voxels()).map(voxel).collect(), pixel: PixelType::I16 };
    let found = register(&volume, &volume, &Options::default());
    assert_eq!(grave(&found), ["rival"], "{:?}", found.doubts);
}

/// At the headers' alignment nothing is interpolated, so that the metric may be higher there than anywhere near it.
fn images_that_lie_exactly_on_each_other_pass() {
    for (image, dof) in [(&PAIR.ct, Kind::Rigid), (&PAIR.mr, Kind::Rigid), (&PAIR.mr, Kind::Affine)] {
        let found = register(image, image, &Options { dof, ..Options::default() });
        let off = distance(&found.transform.to_affine(), &DAffine3::IDENTITY, &image.geometry);
        assert!(found.trusted() && off < 0.1, "{dof:?}: {off} mm off, {:?}", found.doubts);
    }
}

fn a_failed_result_is_written_and_says_so() {
    let (folder, _) = cli::patient();
    io::write(&folder.path().join("noise.nii.gz"), &noise()).unwrap();
    for (moving, code, trust) in [("noise.nii.gz", 1, "failed"), ("mr.nii.gz", 0, "passed")] {
        let arguments = ["register", "ct.nii.gz", moving, "--out", "out", "--backend", "cpu", "--quiet"];
        let assert = mireg(folder.path(), &arguments).assert().code(code);
        let told = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        let out = folder.path().join("out");
        assert_eq!(names(&out), ["moved.nii.gz", "report.html", "report.json", "transform.tfm"]);
        let report = std::fs::read_to_string(out.join("report.json")).unwrap();
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["trust"], trust);
        let warnings = report["warnings"].as_array().unwrap();
        for warning in warnings {
            assert!(told.contains(warning["text"].as_str().unwrap()), "{warning} is not in {told}");
        }
        let grave = warnings.iter().any(|warning| warning["grave"] == true && warning["name"].is_string());
        assert_eq!(grave, code == 1, "{warnings:?}");
        assert_eq!(told.contains("should not be used"), code == 1, "{told}");
    }
}
