//! `mireg deform`.

mod also;

use std::fs;
use std::path::Path;

use glam::{DAffine3, DVec3};
use libtest_mimic::Trial;
use mireg::io::transform::Grids;
use mireg::transform::{Dimension, Kind, Linear};
use mireg::{Geometry, PixelType, Volume, io};
use serde_json::Value;
use tempfile::TempDir;

use crate::cli::{mireg, names, ramp, stdout};
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    let test = |name: &str, run: fn()| trial(format!("cli::deform_{name}"), run);
    vec![
        test("finds_a_bend_and_writes_its_files", finds_a_bend_and_writes_its_files),
        test("starts_from_a_transform_or_a_registration", starts_from_a_transform_or_a_registration),
        test("writes_the_warp_apart_from_its_start", also::writes_the_warp_apart_from_its_start),
        test("measures_labels", also::measures_labels),
        test("takes_landmarks_in_either_frame", also::takes_landmarks_in_either_frame),
        test("does_not_depend_on_threads", does_not_depend_on_threads),
        test("takes_pictures", takes_pictures),
        test("every_force_climbs", every_force_climbs),
        test("takes_forces_and_channels_together", takes_forces_and_channels),
        test("flows_to_the_middle_where_asked", flows_to_the_middle),
        test("says_so_where_the_start_is_no_use", says_so_where_the_start_is_no_use),
        test("refuses_in_a_line", refuses_in_a_line),
    ]
}

const SIZE: usize = 32;
const SPACING: f64 = 3.0;

/// Returns the intensity, 0 to 1, of a ball of blobs around the origin at a point in mm; 0 outside.
fn scene(at: DVec3) -> f64 {
    if at.length() > 40.0 {
        return 0.0;
    }
    let wave = |x: f64, y: f64, z: f64| (at.dot(DVec3::new(x, y, z)) + 0.5).sin();
    0.5 + 0.2 * wave(0.14, 0.03, -0.05) * wave(-0.02, 0.15, 0.04) + 0.2 * wave(0.05, -0.06, 0.13)
}

/// Returns the position in the moving image, in mm, of a point of the fixed image.
fn bend(at: DVec3) -> DVec3 {
    let part = at / 20.0;
    at + 3.0 * DVec3::new(part.y.sin(), (1.3 * part.x).cos(), (part.x + part.y).sin())
}

fn volume(value: impl Fn(DVec3) -> f64) -> Volume {
    let middle = DVec3::splat((SIZE - 1) as f64 / 2.0);
    let geometry = Geometry::axis_aligned([SIZE; 3], DVec3::splat(SPACING), -SPACING * middle);
    let at = |n: usize| {
        (DVec3::new((n % SIZE) as f64, (n / SIZE % SIZE) as f64, (n / SIZE / SIZE) as f64) - middle) * SPACING
    };
    let voxels = (0..geometry.voxels()).map(|n| value(at(n)) as f32).collect();
    Volume { geometry, voxels, pixel: PixelType::F32 }
}

/// Writes fixed.nii; moving.nii, which is deformed by [`bend`] and has other intensities; and same.nii, the same with
/// the intensities of fixed.nii.
pub fn volumes() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let source = |at| scene((0..30).fold(at, |source, _| source + at - bend(source)));
    let other = |value: f64| if value == 0.0 { 0.0 } else { 20.0 + 200.0 * (1.0 - value) * (1.0 - value) };
    io::write(&folder.path().join("fixed.nii"), &volume(|at| 240.0 * scene(at))).unwrap();
    io::write(&folder.path().join("moving.nii"), &volume(|at| other(source(at)))).unwrap();
    io::write(&folder.path().join("same.nii"), &volume(|at| 240.0 * source(at))).unwrap();
    folder
}

pub const DEFORM: [&str; 15] = [
    "deform",
    "fixed.nii",
    "moving.nii",
    "--out",
    "out",
    "--linear",
    "none",
    "--levels",
    "6,3",
    "--iterations",
    "20",
    "--smooth",
    "9",
    "--backend",
    "cpu",
];

fn report(out: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(out.join("report.json")).unwrap()).unwrap()
}

/// Returns the mean errors, in mm, of points of the ball before registration and with the field in `--out`.
fn errors(folder: &Path) -> [f64; 2] {
    let grid = (0..512).map(|n| 11.0 * (DVec3::new(f64::from(n % 8), f64::from(n / 8 % 8), f64::from(n / 64)) - 3.5));
    let points: Vec<DVec3> = grid.filter(|at| at.length() < 35.0).collect();
    let text: String = points.iter().map(|p| format!("{},{},{}\n", p.x, p.y, p.z)).collect();
    fs::write(folder.join("a.csv"), "x,y,z\n".to_owned() + &text).unwrap();
    mireg(folder, &["points", "a.csv", "-t", "out/field.nii.gz", "--out", "b.csv"]).assert().success();
    let landmarks = io::points::Landmarks::read(&folder.join("b.csv"), None, None).unwrap();
    let there = landmarks.points();
    let mean = |from: &[DVec3]| {
        points.iter().zip(from).map(|(point, found)| bend(*point).distance(*found)).sum::<f64>() / points.len() as f64
    };
    [mean(&points), mean(there)]
}

fn finds_a_bend_and_writes_its_files() {
    let folder = volumes();
    let shown = stdout(&mut mireg(folder.path(), &DEFORM));
    for word in [
        "the headers",
        "mutual information of intensities plus that of local contrast 1.",
        "Jacobian",
        "inverse consistency",
        "field.nii.gz",
        "out",
    ] {
        assert!(shown.contains(word), "{word} is not in\n{shown}");
    }
    let out = folder.path().join("out");
    let files = [
        "field.nii.gz",
        "inverse.nii.gz",
        "jacobian.nii.gz",
        "moved.nii.gz",
        "report.html",
        "report.json",
        "start.tfm",
    ];
    assert_eq!(names(&out), files);
    let [before, after] = errors(folder.path());
    assert!(before > 2.5 && after < 0.4 * before, "{before} mm became {after} mm");

    let report = report(&out);
    assert_eq!((&report["backend"], &report["force"], &report["bins"]), (&"cpu".into(), &"mi".into(), &100.into()));
    assert_eq!((&report["trust"], &report["start"]), (&"passed".into(), &"the headers".into()));
    assert!(report["values"]["after"].as_f64() > report["values"]["before"].as_f64(), "{report}");
    let jacobian = io::read(&out.join("jacobian.nii.gz")).unwrap().range();
    let range: [f64; 2] = serde_json::from_value(report["jacobian_range"].clone()).unwrap();
    assert!(range[0] > 0.0 && range.map(|j| j as f32) == [jacobian.0, jacobian.1], "{range:?} and {jacobian:?}");
    let mm = |part: &str, name: &str| report[part][name].as_f64().unwrap_or_else(|| panic!("no {part}.{name}"));
    let lengths = ["mean_mm", "percentile_95_mm", "largest_mm"].map(|name| mm("displacement", name));
    assert!(lengths.is_sorted() && lengths[0] > 1.0, "{lengths:?}");
    assert!(mm("inverse_consistency", "mean_mm") < 0.1 && mm("inverse_consistency", "worst_mm") < 3.0, "{report}");
    let levels = report["levels"].as_array().unwrap();
    assert_eq!(levels.len(), 2);
    for level in levels {
        let iterations = level["iterations"].as_u64().unwrap() as usize;
        assert!((1..=20).contains(&iterations), "{level}");
        assert_eq!(level["values"].as_array().unwrap().len(), iterations + 1);
        assert!(level["jacobian_range"][0].as_f64() > Some(0.0), "{level}");
    }
    let parts = ["pyramid", "flow", "finish"].map(|part| mm("seconds", part)).iter().sum::<f64>();
    assert!(mm("seconds", "register") >= parts, "{report}");
    let all = ["register", "open", "read", "linear", "write"].map(|part| mm("seconds", part)).iter().sum::<f64>();
    assert!(mm("seconds", "total") >= all, "{report}");
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert_eq!(page.matches("class=\"warped\"").count(), 3);
    // Embedded pictures are base64 text, which may contain the letters searched for.
    let numbers = page.split('"').filter(|part| !part.starts_with("data:"));
    assert!(!numbers.into_iter().any(|part| part.contains("NaN")), "the page has NaN in it");

    // `mireg apply` with the field gives the moved image, except for rounding to f32.
    let apply = ["apply", "moving.nii", "--like", "fixed.nii", "-t", "out/field.nii.gz", "--out", "again.nii"];
    mireg(folder.path(), &apply).assert().success();
    let [moved, again] = ["out/moved.nii.gz", "again.nii"].map(|name| io::read(&folder.path().join(name)).unwrap());
    let different = moved.voxels.iter().zip(&again.voxels).filter(|(a, b)| (**a - **b).abs() > 0.01).count();
    assert!(different < moved.voxels.len() / 1000, "{different} voxels differ");
}

fn starts_from_a_transform_or_a_registration() {
    let folder = volumes();
    let start = DAffine3::from_translation(DVec3::new(1.0, 2.0, -0.5));
    let start = Linear::new(Kind::Translation, Dimension::Three, DVec3::ZERO, &start);
    io::transform::write_linear(&folder.path().join("shift.tfm"), None, &start, &Grids::default()).unwrap();
    for (more, said) in [
        (&["--start", "shift.tfm"], "shift.tfm"),
        (&["--linear", "rigid"], "a rigid registration"),
        (&["--linear", "affine"], "an affine registration"),
    ] {
        let rest = DEFORM.iter().filter(|argument| !["--linear", "none"].contains(argument));
        let arguments: Vec<&str> = rest.chain(more).copied().collect();
        mireg(folder.path(), &arguments).assert().success();
        let [before, after] = errors(folder.path());
        assert!(after < 0.3 * before, "{more:?}: {before} mm became {after} mm");
        let out = folder.path().join("out");
        let report = report(&out);
        assert_eq!(report["start"], said);
        let written = io::transform::read_linear(&out.join("start.tfm"), None, &Grids::default()).unwrap();
        assert_eq!(report["transform"]["parameters"], serde_json::json!(written.parameters));
        if said == "shift.tfm" {
            assert_eq!(written, start);
        }
    }
}

fn does_not_depend_on_threads() {
    let folder = volumes();
    let run = |threads: &str| {
        mireg(folder.path(), &DEFORM).args(["--threads", threads, "--quiet"]).assert().success().stdout("").stderr("");
        ["field.nii.gz", "inverse.nii.gz", "jacobian.nii.gz", "moved.nii.gz", "start.tfm"]
            .map(|name| fs::read(folder.path().join("out").join(name)).unwrap())
    };
    assert!(run("1") == run("3"));
}

fn takes_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, value: &dyn Fn(DVec3) -> f64| {
        let at = |n: usize| DVec3::new((n % 96) as f64 - 48.0, (n / 96) as f64 - 45.0, 0.0);
        let geometry = Geometry::axis_aligned([96, 90, 1], DVec3::ONE, DVec3::ZERO);
        let voxels = (0..geometry.voxels()).map(|n| value(at(n)) as f32).collect();
        io::write(&folder.path().join(name), &Volume { geometry, voxels, pixel: PixelType::U8 }).unwrap();
    };
    write("fixed.png", &|at| 240.0 * scene(at));
    write("moving.png", &|at| 240.0 - 240.0 * scene((0..30).fold(at, |from, _| from + at - bend(from).with_z(0.0))));
    let arguments = ["deform", "fixed.png", "moving.png", "--out", "out", "--linear", "none", "--backend", "cpu"];
    mireg(folder.path(), &arguments).args(["--levels", "4,2", "--smooth", "6"]).assert().success();
    let out = folder.path().join("out");
    assert!(names(&out).contains(&"moved.png".to_owned()));
    let report = report(&out);
    assert!(report["values"]["after"].as_f64() > report["values"]["before"].as_f64(), "{report}");
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert_eq!(page.matches("class=\"warped\"").count(), 1);
}

fn every_force_climbs() {
    let folder = volumes();
    for (force, said, moving) in [
        ("nmi", "mutual information of intensities plus that of local contrast 1.", "moving.nii"),
        ("lcc", "mean squared local cross-correlation 0.", "same.nii"),
        ("ssd", "negative mean squared difference -0.", "same.nii"),
    ] {
        let arguments = DEFORM.map(|argument| if argument == "moving.nii" { moving } else { argument });
        let shown = stdout(mireg(folder.path(), &arguments).args(["--force", force]));
        assert!(shown.contains(said), "{said} is not in\n{shown}");
        let report = report(&folder.path().join("out"));
        assert_eq!(report["force"], force);
        assert!(report["values"]["after"].as_f64() > report["values"]["before"].as_f64(), "{report}");
        let [before, after] = errors(folder.path());
        assert!(after < 0.5 * before, "{force}: {before} mm became {after} mm");
    }
}

fn takes_forces_and_channels() {
    let folder = volumes();
    let extra = ["--fixed-extra", "fixed.nii", "--moving-extra", "same.nii", "--extra-weight", "0.5"];
    let shown = stdout(mireg(folder.path(), &DEFORM).args(["--force", "mi:2,lcc:0/1"]).args(extra));
    let said =
        "weighted sum of information, nats, of mutual information, mean squared local cross-correlation in 2 channels";
    assert!(shown.contains(said), "{shown}");
    let report = report(&folder.path().join("out"));
    assert_eq!((&report["force"], &report["channels"]), (&"mi:2,lcc:0/1".into(), &2.into()));
    let terms = |level: usize| {
        let terms = report["levels"][level]["terms"].as_array().unwrap().iter();
        let of = |term: &Value| (term["channel"].as_u64(), term["force"].clone(), term["weight"].as_f64());
        assert!(terms.clone().all(|term| term["after"].as_f64() > term["before"].as_f64()), "{report}");
        terms.map(of).collect::<Vec<_>>()
    };
    let term = |channel: u64, force: &str, weight: f64| (Some(channel), Value::from(force), Some(weight));
    assert_eq!(terms(0), [term(0, "mi", 2.0), term(1, "mi", 1.0)]);
    assert_eq!(terms(1), [term(0, "mi", 2.0), term(0, "lcc", 1.0), term(1, "mi", 1.0), term(1, "lcc", 0.5)]);
    let [before, after] = errors(folder.path());
    assert!(after < 0.4 * before, "{before} mm became {after} mm");
}

fn flows_to_the_middle() {
    let folder = volumes();
    mireg(folder.path(), &DEFORM).arg("--symmetric").assert().success();
    let report = report(&folder.path().join("out"));
    assert_eq!(report["symmetric"], true);
    assert!(report["inverse_consistency"]["mean_mm"].as_f64() < Some(0.1), "{report}");
    let [before, after] = errors(folder.path());
    assert!(after < 0.4 * before, "{before} mm became {after} mm");
}

/// If the affine registration fails, as with noise, deformation does not start from it, and the output says so.
fn says_so_where_the_start_is_no_use() {
    let folder = volumes();
    let mut random = crate::support::random(7);
    let noise = volume(|_| 0.0);
    let noise = Volume { voxels: noise.voxels.iter().map(|_| random()).collect(), ..noise };
    io::write(&folder.path().join("noise.nii"), &noise).unwrap();
    let arguments =
        ["deform", "fixed.nii", "noise.nii", "--out", "out", "--levels", "6", "--iterations", "2", "--backend", "cpu"];
    let assert = mireg(folder.path(), &arguments).arg("--quiet").assert().stdout("");
    let told = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    let words = "mireg: warning: the affine registration failed its checks";
    assert!(told.contains(words) && told.contains("starting from the alignment of the headers"), "{told}");
    let report = report(&folder.path().join("out"));
    assert_eq!((&report["start"], &report["warnings"][0]["name"]), (&"the headers".into(), &"start".into()));
    assert_eq!(report["transform"]["parameters"], serde_json::json!([0.0, 0.0, 0.0]));
    let failed = report["warnings"].as_array().unwrap().iter().any(|doubt| doubt["grave"] == true);
    assert_eq!(report["trust"], if failed { "failed" } else { "passed" });
    assert_eq!(assert.get_output().status.code(), Some(i32::from(failed)));
}

fn refuses_in_a_line() {
    let folder = volumes();
    let path = |name: &str| folder.path().join(name);
    let fixed = io::read(&path("fixed.nii")).unwrap();
    io::write(&path("constant.nii"), &Volume { voxels: vec![9.0; fixed.voxels.len()], ..fixed }).unwrap();
    io::write(&path("empty.nii"), &Volume { voxels: vec![0.0; fixed.voxels.len()], ..fixed }).unwrap();
    let flat = Geometry::axis_aligned([16, 16, 1], DVec3::ONE, DVec3::ZERO);
    io::write(
        &path("flat.nii"),
        &Volume { geometry: flat, voxels: ramp(DVec3::ZERO).voxels[..256].to_vec(), pixel: PixelType::F32 },
    )
    .unwrap();
    fs::write(path("damaged.tfm"), "#Insight Transform File V1.0\n#Transform 0\nTransform: Nothing\n").unwrap();
    for (name, rows) in [("one.csv", "1,2,3\n"), ("two.csv", "1,2,3\n4,5,6\n"), ("far.csv", "1,2,300\n")] {
        fs::write(path(name), "x,y,z\n".to_owned() + rows).unwrap();
    }
    fs::create_dir(path("kept")).unwrap();
    io::write(&path("kept/warp.nii.gz"), &io::read(&path("moving.nii")).unwrap()).unwrap();
    io::write(&path("kept/jacobian.nii.gz"), &io::read(&path("moving.nii")).unwrap()).unwrap();
    let rows: &[(&str, &[&str])] = &[
        ("fixed.nii moving.nii --out out --bins 7", &["--bins", "8"]),
        ("fixed.nii moving.nii --out out --bins 256", &["--bins", "255"]),
        ("fixed.nii moving.nii --out out --smooth 0", &["--smooth", "above 0"]),
        ("fixed.nii moving.nii --out out --smooth -2", &["--smooth", "above 0"]),
        ("fixed.nii moving.nii --out out --smooth nan", &["--smooth", "above 0"]),
        ("fixed.nii moving.nii --out out --smooth-field -1", &["--smooth-field", "0 and lengths above"]),
        ("fixed.nii moving.nii --out out --iterations 10,0", &["--iterations"]),
        ("fixed.nii moving.nii --out out --levels 4,0", &["--levels", "above 0"]),
        ("fixed.nii moving.nii --out out --levels 2,4", &["less than the one before"]),
        ("fixed.nii moving.nii --out out --levels 1000,4", &["--levels", "single voxel"]),
        ("fixed.nii moving.nii --out out --force cc", &["--force", "lcc"]),
        ("fixed.nii moving.nii --out out --force mi,mi", &["--force", "twice"]),
        ("fixed.nii moving.nii --out out --force mi,lcc:x", &["--force", "lcc:0.5"]),
        ("fixed.nii moving.nii --out out --fixed-extra fixed.nii", &["1 fixed and 0 moving", "give as many moving"]),
        ("fixed.nii moving.nii --out out --fixed-extra fixed.nii --moving-extra no.nii", &["no.nii"]),
        ("fixed.nii moving.nii --out out --fixed-extra fixed.nii --moving-extra constant.nii", &["extra", "constant"]),
        ("fixed.nii moving.nii --out out --fixed-extra flat.nii --moving-extra moving.nii", &["resample it"]),
        (
            "fixed.nii moving.nii --out out --fixed-extra fixed.nii --moving-extra moving.nii --extra-weight 0",
            &["more than 0"],
        ),
        ("fixed.nii moving.nii --out out --linear similarity", &["--linear", "rigid"]),
        ("fixed.nii moving.nii --out out --start a.tfm --linear none", &["--start", "--linear"]),
        ("fixed.nii moving.nii --out out --from itk", &["--start"]),
        ("fixed.nii moving.nii --out out --start missing.tfm", &["missing.tfm"]),
        ("fixed.nii moving.nii --out out --start damaged.tfm", &["damaged.tfm"]),
        ("missing.nii moving.nii --out out", &["missing.nii"]),
        ("fixed.nii flat.nii --out out --linear none", &["two-dimensional"]),
        ("fixed.nii constant.nii --out out --linear none", &["moving"]),
        ("constant.nii moving.nii --out out --linear none", &["fixed"]),
        ("fixed.nii moving.nii --out out --fixed-labels flat.nii", &["fixed label map", "fixed image's grid"]),
        ("fixed.nii moving.nii --out out --fixed-labels fixed.nii", &["fixed label map", "whole numbers"]),
        ("fixed.nii moving.nii --out out --fixed-labels empty.nii", &["fixed label map", "every voxel is 0"]),
        ("fixed.nii moving.nii --out out --fixed-labels missing.nii", &["missing.nii"]),
        ("fixed.nii moving.nii --out out --moving-labels constant.nii", &["can only be compared", "--fixed-labels"]),
        ("fixed.nii moving.nii --out out --fixed-points one.csv", &["--moving-points"]),
        (
            "fixed.nii moving.nii --out out --points one.csv --moving-points two.csv",
            &["1 fixed and 2 moving landmarks", "as many of each"],
        ),
        (
            "fixed.nii moving.nii --out out --points one.csv --moving-points far.csv",
            &["landmark 1", "moving", "--frame"],
        ),
        ("fixed.nii moving.nii --out out --points one.csv --moving-points missing.csv", &["missing.csv"]),
        (
            "fixed.nii moving.nii --out out --points one.csv --moving-points one.csv --points-error 0",
            &["--points-error"],
        ),
        ("fixed.nii kept/jacobian.nii.gz --out kept", &["jacobian.nii.gz", "--out"]),
        ("fixed.nii kept/warp.nii.gz --out kept --composite", &["warp.nii.gz", "--out"]),
    ];
    let before = names(folder.path());
    for (arguments, words) in rows {
        let assert =
            mireg(folder.path(), &["deform", "--quiet", "--backend", "cpu"]).args(arguments.split(' ')).assert();
        let assert = assert.code(2).stdout("");
        let told = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(told.starts_with("mireg: ") && told.lines().count() == 1, "{arguments}: {told}");
        assert!(words.iter().all(|word| told.contains(word)), "{arguments}: {told}");
    }
    assert_eq!(names(folder.path()), before);
}
