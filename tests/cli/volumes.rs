//! Images of four dimensions and of colours on the command line: the options, the lines, and what the report says.

use std::fs;
use std::path::Path;

use glam::DVec3;
use libtest_mimic::Trial;
use mireg::{Volume, io};

use crate::cli::{mireg, names, patient, ramp, stdout};
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    let test = |name: &str, run: fn()| trial(format!("cli::volumes::{name}"), run);
    vec![
        test("apply_takes_one", apply_takes_one),
        test("metric_takes_one_of_each", metric_takes_one_of_each),
        test("the_report_says_which", the_report_says_which),
        test("what_is_missing_is_named", what_is_missing_is_named),
        test("colours_are_said", colours_are_said),
    ]
}

/// Makes the image of the one-file NIfTI-1 at `path` the first of two volumes, the second of which is 0 everywhere.
fn double(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let header = 352;
    bytes[40..42].copy_from_slice(&4i16.to_le_bytes());
    bytes[48..50].copy_from_slice(&2i16.to_le_bytes());
    bytes.resize(2 * bytes.len() - header, 0);
    fs::write(path, bytes).unwrap();
}

/// `a.nii`, and `two.nii` with the same as the first volume.
fn folder() -> (tempfile::TempDir, Volume) {
    let folder = tempfile::tempdir().unwrap();
    let image = ramp(DVec3::new(1.0, 2.0, 3.0));
    for name in ["a.nii", "two.nii"] {
        io::write(&folder.path().join(name), &image).unwrap();
    }
    double(&folder.path().join("two.nii"));
    (folder, image)
}

fn apply_takes_one() {
    let (folder, image) = folder();
    for (volume, factor, said) in [
        ("0", 1.0, "volume 0 of 0 to 1 was taken"),
        ("1", 0.0, "volume 1 of 0 to 1 was taken"),
        ("mean", 0.5, "the mean of its 2 volumes was taken"),
    ] {
        let arguments = ["apply", "two.nii", "--like", "two.nii", "--volume", volume, "--out", "b.nii"];
        let told = mireg(folder.path(), &arguments).assert().success().get_output().stderr.clone();
        assert_eq!(String::from_utf8(told).unwrap(), format!("mireg: note: two.nii: {said}\n"));
        let expected: Vec<f32> = image.voxels.iter().map(|v| factor * v).collect();
        assert_eq!(io::read(&folder.path().join("b.nii")).unwrap(), Volume { voxels: expected, ..image.clone() });
    }
}

fn metric_takes_one_of_each() {
    let (folder, _) = folder();
    let nmi = |arguments: &[&str]| {
        let printed = stdout(&mut mireg(folder.path(), &[&["metric", "--json"], arguments].concat()));
        serde_json::from_str::<serde_json::Value>(&printed).unwrap()["nmi"].as_f64().unwrap()
    };
    let same = nmi(&["a.nii", "a.nii"]);
    assert_eq!(nmi(&["two.nii", "a.nii", "--fixed-volume", "0"]), same);
    // Half of everything falls into the same bins.
    assert_eq!(nmi(&["two.nii", "two.nii", "--fixed-volume", "0", "--moving-volume", "mean"]), same);
}

fn the_report_says_which() {
    let (folder, pair) = patient();
    let path = folder.path().join("mr.nii");
    io::write(&path, &pair.mr).unwrap();
    double(&path);
    let run = |moving: &[&str], out: &str| {
        let arguments = [&["register", "ct.nii.gz"], moving, &["--out", out, "--backend", "cpu"]].concat();
        let told = mireg(folder.path(), &arguments).assert().success().get_output().stderr.clone();
        let transform = fs::read(folder.path().join(out).join("transform.tfm")).unwrap();
        (String::from_utf8(told).unwrap(), transform)
    };
    let (told, of_volume) = run(&["mr.nii", "--moving-volume", "0"], "out");
    let said = "mr.nii: volume 0 of 0 to 1 was taken";
    assert!(told.contains(&format!("mireg: note: {said}\n")), "{told}");
    let text = |name: &str| fs::read_to_string(folder.path().join("out").join(name)).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text("report.json")).unwrap();
    assert_eq!(report["notes"], serde_json::json!([said]));
    assert!(text("report.html").contains(said));
    let (_, alone) = run(&["mr.nii.gz"], "alone");
    assert!(of_volume == alone, "the volume alone gives another transform");
}

fn what_is_missing_is_named() {
    let (folder, _) = folder();
    let before = names(folder.path());
    let choose = |flag: &str| format!("mireg: two.nii: has 2 volumes; choose one with {flag} 0 to 1, or mean\n");
    for (arguments, line) in [
        ("register two.nii a.nii --out out", choose("--fixed-volume")),
        ("register a.nii two.nii --out out", choose("--moving-volume")),
        ("deform two.nii a.nii --out out", choose("--fixed-volume")),
        ("mesh two.nii a.nii --out out", choose("--fixed-volume")),
        ("metric a.nii two.nii", choose("--moving-volume")),
        ("bench --fixed two.nii --moving a.nii --data head", choose("--fixed-volume")),
        ("apply two.nii --like a.nii --out b.nii", choose("--volume")),
        (
            "register two.nii a.nii --out out --fixed-volume 2",
            "mireg: two.nii: has 2 volumes, and none of number 2; choose one with --fixed-volume 0 to 1, or mean\n"
                .into(),
        ),
        (
            "register a.nii a.nii --out out --moving-volume 7",
            "mireg: a.nii: has one volume, and none of number 7; leave out --moving-volume\n".into(),
        ),
        (
            "metric a.nii a.nii --fixed-mask two.nii",
            "mireg: two.nii: has 2 volumes; extract one, for example with nibabel: \
             nibabel.save(image.slicer[..., 0], 'one.nii.gz')\n"
                .into(),
        ),
    ] {
        let words: Vec<&str> = arguments.split(' ').collect();
        let told = mireg(folder.path(), &words).assert().code(2).get_output().stderr.clone();
        assert_eq!(String::from_utf8(told).unwrap(), line, "{arguments}");
    }
    for wrong in ["first", "-1", "0.5"] {
        let arguments = ["apply", "two.nii", "--like", "a.nii", "--out", "b.nii", "--volume", wrong];
        let told = mireg(folder.path(), &arguments).assert().code(2).get_output().stderr.clone();
        let told = String::from_utf8(told).unwrap();
        assert!(told.contains("--volume") && told.contains("a number from 0, or mean"), "{told}");
    }
    assert_eq!(names(folder.path()), before);
}

fn colours_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let picture = image::RgbImage::from_fn(8, 8, |x, y| image::Rgb([30 * x as u8, 20 * y as u8, 10]));
    picture.save(folder.path().join("a.png")).unwrap();
    let arguments = ["apply", "a.png", "--like", "a.png", "--out", "b.png"];
    let told = mireg(folder.path(), &arguments).assert().success().get_output().stderr.clone();
    let said = "mireg: note: a.png: its colours became luma, 0.2126 R + 0.7152 G + 0.0722 B\n";
    assert_eq!(String::from_utf8(told).unwrap(), said);
}
