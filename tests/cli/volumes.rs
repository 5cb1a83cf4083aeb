//! 4-D and colour images on the command line: the options, the printed lines, and the report.

use std::fs;
use std::path::Path;

use glam::DVec3;
use libtest_mimic::Trial;
use mireg::{Volume, io};

use crate::cli::{mireg, names, patient, ramp, stdout};
use crate::io::tiff_file::{self, Page};
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    let test = |name: &str, run: fn()| trial(format!("cli::volumes::{name}"), run);
    vec![
        test("apply_takes_one", apply_takes_one),
        test("metric_takes_one_of_each", metric_takes_one_of_each),
        test("the_report_says_which", the_report_says_which),
        test("what_is_missing_is_named", what_is_missing_is_named),
        test("colours_are_said", colours_are_said),
        test("a_channel_is_taken", a_channel_is_taken),
        test("pages_of_16_bits_are_registered", pages_of_16_bits_are_registered),
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
    // The mean has half of the intensities, which are in the same bins.
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
    let said = "mireg: note: a.png: its colours were converted to luma, 0.2126 R + 0.7152 G + 0.0722 B\n";
    assert_eq!(String::from_utf8(told).unwrap(), said);
}

fn a_channel_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let picture = image::RgbImage::from_fn(8, 8, |x, y| image::Rgb([30 * x as u8, 20 * y as u8, 10]));
    picture.save(folder.path().join("a.png")).unwrap();
    image::GrayImage::from_fn(8, 8, |x, _| image::Luma([30 * x as u8])).save(folder.path().join("red.png")).unwrap();
    let arguments = ["apply", "a.png", "--like", "a.png", "--out", "b.png", "--channel", "red"];
    let told = mireg(folder.path(), &arguments).assert().success().get_output().stderr.clone();
    assert_eq!(String::from_utf8(told).unwrap(), "mireg: note: a.png: its red channel was taken\n");
    let [red, found] = ["red.png", "b.png"].map(|name| io::read(&folder.path().join(name)).unwrap());
    assert_eq!(red, found);
    let metric = ["metric", "a.png", "a.png", "--json", "--fixed-channel", "red", "--moving-channel"];
    let mi = |channel: &str| {
        let printed = stdout(&mut mireg(folder.path(), &[&metric[..], &[channel]].concat()));
        serde_json::from_str::<serde_json::Value>(&printed).unwrap()["mi"].as_f64().unwrap()
    };
    // Red is constant along y, and green along x.
    assert!(mi("0") > 2.0 && mi("green").abs() < 1e-9);
    for (arguments, line) in [
        (
            "metric red.png a.png --fixed-channel green",
            "red.png: has one channel, and none to choose from; leave out --fixed-channel",
        ),
        (
            "metric a.png a.png --moving-channel 3",
            "a.png: has 3 channels, and none of number 3; choose one with --moving-channel 0 to 2",
        ),
        (
            "metric a.png a.png --moving-channel violet",
            "invalid value 'violet' for '--moving-channel <CHANNEL>': auto, luma, red, green, blue, or a number from 0 is possible; see --help",
        ),
    ] {
        let words: Vec<&str> = arguments.split(' ').collect();
        let told = mireg(folder.path(), &words).assert().code(2).get_output().stderr.clone();
        assert_eq!(String::from_utf8(told).unwrap(), format!("mireg: {line}\n"), "{arguments}");
    }
}

/// Registers the second page of a TIFF with a PNG, both of 16 bits. The moved picture has 16 bits, too, and matches the
/// fixed picture.
fn pages_of_16_bits_are_registered() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let scene = |x: f64, y: f64| {
        let waves = (x / 7.0).sin() + (y / 9.0).cos() + (x * y / 700.0).sin() + ((x + y) / 5.0).sin();
        let inside = (x - 60.0).hypot(y - 50.0) < 45.0;
        if inside { (30_000.0 + 7000.0 * waves) as u16 } else { 0 }
    };
    let (shift_x, shift_y) = (5, 3);
    let fixed = image::ImageBuffer::from_fn(128, 110, |x, y| image::Luma([scene(x.into(), y.into())]));
    fixed.save(path("fixed.png")).unwrap();
    let page = Page { size: [128, 110], unit: [48, 32], bits: 16, ..Page::default() };
    let moved = page.units(|[x, y, _]| scene(x as f64 - f64::from(shift_x), y as f64 - f64::from(shift_y)));
    fs::write(path("pages.tif"), tiff_file::bytes(&[(page.clone(), page.units(|_| 9)), (page, moved)])).unwrap();
    let arguments = ["register", "fixed.png", "pages.tif", "--out", "out", "--backend", "cpu"];
    let told = mireg(folder.path(), &arguments).assert().code(2).get_output().stderr.clone();
    let line = "mireg: pages.tif: has 2 pages; choose one with --moving-volume 0 to 1, or mean\n";
    assert_eq!(String::from_utf8(told).unwrap(), line);
    let arguments = [&arguments[..], &["--dof", "translation", "--moving-volume", "1"]].concat();
    mireg(folder.path(), &arguments).assert().success();
    let moved = image::open(path("out/moved.png")).unwrap();
    assert_eq!(moved.color(), image::ColorType::L16);
    let inside = |(x, y): &(u32, u32)| (40..80).contains(x) && (30..70).contains(y);
    let pixels = fixed.enumerate_pixels().zip(moved.to_luma16().pixels().copied().collect::<Vec<_>>());
    let apart: Vec<u16> = pixels
        .filter(|((x, y, _), _)| inside(&(*x, *y)))
        .map(|((.., one), other)| one.0[0].abs_diff(other.0[0]))
        .collect();
    let mean = apart.iter().map(|&apart| f64::from(apart)).sum::<f64>() / apart.len() as f64;
    assert!(mean < 1000.0, "{mean}");
    // What is written as TIFF keeps all 16 bits.
    mireg(folder.path(), &["apply", "fixed.png", "--like", "fixed.png", "--out", "b.tif"]).assert().success();
    assert_eq!(io::read(&path("b.tif")).unwrap(), io::read(&path("fixed.png")).unwrap());
}
