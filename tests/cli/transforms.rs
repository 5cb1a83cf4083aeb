//! `mireg convert`, `compose` and `invert`.

use std::fs;
use std::path::Path;

use glam::{DAffine3, DVec3};
use libtest_mimic::Trial;
use mireg::io::transform::{self, Grids};
use mireg::transform::Rigid;
use mireg::{Volume, io};
use tempfile::TempDir;

use crate::cli::{mireg, ramp};
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    vec![
        trial("cli::convert goes through every format", every_format_and_back),
        trial("cli::compose goes through the files in order", compose_goes_in_order),
        trial("cli::invert turns a transform round", invert_and_compose_is_nothing),
        trial("cli::metric takes any format", metric_takes_fsl),
    ]
}

const GRIDS: [&str; 4] = ["--fixed", "fixed.mha", "--moving", "moving.nii"];

/// A folder with two images and a rigid motion between them.
fn prepared() -> (TempDir, DAffine3) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    io::write(&path("fixed.mha"), &ramp(DVec3::new(5.0, -7.0, 9.0))).unwrap();
    let mut moving = ramp(DVec3::ZERO);
    moving.geometry.direction.x_axis *= -1.0;
    moving.geometry.origin.x = 30.0;
    io::write(&path("moving.nii"), &Volume { pixel: mireg::PixelType::U16, ..moving }).unwrap();
    let angles = DVec3::new(0.1, -0.2, 0.3);
    let rigid = Rigid { angles, translation: DVec3::new(1.0, -2.0, 3.0), centre: DVec3::splat(15.0) };
    transform::write(&path("a.tfm"), None, &rigid.into(), &Grids::default()).unwrap();
    (folder, rigid.to_affine())
}

fn run(folder: &Path, arguments: &[&str]) {
    mireg(folder, arguments).assert().success().stdout("").stderr("");
}

fn map(folder: &Path, name: &str) -> DAffine3 {
    transform::read(&folder.join(name), None, &Grids::default()).unwrap().to_affine()
}

fn every_format_and_back() {
    let (folder, truth) = prepared();
    for format in ["itk", "ants", "elastix", "fsl", "niftyreg", "matrix-lps", "matrix-ras", "rire", "json"] {
        run(folder.path(), &[&["convert", "a.tfm", "there", "--to", format], &GRIDS[..]].concat());
        run(folder.path(), &[&["convert", "there", "back.tfm", "--from", format], &GRIDS[..]].concat());
        assert!(map(folder.path(), "back.tfm").abs_diff_eq(truth, 1e-9), "{format}");
    }
    let rigid = fs::read_to_string(folder.path().join("back.tfm")).unwrap();
    assert!(rigid.contains("Euler3DTransform"), "{rigid}");
}

fn compose_goes_in_order() {
    let (folder, truth) = prepared();
    let twice = "2 0 0 0\n0 2 0 0\n0 0 2 0\n0 0 0 1\n";
    fs::write(folder.path().join("twice.txt"), twice).unwrap();
    run(folder.path(), &["convert", "twice.txt", "b.tfm", "--from", "matrix-lps"]);
    run(folder.path(), &["compose", "a.tfm", "b.tfm", "--out", "c.tfm"]);
    let point = DVec3::new(10.0, 20.0, 30.0);
    let found = map(folder.path(), "c.tfm").transform_point3(point);
    assert!(found.abs_diff_eq(2.0 * truth.transform_point3(point), 1e-12), "{found}");
}

fn invert_and_compose_is_nothing() {
    let (folder, truth) = prepared();
    run(folder.path(), &[&["invert", "a.tfm", "--out", "inverse.mat"], &GRIDS[..]].concat());
    // FSL's inverse lies between the images in the other order.
    let swapped = ["--fixed", "moving.nii", "--moving", "fixed.mha"];
    run(folder.path(), &[&["convert", "inverse.mat", "inverse.tfm"], &swapped[..]].concat());
    assert!((map(folder.path(), "inverse.tfm") * truth).abs_diff_eq(DAffine3::IDENTITY, 1e-12));
    run(folder.path(), &["compose", "a.tfm", "inverse.tfm", "--out", "none.json"]);
    assert!(map(folder.path(), "none.json").abs_diff_eq(DAffine3::IDENTITY, 1e-12));
}

fn metric_takes_fsl() {
    let (folder, _) = prepared();
    run(folder.path(), &[&["convert", "a.tfm", "a.mat"], &GRIDS[..]].concat());
    let [itk, fsl] = ["a.tfm", "a.mat"].map(|name| {
        let arguments = ["metric", "fixed.mha", "moving.nii", "--backend", "cpu", "--transform", name];
        mireg(folder.path(), &arguments).assert().success().get_output().stdout.clone()
    });
    assert_eq!(itk, fsl);
}
