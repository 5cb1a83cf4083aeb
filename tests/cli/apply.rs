//! `mireg apply`: images on other grids.

use std::path::{Path, PathBuf};

use glam::DVec3;
use libtest_mimic::Trial;
use mireg::{Geometry, PixelType, Volume, io};

use crate::cli::{mireg, names, ramp, stdout};
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    let test = |name: &str, run: fn()| trial(format!("cli::apply_{name}"), run);
    vec![
        test("without_a_transform_keeps_every_voxel", without_a_transform_keeps_every_voxel),
        test("is_what_itk_does", is_what_itk_does),
        test("keeps_labels_and_their_type", keeps_labels_and_their_type),
        test("refuses_labels_that_are_too_large", refuses_labels_that_are_too_large),
        test("takes_transforms_in_order_and_back", takes_transforms_in_order_and_back),
        test("fills_what_is_outside", fills_what_is_outside),
        test("resamples_at_another_spacing", resamples_at_another_spacing),
        test("chooses_a_series_and_says_what_is_left_out", chooses_a_series_and_says_what_is_left_out),
        test("that_misses_the_image_writes_nothing", that_misses_the_image_writes_nothing),
    ]
}

/// Runs `mireg apply` on a.nii, by default on its own grid.
fn apply(folder: &Path, arguments: &str) -> Volume {
    let like: &[&str] = if arguments.contains("--like") { &[] } else { &["--like", "a.nii"] };
    let arguments: Vec<&str> = arguments.split_whitespace().collect();
    stdout(&mut mireg(folder, &[&["apply", "a.nii", "--out", "b.nii"], like, &arguments].concat()));
    io::read(&folder.join("b.nii")).unwrap()
}

fn folder(image: &Volume) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    io::write(&folder.path().join("a.nii"), image).unwrap();
    let shift = |name: &str, parameters: &str| {
        let text = "#Insight Transform File V1.0\n#Transform 0\nTransform: AffineTransform_double_3_3";
        let text = format!("{text}\nParameters: {parameters}\nFixedParameters: 0 0 0\n");
        std::fs::write(folder.path().join(name), text).unwrap();
    };
    shift("x4.tfm", "1 0 0 0 1 0 0 0 1 4 0 0");
    shift("half.tfm", "0.5 0 0 0 0.5 0 0 0 0.5 0 0 0");
    shift("far.tfm", "1 0 0 0 1 0 0 0 1 4000 0 0");
    folder
}

fn without_a_transform_keeps_every_voxel() {
    for pixel in [PixelType::I16, PixelType::F32] {
        let image = Volume { pixel, ..ramp(DVec3::new(3.0, 4.0, -5.0)) };
        let folder = folder(&image);
        for interpolation in ["nearest", "linear", "catmull-rom"] {
            apply(folder.path(), &format!("--interpolation {interpolation}"));
            let [a, b] = ["a.nii", "b.nii"].map(|name| std::fs::read(folder.path().join(name)).unwrap());
            assert!(a == b, "{interpolation} of {pixel:?}");
        }
    }
}

/// `tests/fixtures/resample` was made with SimpleITK 2.5: `Resample(image, like, Euler3DTransform(...), interpolator,
/// -50.0)` of random voxels. ITK extends an image by half a voxel beyond the outermost voxel centres, with their
/// values; for mireg, the image ends at the centres.
fn is_what_itk_does() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/resample");
    let file = |name: &str| fixtures.join(name).canonicalize().unwrap().display().to_string();
    let folder = tempfile::tempdir().unwrap();
    for interpolation in ["nearest", "linear", "b-spline"] {
        let out = format!("{interpolation}.mha");
        let arguments = [
            ["apply", &file("image.mha"), "--like", &file("like.mha"), "--transform", &file("transform.tfm")],
            ["--interpolation", interpolation, "--outside", "-50", "--out", &out],
        ];
        stdout(&mut mireg(folder.path(), &arguments.concat()));
        let [own, itk] =
            [folder.path().join(&out), PathBuf::from(file(&format!("itk_{out}")))].map(|p| io::read(&p).unwrap());
        assert_eq!((own.geometry, own.pixel), (itk.geometry, PixelType::F32));
        let inside: Vec<_> = own.voxels.iter().zip(&itk.voxels).filter(|(own, _)| **own != -50.0).collect();
        assert!(inside.len() > 150, "{}", inside.len());
        for (own, itk) in inside {
            assert!((own - itk).abs() < 0.02, "{interpolation}: {own}, but ITK has {itk}");
        }
    }
}

fn keeps_labels_and_their_type() {
    let mut labels = ramp(DVec3::ZERO);
    labels.voxels.iter_mut().for_each(|voxel| *voxel = [0.0, 3.0, 200.0][*voxel as usize % 3]);
    labels.pixel = PixelType::U8;
    let folder = folder(&labels);
    let out = apply(folder.path(), "--labels --transform half.tfm");
    assert_eq!(out.pixel, PixelType::U8);
    assert!([0.0, 3.0, 200.0].iter().all(|label| out.voxels.contains(label)));
    assert!(out.voxels.iter().all(|voxel| [0.0, 3.0, 200.0].contains(voxel)));
    assert_ne!(out.voxels, labels.voxels);
}

/// f32 voxels could not hold such labels exactly.
fn refuses_labels_that_are_too_large() {
    let mut labels = ramp(DVec3::ZERO);
    labels.voxels[5] = 614_454_277.0;
    labels.pixel = PixelType::I32;
    let folder = folder(&labels);
    let arguments = ["apply", "a.nii", "--like", "a.nii", "--labels", "--out", "b.nii"];
    let told = mireg(folder.path(), &arguments).assert().code(2).get_output().stderr.clone();
    let told = String::from_utf8_lossy(&told).into_owned();
    assert!(told.starts_with("mireg: a.nii: labels above 16777215"), "{told}");
    assert!(!names(folder.path()).contains(&"b.nii".to_owned()));
}

/// Voxels have 2 mm. `half.tfm` takes x to x / 2, and `x4.tfm` adds 4 mm. In order, they give x / 2 + 4, and their
/// inverses 2 (x - 4).
fn takes_transforms_in_order_and_back() {
    let image = ramp(DVec3::ZERO);
    let folder = folder(&image);
    let voxel = |i: usize| image.voxels[i];
    let there = apply(folder.path(), "-t half.tfm -t x4.tfm");
    assert_eq!([there.voxels[0], there.voxels[8]], [voxel(2), voxel(6)], "half of it, then 4 mm");
    let there = apply(folder.path(), "-t x4.tfm -t half.tfm");
    assert_eq!([there.voxels[0], there.voxels[8]], [voxel(1), voxel(5)], "4 mm, then half of it");
    let back = apply(folder.path(), "-t half.tfm -t x4.tfm --invert");
    assert_eq!([back.voxels[2], back.voxels[6], back.voxels[1]], [voxel(0), voxel(8), 0.0], "less 4 mm, then twice it");
}

fn fills_what_is_outside() {
    let image = Volume { pixel: PixelType::I16, ..ramp(DVec3::ZERO) };
    let folder = folder(&image);
    let out = apply(folder.path(), "--transform x4.tfm --outside -1000");
    let outside = |n: &usize| n % 16 >= 14;
    for n in 0..out.voxels.len() {
        let expected = if outside(&n) { -1000.0 } else { image.voxels[n + 2] };
        assert_eq!(out.voxels[n], expected, "voxel {n}");
    }
}

fn resamples_at_another_spacing() {
    let folder = folder(&ramp(DVec3::ZERO));
    let grid = apply(folder.path(), "--spacing 1,2,4").geometry;
    let old = ramp(DVec3::ZERO).geometry;
    assert_eq!((grid.size, grid.spacing), ([32, 16, 8], DVec3::new(1.0, 2.0, 4.0)));
    assert!(grid.centre().distance(old.centre()) < 1e-5);
    let thin = Geometry::axis_aligned([10, 10, 1], DVec3::ONE, DVec3::ZERO).respaced(DVec3::splat(2.0));
    assert_eq!(
        (thin.size, thin.spacing, thin.origin),
        ([5, 5, 1], DVec3::new(2.0, 2.0, 1.0), DVec3::new(0.5, 0.5, 0.0))
    );
}

fn that_misses_the_image_writes_nothing() {
    let folder = folder(&ramp(DVec3::ZERO));
    let arguments = ["apply", "a.nii", "--like", "a.nii", "--transform", "far.tfm", "--out", "b.nii"];
    let told = mireg(folder.path(), &arguments).assert().code(1).get_output().stderr.clone();
    assert!(String::from_utf8_lossy(&told).contains("--invert"));
    assert!(!names(folder.path()).contains(&"b.nii".to_owned()));
}

/// SimpleITK wrote the series.
fn chooses_a_series_and_says_what_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/dicom");
    for name in ["a.dcm", "b.dcm", "c.dcm", "d.dcm", "e.dcm"] {
        std::fs::copy(fixtures.join(name), folder.path().join(name)).unwrap();
    }
    std::fs::write(folder.path().join("notes.txt"), "not DICOM").unwrap();
    let told = |arguments: &[&str], code| {
        let arguments = [&["apply", ".", "--like", "a.dcm", "--out", "b.mha", "--spacing", "5"], arguments].concat();
        let assert = mireg(folder.path(), &arguments).assert().code(code);
        String::from_utf8_lossy(&assert.get_output().stderr).into_owned()
    };
    assert_eq!(told(&[], 0), "mireg: note: .: left out 1 file: notes.txt (not DICOM)\n");
    assert_eq!(told(&["--series", "1"], 0), told(&[], 0));
    let message = told(&["--series", "3"], 2);
    assert!(message.starts_with("mireg: .: has no series \"3\" but 1 DICOM series: 1: "), "{message}");
    assert_eq!(message.lines().count(), 1);
}
