//! Displacement fields on the command line. `tests/fixtures/fields/make.py` made the files of SimpleITK and ANTs with
//! which results are compared.

use std::fs;
use std::path::{Path, PathBuf};

use glam::DVec3;
use libtest_mimic::Trial;
use mireg::io::points::Landmarks;
use mireg::transform::Field;
use mireg::{Geometry, io};
use tempfile::TempDir;

use crate::cli::{mireg, ramp, stdout};
use crate::io::field::table;
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    let test = |name: &str, run: fn()| trial(format!("cli::field_{name}"), run);
    let mut tests = vec![
        test("takes_points_where_itk_does", takes_points_where_itk_does),
        test("moves_images_as_itk_does", moves_images_as_itk_does),
        test("composed_is_one_after_the_other", composed_is_one_after_the_other),
        test("inverted_leads_back", inverted_leads_back),
        test("that_folds_is_doubted_on_the_way_back", that_folds_is_doubted_on_the_way_back),
        test("is_evaluated", is_evaluated),
        test("is_converted", is_converted),
        test("moves_images_alike_with_any_threads", moves_images_alike_with_any_threads),
    ];
    tests.extend(
        BAD.iter()
            .map(|&(name, line, words)| trial(format!("cli::field_bad_{name}"), move || refused(name, line, words))),
    );
    tests
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/fields").join(name)
}

/// Waves of up to 2 mm.
fn wave(point: DVec3) -> DVec3 {
    let sine = |x: f64| 2.0 * libm::sin(x / 8.0);
    point + DVec3::new(sine(point.y), sine(point.z + 3.0), sine(point.x))
}

/// The grid of `a.nii`, 16 voxels of 2 mm along each axis.
fn grid() -> Geometry {
    ramp(DVec3::ZERO).geometry
}

/// `a.nii`; `warp.nii.gz`, waves on its grid; `shift.tfm`, 1 mm along x; `b.nii`, another grid; `p.csv`, points in both; copies of the fixtures.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    io::write(&path("a.nii"), &ramp(DVec3::ZERO)).unwrap();
    io::write(&path("b.nii"), &ramp(DVec3::new(4.0, 2.0, 1.0))).unwrap();
    io::write(&path("far.nii"), &ramp(DVec3::splat(900.0))).unwrap();
    let warp = Field::of(&grid(), wave);
    io::field::write(&path("warp.nii.gz"), &warp).unwrap();
    let head = "#Insight Transform File V1.0\n#Transform 0\nTransform: ";
    fs::write(
        path("shift.tfm"),
        format!("{head}TranslationTransform_double_3_3\nParameters: 1 0 0\nFixedParameters:\n"),
    )
    .unwrap();
    fs::write(path("p.csv"), "x,y,z\n8,9,10\n12.5,20.25,14\n15,7,22\n").unwrap();
    for entry in fs::read_dir(fixture("")).unwrap() {
        let from = entry.unwrap().path();
        fs::copy(&from, path(&from.file_name().unwrap().to_string_lossy())).unwrap();
    }
    folder
}

fn that_folds_is_doubted_on_the_way_back() {
    let folder = folder();
    let folds = Field::of(&grid(), |point| point + DVec3::X * 12.0 * libm::sin(point.x / 4.0));
    io::field::write(&folder.path().join("folds.nii.gz"), &folds).unwrap();
    run(folder.path(), "apply a.nii --like a.nii -t folds.nii.gz --out there.nii");
    run(folder.path(), "points p.csv -t folds.nii.gz --out there.csv");
    for (line, out) in [
        ("apply a.nii --like a.nii -t folds.nii.gz --invert --out back.nii", "back.nii"),
        ("points p.csv -t shift.tfm -t folds.nii.gz --invert --out back.csv", "back.csv"),
        ("invert folds.nii.gz --out back.nii.gz", "back.nii.gz"),
    ] {
        let assert = mireg(folder.path(), &line.split(' ').collect::<Vec<_>>()).assert().code(1);
        let told = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(told.starts_with("mireg: folds.nii.gz: the field folds at ") && told.lines().count() == 1, "{told}");
        assert!(folder.path().join(out).exists(), "{out}");
    }
}

fn run(folder: &Path, line: &str) -> String {
    stdout(&mut mireg(folder, &line.split(' ').collect::<Vec<_>>()))
}

fn points(folder: &Path, name: &str) -> Vec<DVec3> {
    Landmarks::read(&folder.join(name), None, None).unwrap().points().to_vec()
}

/// Asserts that the transforms take the points of `p.csv` to the same positions as `map`.
fn assert_leads(folder: &Path, transforms: &str, map: impl Fn(DVec3) -> DVec3, tolerance: f64) {
    run(folder, &format!("points p.csv {transforms} --out there.csv"));
    for (point, there) in points(folder, "p.csv").into_iter().zip(points(folder, "there.csv")) {
        assert!(there.distance(map(point)) < tolerance, "{transforms}: {point} goes to {there}, not to {}", map(point));
    }
}

fn takes_points_where_itk_does() {
    let folder = folder();
    for (name, transforms) in [
        ("space.txt", "-t space.nii.gz"),
        ("space.txt", "-t ants.nii.gz"),
        ("chain.txt", "-t chain.tfm"),
        ("chain.txt", "-t chain.h5"),
        // The order of ANTs: first the field, which is on the grid of the fixed image, then the other transforms.
        ("chain.txt", "-t space.nii.gz -t euler.tfm"),
    ] {
        let rows = table(name);
        let csv: String = rows.iter().map(|(from, _)| format!("{},{},{}\n", from.x, from.y, from.z)).collect();
        fs::write(folder.path().join("p.csv"), format!("x,y,z\n{csv}")).unwrap();
        let there = |point| rows.iter().find(|row| row.0.distance(point) < 1e-9).unwrap().1;
        assert_leads(folder.path(), transforms, there, 1e-5);
    }
}

/// The expected image is that of SimpleITK's `Resample` through the chain.
fn moves_images_as_itk_does() {
    let folder = folder();
    let moved = io::read(&fixture("moved.nii.gz")).unwrap();
    io::write(&folder.path().join("like.mha"), &moved).unwrap();
    let image = io::read(&fixture("image.nii.gz")).unwrap();
    io::write(&folder.path().join("image.mha"), &mireg::Volume { pixel: mireg::PixelType::F32, ..image }).unwrap();
    for transforms in ["-t chain.tfm", "-t ants.nii.gz -t euler.tfm"] {
        run(folder.path(), &format!("apply image.mha --like like.mha {transforms} --out out.mha"));
        let out = io::read(&folder.path().join("out.mha")).unwrap();
        for (found, expected) in out.voxels.iter().zip(&moved.voxels) {
            assert!((found - expected).abs() < 1e-3, "{transforms}: {found}, not {expected}");
        }
    }
}

fn composed_is_one_after_the_other() {
    let folder = folder();
    let shifted = |point| wave(point) + DVec3::X;
    for (grids, size) in [("", grid()), ("--fixed b.nii", ramp(DVec3::new(4.0, 2.0, 1.0)).geometry)] {
        let line = format!("compose warp.nii.gz shift.tfm {grids} --out total.nii.gz");
        assert_eq!(run(folder.path(), line.replace("  ", " ").as_str()), "");
        assert!(io::field::read(&folder.path().join("total.nii.gz")).unwrap().geometry.is_close(&size));
        assert_leads(folder.path(), "-t total.nii.gz", shifted, 0.05);
    }
    // The other way round is another map.
    run(folder.path(), "compose shift.tfm warp.nii.gz --out other.mha");
    assert_leads(folder.path(), "-t other.mha", |point| wave(point + DVec3::X), 0.05);
    run(folder.path(), "compose chain.tfm --out chain.nrrd");
    assert_eq!(io::field::read(&folder.path().join("chain.nrrd")).unwrap().geometry.size, [4, 3, 5]);
}

fn inverted_leads_back() {
    let folder = folder();
    assert_leads(folder.path(), "-t warp.nii.gz -t shift.tfm --invert", |point| back(point - DVec3::X), 0.05);
    run(folder.path(), "invert warp.nii.gz --out inverse.nii.gz");
    assert_leads(folder.path(), "-t inverse.nii.gz", back, 0.05);
    assert_leads(folder.path(), "-t warp.nii.gz -t inverse.nii.gz", |point| point, 0.05);
    run(folder.path(), "invert warp.nii.gz --moving b.nii --out inverse.mha");
    let inverse = io::field::read(&folder.path().join("inverse.mha")).unwrap();
    assert_eq!(inverse.geometry.origin, DVec3::new(4.0, 2.0, 1.0));
    assert_leads(folder.path(), "-t inverse.mha", back, 0.05);
}

/// Returns the point that [`wave`] takes to `target`.
fn back(target: DVec3) -> DVec3 {
    (0..100).fold(target, |point, _| target - (wave(point) - point))
}

fn is_evaluated() {
    let folder = folder();
    let mean = |line: &str| {
        let text = run(folder.path(), &format!("evaluate {line} --fixed a.nii --json"));
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["after"]["mean_mm"].as_f64().unwrap()
    };
    assert_eq!(mean("warp.nii.gz --truth warp.nii.gz"), 0.0);
    run(folder.path(), "compose warp.nii.gz shift.tfm --out total.mha");
    assert!((mean("total.mha --truth warp.nii.gz") - 1.0).abs() < 1e-5);
}

fn is_converted() {
    let folder = folder();
    run(folder.path(), "convert warp.nii.gz warp.mhd");
    run(folder.path(), "convert warp.mhd again.nii.gz");
    run(folder.path(), "convert warp.mhd warp.h5");
    run(folder.path(), "convert warp.h5 last.nii.gz");
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert!(read("warp.nii.gz") == read("again.nii.gz") && read("warp.nii.gz") == read("last.nii.gz"));
    // Composite transforms are not changed by the conversion.
    run(folder.path(), "convert chain.tfm chain.hdf5");
    run(folder.path(), "compose chain.tfm --out made.h5");
    assert!(read("chain.hdf5") == read("made.h5"));
    run(folder.path(), "invert warp.h5 --out back.h5");
    run(folder.path(), "invert warp.nii.gz --out back.nii.gz");
    run(folder.path(), "convert back.h5 back_again.nii.gz");
    assert!(read("back.nii.gz") == read("back_again.nii.gz"));
}

fn moves_images_alike_with_any_threads() {
    let folder = folder();
    let with = |threads: u8| {
        run(
            folder.path(),
            &format!("apply a.nii --like b.nii -t warp.nii.gz --invert --threads {threads} --out out.nii"),
        );
        fs::read(folder.path().join("out.nii")).unwrap()
    };
    assert!(with(1) == with(3));
}

/// Command lines that end with exit code 2 and one line on stderr that contains these words.
const BAD: &[(&str, &str, &[&str])] = &[
    ("image_as_transform", "points p.csv -t a.nii --out q.csv", &["a.nii", "no displacement field"]),
    ("field_as_image", "apply warp.nii.gz --like a.nii --out q.nii", &["warp.nii.gz", "give it as a transform"]),
    ("field_as_grid", "apply a.nii --like warp.nii.gz --out q.nii", &["warp.nii.gz", "give it as a transform"]),
    (
        "field_as_start",
        "register a.nii b.nii --init warp.nii.gz --out out",
        &["warp.nii.gz", "linear transform is needed"],
    ),
    ("chain_as_start", "register a.nii b.nii --init chain.tfm --out out", &["chain.tfm", "linear transform is needed"]),
    (
        "points_elsewhere",
        "points space.csv -t warp.nii.gz --out q.csv",
        &["warp.nii.gz", "no point falls inside its grid"],
    ),
    (
        "image_elsewhere",
        "apply a.nii --like far.nii -t warp.nii.gz --out q.nii",
        &["warp.nii.gz", "no point falls inside its grid"],
    ),
    (
        "compose_elsewhere",
        "compose warp.nii.gz shift.tfm --fixed far.nii --out q.mha",
        &["warp.nii.gz", "no point falls"],
    ),
    ("invert_elsewhere", "invert warp.nii.gz --moving far.nii --out q.mha", &["warp.nii.gz", "no point falls"]),
    ("compose_to_mat", "compose warp.nii.gz shift.tfm --out q.mat", &["q.mat", ".nii.gz"]),
    ("invert_to_tfm", "invert warp.nii.gz --out q.tfm", &["q.tfm", ".nii.gz"]),
    ("invert_over_its_input", "invert warp.nii.gz --out warp.nii.gz", &["warp.nii.gz", "replace"]),
    ("convert_to_mat", "convert warp.nii.gz q.mat", &["q.mat", ".nii.gz"]),
    ("convert_of_a_chain", "convert chain.tfm q.mha", &["chain.tfm", "compose"]),
    ("hdf5", "points p.csv -t short.h5 --out q.csv", &["short.h5", "truncated"]),
    ("missing", "points p.csv -t none.nii.gz --out q.csv", &["none.nii.gz", "no such file"]),
    ("truncated", "points p.csv -t short.nii.gz --out q.csv", &["short.nii.gz", "truncated"]),
];

fn refused(name: &str, line: &str, words: &[&str]) {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("space.csv"), "x,y,z\n900,900,900\n").unwrap();
    let bytes = fs::read(path("warp.nii.gz")).unwrap();
    fs::write(path("short.nii.gz"), &bytes[..bytes.len() / 2]).unwrap();
    let bytes = fs::read(fixture("chain.h5")).unwrap();
    fs::write(path("short.h5"), &bytes[..bytes.len() / 2]).unwrap();
    let assert = mireg(folder.path(), &line.split(' ').collect::<Vec<_>>()).assert().code(2).stdout("");
    let message = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert_eq!(message.lines().count(), 1, "{name}: {message}");
    assert!(words.iter().all(|word| message.contains(word)), "{name}: {message}");
    assert!(["q.csv", "q.nii", "q.mha", "q.mat", "q.tfm", "out"].iter().all(|out| !path(out).exists()), "{name}");
}
