//! `mireg evaluate`: errors in mm, compared with numbers worked out by hand.

use std::fs;
use std::path::Path;

use glam::DVec3;
use libtest_mimic::Trial;
use mireg::{Geometry, PixelType, Volume, io};
use serde_json::Value;

use crate::cli::{mireg, stdout};
use crate::support::{data_dir, trial};

pub fn tests() -> Vec<Trial> {
    let test = |name: &str, run: fn()| trial(format!("cli::evaluate_{name}"), run);
    vec![
        test("over_corners", over_corners),
        test("over_a_mask", over_a_mask),
        test("over_landmarks", over_landmarks),
        test("against_landmarks_of_the_moving_image", against_landmarks_of_the_moving_image),
        test("has_a_limit", has_a_limit),
        test("of_breathing_livers", of_breathing_livers).with_ignored_flag(data_dir().is_none()),
    ]
}

/// `a.nii` from (0, 0, 0) to (30, 30, 30) mm; `one.tfm`, a shift by 1 mm along x, and `twice.tfm`, x doubled; `p.csv`, 21 points with
/// x from 0 to 20, and `q.csv`, the same 3 and 4 mm away.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
    for (name, parameters) in [("one.tfm", "1 0 0 0 1 0 0 0 1 1 0 0"), ("twice.tfm", "2 0 0 0 1 0 0 0 1 0 0 0")] {
        let head = "#Insight Transform File V1.0\n#Transform 0\nTransform: AffineTransform_double_3_3";
        file(name, format!("{head}\nParameters: {parameters}\nFixedParameters: 0 0 0\n"));
    }
    let rows = |y: f64, z: f64| (0..21).map(|x| format!("{x},{y},{z}\n")).collect::<String>();
    file("p.csv", format!("x,y,z\n{}", rows(5.0, 6.0)));
    file("q.csv", format!("x,y,z\n{}", rows(8.0, 10.0)));
    let geometry = Geometry::axis_aligned([16, 16, 16], DVec3::splat(2.0), DVec3::ZERO);
    // A line of voxels along x.
    let voxels = (0..geometry.voxels()).map(|n| if n < 16 { 1.0 } else { 0.0 }).collect();
    io::write(&folder.path().join("a.nii"), &Volume { geometry, voxels, pixel: PixelType::U8 }).unwrap();
    folder
}

fn evaluate(folder: &Path, arguments: &str) -> Value {
    let arguments: Vec<&str> = ["evaluate", "--json"].into_iter().chain(arguments.split(' ')).collect();
    serde_json::from_str(&stdout(&mut mireg(folder, &arguments))).unwrap()
}

/// Asserts mean, median, 95th percentile and maximum.
fn assert_errors(found: &Value, expected: [f64; 4]) {
    for (name, expected) in ["mean_mm", "median_mm", "percentile_95_mm", "max_mm"].iter().zip(expected) {
        assert!((found[name].as_f64().unwrap() - expected).abs() < 1e-9, "{name} in {found} is not {expected}");
    }
}

/// Compared with a transform that doubles x, a shift by 1 has the error |x - 1|: 1 mm at x = 0 and 29 mm at x = 30.
fn over_corners() {
    let folder = folder();
    let found = evaluate(folder.path(), "one.tfm --truth twice.tfm --fixed a.nii");
    assert_eq!(found["points"], 8);
    assert_errors(&found["before"], [15.0, 15.0, 30.0, 30.0]);
    assert_errors(&found["after"], [15.0, 15.0, 29.0, 29.0]);
    let same = evaluate(folder.path(), "twice.tfm --truth twice.tfm --fixed a.nii");
    assert_errors(&same["after"], [0.0; 4]);
}

/// The voxels of the mask are at x = 0, 2, ..., 30.
fn over_a_mask() {
    let folder = folder();
    let found = evaluate(folder.path(), "twice.tfm --truth one.tfm --mask a.nii");
    assert_eq!(found["points"], 16);
    assert_errors(&found["before"], [1.0; 4]);
    // Sorted: 1, 1, 3, ... 29. The 95th percentile lies a quarter of the way from 27 to 29.
    assert_errors(&found["after"], [(1.0 + 225.0) / 16.0, 14.0, 27.5, 29.0]);
}

fn over_landmarks() {
    let folder = folder();
    let found = evaluate(folder.path(), "twice.tfm --truth one.tfm --points p.csv");
    assert_errors(&found["before"], [1.0; 4]);
    // |x - 1| over 0 to 20: 1, 0, 1, ... 19.
    assert_errors(&found["after"], [(1.0 + 190.0) / 21.0, 9.0, 18.0, 19.0]);
    let ras = evaluate(folder.path(), "twice.tfm --truth one.tfm --points p.csv --frame ras");
    assert_errors(&ras["after"], [11.0, 11.0, 20.0, 21.0]);
}

fn against_landmarks_of_the_moving_image() {
    let folder = folder();
    let found = evaluate(folder.path(), "one.tfm --points p.csv --moving-points q.csv");
    assert_errors(&found["before"], [5.0; 4]);
    assert_errors(&found["after"], [26.0_f64.sqrt(); 4]);
}

fn has_a_limit() {
    let folder = folder();
    let run = |limit: &str| {
        let arguments = ["evaluate", "one.tfm", "--truth", "twice.tfm", "--fixed", "a.nii", "--limit", limit];
        mireg(folder.path(), &arguments).assert()
    };
    run("15").success();
    let output = run("14.9").code(1).get_output().clone();
    assert!(String::from_utf8_lossy(&output.stdout).contains("mean 15.000 mm, median 15.000"), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("15.000 mm"), "{output:?}");
}

/// Measures how far landmarks in the liver move between two breathing states, from files that VTK wrote.
fn of_breathing_livers() {
    let folder = folder();
    let file = |name: &str| {
        data_dir().unwrap().canonicalize().unwrap().join("liver/dataset18").join(name).display().to_string()
    };
    let [from, to] = ["cyc_1_10LMliver.vtk", "cyc_3_10LMliver.vtk"].map(file);
    let found = evaluate(folder.path(), &format!("one.tfm --points {from} --moving-points {to}"));
    assert_eq!(found["points"], 32);
    // Computed with numpy: the distances between corresponding rows.
    assert_errors(&found["before"], [2.1397563265460953, 2.00291932022948, 4.045456667517428, 5.376849077294246]);
}
