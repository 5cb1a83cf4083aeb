//! `mireg convert`, `compose` and `invert`.

use std::fs;
use std::path::Path;

use glam::{DAffine3, DVec3};
use libtest_mimic::Trial;
use mireg::io::points::Landmarks;
use mireg::io::transform::{self, Grids};
use mireg::transform::Rigid;
use mireg::{Geometry, Volume, io};
use tempfile::TempDir;

use crate::cli::{mireg, ramp};
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    vec![
        trial("cli::convert goes through every format", every_format_and_back),
        trial("cli::compose goes through the files in order", compose_goes_in_order),
        trial("cli::invert turns a transform round", invert_and_compose_is_nothing),
        trial("cli::metric takes any format", metric_takes_any),
        trial("cli::apply takes any format", apply_takes_any),
        trial("cli::points take any format", points_take_any),
        trial("cli::evaluate takes any format", evaluate_takes_any),
        trial("cli::register starts from any format", register_starts_from_any),
        trial("cli::transforms of the plane are not of space", those_of_the_plane_are_not_of_space),
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
    transform::write_linear(&path("a.tfm"), None, &rigid.into(), &Grids::default()).unwrap();
    (folder, rigid.to_affine())
}

fn run(folder: &Path, arguments: &[&str]) {
    mireg(folder, arguments).assert().success().stdout("").stderr("");
}

fn map(folder: &Path, name: &str) -> DAffine3 {
    transform::read_linear(&folder.join(name), None, &Grids::default()).unwrap().to_affine()
}

fn every_format_and_back() {
    let (folder, truth) = prepared();
    for format in [
        "itk",
        "itk-hdf5",
        "ants",
        "elastix",
        "fsl",
        "niftyreg",
        "matrix-lps",
        "matrix-ras",
        "rire",
        "lta",
        "afni",
        "minc",
        "json",
    ] {
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
    // For the inverse, FSL needs the images in the other order.
    let swapped = ["--fixed", "moving.nii", "--moving", "fixed.mha"];
    run(folder.path(), &[&["convert", "inverse.mat", "inverse.tfm"], &swapped[..]].concat());
    assert!((map(folder.path(), "inverse.tfm") * truth).abs_diff_eq(DAffine3::IDENTITY, 1e-12));
    run(folder.path(), &["compose", "a.tfm", "inverse.tfm", "--out", "none.json"]);
    assert!(map(folder.path(), "none.json").abs_diff_eq(DAffine3::IDENTITY, 1e-12));
}

/// `a.tfm` and the same in formats that need the images or a name, as arguments.
const SAME: [&[&str]; 4] = [&["a.tfm"], &["a.mat"], &["a.standard"], &["ras.txt", "--from", "matrix-ras"]];

/// Returns the folder of [`prepared`], with `a.tfm` in every format of [`SAME`].
fn translated() -> TempDir {
    let (folder, _) = prepared();
    for (name, to) in [("a.mat", "fsl"), ("a.standard", "rire"), ("ras.txt", "matrix-ras")] {
        run(folder.path(), &[&["convert", "a.tfm", name, "--to", to], &GRIDS[..]].concat());
    }
    folder
}

/// Asserts that a command, followed by the arguments of a transform, has the same result for each of [`SAME`]. Exit
/// code 1, for a result that should not be used, is accepted.
fn is_the_same<T: PartialEq>(folder: &Path, command: &[&str], result: impl Fn(Vec<u8>) -> T) {
    let [itk, others @ ..] = SAME.map(|transform| {
        let arguments = [command, transform].concat();
        result(mireg(folder, &arguments).assert().code(vec![0, 1]).get_output().stdout.clone())
    });
    for (other, transform) in others.iter().zip(&SAME[1..]) {
        assert!(*other == itk, "{transform:?}");
    }
}

fn metric_takes_any() {
    let folder = translated();
    let command = ["metric", "fixed.mha", "moving.nii", "--backend", "cpu", "--transform"];
    is_the_same(folder.path(), &command, |stdout| stdout);
}

/// Also with the inverse, for which the transform goes from the image to the grid.
fn apply_takes_any() {
    let folder = translated();
    let voxels = |_| io::read(&folder.path().join("out.nii")).unwrap().voxels;
    let forwards = ["apply", "moving.nii", "--like", "fixed.mha", "--out", "out.nii", "--labels", "--transform"];
    let backwards =
        ["apply", "fixed.mha", "--like", "moving.nii", "--out", "out.nii", "--labels", "--invert", "--transform"];
    is_the_same(folder.path(), &forwards, voxels);
    is_the_same(folder.path(), &backwards, voxels);
}

fn points_take_any() {
    let folder = translated();
    fs::write(folder.path().join("p.csv"), "x,y,z\n1,2,3\n40,-50,60\n").unwrap();
    let rounded = |_| {
        let points = Landmarks::read(&folder.path().join("q.csv"), None, None).unwrap();
        points.points().iter().map(|point| (point * 1e6).round()).collect::<Vec<_>>()
    };
    let command = [&["points", "p.csv", "--out", "q.csv"], &GRIDS[..], &["--transform"]].concat();
    is_the_same(folder.path(), &command, rounded);
}

/// Evaluates over corners, a mask and points. Only the first two determine the fixed image.
fn evaluate_takes_any() {
    let folder = translated();
    fs::write(folder.path().join("p.csv"), "x,y,z\n1,2,3\n40,-50,60\n").unwrap();
    let overs: [&[&str]; 3] =
        [&["--fixed", "fixed.mha"], &["--mask", "fixed.mha"], &["--points", "p.csv", GRIDS[0], GRIDS[1]]];
    for over in overs {
        let command = [&["evaluate", "--truth", "a.tfm", "--limit", "1e-6", "--moving", "moving.nii"], over].concat();
        // The command succeeds, which by its limit means that the error is 0.
        is_the_same(folder.path(), &command, |_| ());
    }
}

fn register_starts_from_any() {
    let folder = translated();
    let report = |_| {
        let report = fs::read_to_string(folder.path().join("out/report.json")).unwrap();
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["started"]["from"], "file");
        report["final"]["value"].as_f64().map(|value| (value * 1e4).round())
    };
    let command = ["register", "fixed.mha", "moving.nii", "--out", "out", "--levels", "2mm", "--init"];
    is_the_same(folder.path(), &command, report);
}

/// Also, a map with a tilt is refused for pictures, since it takes them out of their plane.
fn those_of_the_plane_are_not_of_space() {
    let (folder, _) = prepared();
    let flat = ramp(DVec3::ZERO);
    let geometry = Geometry::axis_aligned([16, 16, 1], DVec3::ONE, DVec3::ZERO);
    io::write(&folder.path().join("flat.mha"), &Volume { geometry, voxels: flat.voxels[..256].to_vec(), ..flat })
        .unwrap();
    let plane = "#Insight Transform File V1.0\n#Transform 0\nTransform: TranslationTransform_double_2_2\n\
        Parameters: 1 2\nFixedParameters:\n";
    fs::write(folder.path().join("plane.tfm"), plane).unwrap();
    let shift = plane.replace("2_2", "3_3").replace("1 2", "1 2 0");
    fs::write(folder.path().join("shift.tfm"), shift).unwrap();
    let apply = |images: [&str; 2], transforms: &[&str]| {
        let options = transforms.iter().flat_map(|name| ["-t", name]);
        let words: Vec<_> =
            ["apply", images[0], "--like", images[1], "--out", "out.mha"].into_iter().chain(options).collect();
        let assert = mireg(folder.path(), &words).assert();
        let output = assert.get_output();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for transforms in [&["plane.tfm"][..], &["plane.tfm", "a.tfm"]] {
        let (code, told) = apply(["moving.nii", "fixed.mha"], transforms);
        assert!(code == Some(2) && told.starts_with("mireg: plane.tfm: is a transform of two-dim"), "{told}");
    }
    let (code, told) = apply(["flat.mha"; 2], &["a.tfm"]);
    assert!(code == Some(2) && told.starts_with("mireg: a.tfm: leads out of the image plane"), "{told}");
    for transforms in [&["plane.tfm"][..], &["shift.tfm"], &["plane.tfm", "shift.tfm"]] {
        assert_eq!(apply(["flat.mha"; 2], transforms), (Some(0), String::new()), "{transforms:?}");
    }
    mireg(folder.path(), &["metric", "fixed.mha", "moving.nii", "--transform", "plane.tfm"]).assert().code(2);
}
