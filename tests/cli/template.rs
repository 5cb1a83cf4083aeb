//! `mireg template`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use glam::DVec3;
use libtest_mimic::Trial;
use mireg::{Geometry, PixelType, Volume, io};
use serde_json::Value;
use tempfile::TempDir;

use crate::cli::{mireg, names, stdout};
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    let test = |name: &str, run: fn()| trial(format!("cli::template_{name}"), run);
    vec![
        test("is_the_shape_that_warps_are_about", is_the_shape_that_warps_are_about),
        test("goes_on_after_a_kill_with_the_same_bytes", goes_on_after_a_kill_with_the_same_bytes),
        test("refuses_in_a_line", refuses_in_a_line),
    ]
}

const SIZE: usize = 32;
const MM: f64 = 3.0;
const IMAGES: [&str; 4] = ["1.nii", "2.nii", "3.nii", "4.nii"];

/// Spots: their positions in mm, and their brightness.
const SPOTS: [([f64; 3], f64); 9] = [
    ([12.0, 5.0, 8.0], 0.5),
    ([-20.0, 8.0, -4.0], -0.3),
    ([5.0, -18.0, 3.0], 0.4),
    ([-8.0, -6.0, 14.0], 0.3),
    ([20.0, -8.0, -10.0], -0.35),
    ([-12.0, 18.0, 6.0], 0.45),
    ([0.0, 4.0, -16.0], 0.4),
    ([26.0, 10.0, 4.0], 0.3),
    ([-28.0, -8.0, 2.0], 0.4),
];

/// Returns the intensity at a point of an egg-shaped body with spots, around the origin, without symmetry; 0 outside.
fn scene(at: DVec3) -> f64 {
    let spot = |(place, brightness): &([f64; 3], f64)| {
        0.6 * brightness * (-(at - DVec3::from_array(*place)).length_squared() / 64.0).exp()
    };
    let inside = 0.45 + at.dot(DVec3::new(0.006, -0.004, 0.008)) + SPOTS.iter().map(spot).sum::<f64>();
    let egg = at * (DVec3::ONE + at.x * DVec3::new(0.0, 0.006, -0.006)) / DVec3::new(42.0, 34.0, 27.0);
    inside * ((1.0 - egg.length()) * 8.0).clamp(0.0, 1.0)
}

/// Returns the position of a point of the scene in the image of this number. The mean over all images is the point
/// itself.
fn warp(number: usize, at: DVec3) -> DVec3 {
    let part = at / 14.0 + DVec3::splat((number / 2) as f64);
    let way = DVec3::new(part.y.sin(), (1.2 * part.z).cos(), (part.x + part.y).sin());
    at + if number.is_multiple_of(2) { 2.5 * way } else { -2.5 * way }
}

/// Returns the inverse of [`warp`]: the point of the scene that is at this position in the image.
fn source(number: usize, at: DVec3) -> DVec3 {
    (0..60).fold(at, |source, _| source + 0.7 * (at - warp(number, source)))
}

fn points() -> impl Iterator<Item = DVec3> {
    let grid = (0..512).map(|n| 9.0 * (DVec3::new(f64::from(n % 8), f64::from(n / 8 % 8), f64::from(n / 64)) - 3.5));
    grid.filter(|at| at.length() < 26.0)
}

/// Returns a folder with the scene, warped in four ways and with four brightnesses.
fn images() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let middle = DVec3::splat((SIZE - 1) as f64 / 2.0);
    let geometry = Geometry::axis_aligned([SIZE; 3], DVec3::splat(MM), -MM * middle);
    for (number, name) in IMAGES.into_iter().enumerate() {
        let value = |n: usize| {
            let at = MM * (DVec3::new((n % SIZE) as f64, (n / SIZE % SIZE) as f64, (n / SIZE / SIZE) as f64) - middle);
            ((200.0 + 50.0 * number as f64) * scene(source(number, at))) as f32
        };
        let voxels = (0..geometry.voxels()).map(value).collect();
        io::write(&folder.path().join(name), &Volume { geometry, voxels, pixel: PixelType::F32 }).unwrap();
    }
    folder
}

const OPTIONS: [&str; 10] =
    ["--out", "out", "--levels", "6,3", "--iterations", "30", "--smooth", "4", "--backend", "cpu"];

fn line(rounds: &'static str) -> Vec<&'static str> {
    ["template"].into_iter().chain(IMAGES).chain(OPTIONS).chain(["--rounds", rounds]).collect()
}

fn report(out: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(out.join("report.json")).unwrap()).unwrap()
}

fn is_the_shape_that_warps_are_about() {
    let folder = images();
    let shown = stdout(&mut mireg(folder.path(), &line("2")));
    for word in ["of 4 images, 2 rounds", "sharpness", "template.nii.gz", "field_4.nii.gz"] {
        assert!(shown.contains(word), "{word} is not in\n{shown}");
    }
    let out = folder.path().join("out");
    let fields = ["field_1.nii.gz", "field_2.nii.gz", "field_3.nii.gz", "field_4.nii.gz"];
    let files = [&["affine_mean.nii.gz"], &fields[..], &["report.html", "report.json", "template.nii.gz"]].concat();
    assert_eq!(names(&out), files);
    assert!(!folder.path().join("out.unfinished").exists());

    // A point of the template is taken through each field, and then by the known inverse warp to its position in the
    // scene.
    let fields = fields.map(|name| io::field::read(&out.join(name)).unwrap());
    let maps = fields.each_ref().map(|field| field.map());
    let shape = |at: DVec3| {
        let back = maps.iter().enumerate().map(|(number, map)| source(number, map.transform_point3(at)));
        back.sum::<DVec3>() / 4.0
    };
    let mean = |length: &dyn Fn(DVec3) -> f64| points().map(length).sum::<f64>() / points().count() as f64;
    let (bent, bias) = (mean(&|at| warp(0, at).distance(at)), mean(&|at| shape(at).distance(at)));
    assert!(bent > 2.5 && bias < 0.12 * MM, "{bias} mm, warps of {bent} mm");

    let report = report(&out);
    assert_eq!((&report["trust"], &report["resumed"]), (&"passed".into(), &0.into()));
    let rounds = report["rounds"].as_array().unwrap();
    let of = |round: usize, name: &str| rounds[round][name].as_f64().unwrap();
    assert_eq!(rounds.len(), 2);
    assert!(of(1, "mean_displacement_mm") < of(0, "mean_displacement_mm"), "{rounds:?}");
    let affine = report["affine_sharpness"].as_f64().unwrap();
    assert!(of(1, "sharpness") > affine, "{affine}, {rounds:?}");
    let [template, before] = ["template.nii.gz", "affine_mean.nii.gz"].map(|name| io::read(&out.join(name)).unwrap());
    let to_mm = template.geometry.index_to_world();
    let error = |volume: &Volume| {
        let at = |n: usize| DVec3::new((n % SIZE) as f64, (n / SIZE % SIZE) as f64, (n / SIZE / SIZE) as f64);
        // The template's intensities have the mean range of the four images.
        let off = |(n, voxel): (usize, &f32)| f64::from(*voxel) / 275.0 - scene(to_mm.transform_point3(at(n)));
        volume.voxels.iter().enumerate().map(|voxel| off(voxel).abs()).sum::<f64>()
    };
    assert!(error(&template) < 0.8 * error(&before), "{} and {}", error(&template), error(&before));
}

fn goes_on_after_a_kill_with_the_same_bytes() {
    let folder = images();
    let out = folder.path().join("out");
    let files = || {
        ["template.nii.gz", "affine_mean.nii.gz", "field_1.nii.gz", "field_3.nii.gz"]
            .map(|name| fs::read(out.join(name)).unwrap())
    };
    mireg(folder.path(), &line("2")).args(["--threads", "1", "--quiet"]).assert().success().stdout("").stderr("");
    let whole = files();
    fs::remove_dir_all(&out).unwrap();

    let kept = folder.path().join("out.unfinished");
    let mut run = Command::new(env!("CARGO_BIN_EXE_mireg"));
    run.current_dir(folder.path()).args(line("2")).stdout(Stdio::null()).stderr(Stdio::null());
    let mut run = run.spawn().unwrap();
    let clock = Instant::now();
    let fields = || kept.exists() && names(&kept).iter().any(|name| name.ends_with("field_1_2.nii"));
    while !fields() {
        assert!(clock.elapsed() < Duration::from_secs(300) && run.try_wait().unwrap().is_none(), "it ended too soon");
        std::thread::sleep(Duration::from_millis(2));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(!out.exists());

    // A run with other options reuses nothing.
    let other: Vec<_> = line("1").into_iter().map(|word| if word == "out" { "other" } else { word }).collect();
    fs::create_dir(folder.path().join("other.unfinished")).unwrap();
    for name in names(&kept) {
        fs::copy(kept.join(&name), folder.path().join("other.unfinished").join(&name)).unwrap();
    }
    mireg(folder.path(), &other).assert().success();
    assert_eq!(report(&folder.path().join("other"))["resumed"], 0);

    mireg(folder.path(), &line("2")).args(["--threads", "3"]).assert().success();
    // Three affine registrations, the affine mean, and two fields or more.
    assert!(report(&out)["resumed"].as_u64() > Some(5));
    assert!(files() == whole && !kept.exists());
}

fn refuses_in_a_line() {
    let folder = images();
    let path = |name: &str| folder.path().join(name);
    let image = io::read(&path("1.nii")).unwrap();
    io::write(&path("constant.nii"), &Volume { voxels: vec![7.0; image.voxels.len()], ..image }).unwrap();
    let flat = Geometry::axis_aligned([SIZE, SIZE, 1], DVec3::splat(MM), DVec3::ZERO);
    io::write(&path("flat.nii"), &Volume { geometry: flat, voxels: image.voxels[..SIZE * SIZE].to_vec(), ..image })
        .unwrap();
    fs::create_dir(path("kept")).unwrap();
    fs::copy(path("1.nii"), path("kept/template.nii.gz")).unwrap();
    let before = names(folder.path());
    for (arguments, words) in [
        ("1.nii --out out", &["IMAGE", "2"][..]),
        ("1.nii missing.nii --out out", &["missing.nii"]),
        ("1.nii constant.nii --out out", &["image 2 is constant"]),
        ("1.nii flat.nii --out out", &["two-dimensional"]),
        ("1.nii 2.nii --like flat.nii --out out", &["two-dimensional"]),
        ("1.nii 2.nii --out out --rounds 0", &["--rounds"]),
        ("1.nii 2.nii --out out --force cc", &["lcc"]),
        ("kept/template.nii.gz 2.nii --out kept", &["template.nii.gz", "--out"]),
    ] {
        let words_of: Vec<_> = ["template"].into_iter().chain(arguments.split(' ')).collect();
        let assert = mireg(folder.path(), &words_of).assert().code(2).stdout("");
        let message = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert_eq!(message.lines().count(), 1, "{arguments}: {message}");
        assert!(words.iter().all(|word| message.contains(word)), "{arguments}: {message}");
        assert_eq!(names(folder.path()), before, "{arguments}");
    }
}
