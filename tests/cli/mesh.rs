//! `mireg mesh`, and meshes as transforms.

use std::fs;

use glam::{DAffine3, DVec2, DVec3};
use image::{DynamicImage, ImageBuffer, Rgba};
use libtest_mimic::Trial;
use mireg::io::transform::Grids;
use mireg::transform::{Dimension, Kind, Linear};
use mireg::transform::{Mesh, MeshMap};
use mireg::{Geometry, PixelType, Volume, io};
use tempfile::TempDir;

use crate::cli::{mireg, names, ramp, stdout};
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    let test = |name: &str, run: fn()| trial(format!("cli::mesh_{name}"), run);
    vec![
        test("finds_a_bend_and_writes_its_files", finds_a_bend_and_writes_its_files),
        test("does_not_depend_on_threads", does_not_depend_on_threads),
        test("takes_16_bits_and_alpha", takes_16_bits_and_alpha),
        test("takes_points_there_and_back", takes_points_there_and_back),
        test("moves_an_image_as_its_affine_map_does", moves_an_image_as_its_affine_map_does),
        test("refuses_in_a_line", refuses_in_a_line),
    ]
}

const SIZE: [usize; 2] = [160, 128];

/// Returns the intensity, 0 to 1, of blobs and stripes at a position in pixels; dark outside a disc, as in a picture of
/// a retina.
fn scene(at: DVec2) -> f64 {
    let from_middle = at - DVec2::new(80.0, 64.0);
    if from_middle.length() > 60.0 {
        return 0.0;
    }
    let wave = |x: f64, y: f64, phase: f64| (from_middle.dot(DVec2::new(x, y)) + phase).sin();
    0.55 + 0.15 * wave(0.3, 0.05, 0.3) * wave(-0.04, 0.35, 1.0) + 0.2 * wave(0.11, 0.16, 2.0) * wave(0.17, -0.1, 0.5)
}

/// Returns the position in the moving picture of a point of the fixed picture.
fn bend(at: DVec2) -> DVec2 {
    let part = (at - DVec2::new(80.0, 64.0)) / 40.0;
    at + DVec2::new(2.0, -1.0) + 2.5 * DVec2::new(part.y.sin(), (1.3 * part.x).cos())
}

/// Writes fixed.png, and moving.png, which is deformed by [`bend`] and has other intensities.
pub fn pictures() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, value: &dyn Fn(DVec2) -> f64| {
        let at = |n: usize| DVec2::new((n % SIZE[0]) as f64, (n / SIZE[0]) as f64);
        let voxels = (0..SIZE[0] * SIZE[1]).map(|n| value(at(n)) as f32).collect();
        let geometry = Geometry::axis_aligned([SIZE[0], SIZE[1], 1], DVec3::ONE, DVec3::ZERO);
        io::write(&folder.path().join(name), &Volume { geometry, voxels, pixel: PixelType::U8 }).unwrap();
    };
    write("fixed.png", &|at| 240.0 * scene(at));
    write("moving.png", &|at| {
        // The inverse of `bend`, by fixed-point iteration.
        let source = (0..30).fold(at, |source, _| source + at - bend(source));
        let value = scene(source);
        if value == 0.0 { 0.0 } else { 30.0 + 220.0 * (1.0 - value) * (1.0 - value) }
    });
    let none = Linear::identity(Kind::Affine, Dimension::Two, DVec3::ZERO);
    io::transform::write_linear(&folder.path().join("none.tfm"), None, &none, &Grids::default()).unwrap();
    folder
}

pub const MESH: [&str; 11] =
    ["mesh", "fixed.png", "moving.png", "--out", "out", "--start", "none.tfm", "--spacing", "25", "--backend", "cpu"];

fn finds_a_bend_and_writes_its_files() {
    let folder = pictures();
    let shown = stdout(&mut mireg(folder.path(), &MESH));
    for word in ["triangles", "vertices", "metric       MI ", "none.tfm", "mesh.json", "out"] {
        assert!(shown.contains(word), "{word} is not in\n{shown}");
    }
    let out = folder.path().join("out");
    let files = ["field.mha", "mesh.json", "mesh.vtk", "moved.png", "report.html", "report.json", "transform.tfm"];
    assert_eq!(names(&out), files);

    let mesh = io::mesh::read(&out.join("mesh.json")).unwrap();
    let map = MeshMap::new(&mesh);
    let disc = |at: &DVec2| at.distance(DVec2::new(80.0, 64.0)) < 50.0;
    let grid = (0..32 * 26).map(|n| 5.0 * DVec2::new(f64::from(n % 32), f64::from(n / 32))).filter(disc);
    let errors: Vec<[f64; 2]> = grid.map(|at| [at.distance(bend(at)), map.forward(at).distance(bend(at))]).collect();
    let median = |which: usize| {
        let mut errors: Vec<f64> = errors.iter().map(|error| error[which]).collect();
        errors.sort_by(f64::total_cmp);
        errors[errors.len() / 2]
    };
    assert!(median(0) > 2.0 && median(1) < 0.5, "{} px became {} px", median(0), median(1));

    let report: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(out.join("report.json")).unwrap()).unwrap();
    assert_eq!((&report["mesh"]["triangles"], &report["backend"]), (&mesh.triangles.len().into(), &"cpu".into()));
    assert!(report["climb"]["after"].as_f64() >= report["climb"]["before"].as_f64(), "{report}");
    assert!(report["levels"][0]["moved_mm"].as_f64() > Some(0.5), "{report}");
    let sure: Vec<f64> = serde_json::from_value(report["confidence"].clone()).unwrap();
    assert_eq!(sure.len(), mesh.triangles.len());
    assert!(sure.iter().all(|sure| (0.0..=1.0).contains(sure)), "{sure:?}");
    assert!(fs::read_to_string(out.join("mesh.vtk")).unwrap().contains("SCALARS confidence double 1"));
    assert_eq!((&report["trust"], &report["start"]), (&"passed".into(), &"none.tfm".into()));
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("<svg viewBox") && !page.contains("NaN"), "the page has no drawing, or NaN in it");

    // `mireg apply` with the mesh gives the moved picture.
    let apply = ["apply", "moving.png", "--like", "fixed.png", "-t", "out/mesh.json", "--out", "again.png"];
    mireg(folder.path(), &apply).assert().success();
    let [moved, again] = ["out/moved.png", "again.png"].map(|name| io::read(&folder.path().join(name)).unwrap());
    assert!(moved == again);
}

fn does_not_depend_on_threads() {
    let folder = pictures();
    let run = |threads: &str| {
        mireg(folder.path(), &MESH).args(["--threads", threads, "--quiet"]).assert().success().stdout("").stderr("");
        ["mesh.json", "mesh.vtk", "field.mha", "moved.png"]
            .map(|name| fs::read(folder.path().join("out").join(name)).unwrap())
    };
    assert!(run("1") == run("3"));
}

/// The same picture with 16 bits, or in colours with alpha, gives the same result.
fn takes_16_bits_and_alpha() {
    let folder = pictures();
    let path = |name: &str| folder.path().join(name);
    let run = |fixed: &str| {
        let arguments = MESH.map(|argument| if argument == "fixed.png" { fixed } else { argument });
        mireg(folder.path(), &arguments).args(["--iterations", "5"]).assert().success();
        io::mesh::read(&path("out/mesh.json")).unwrap()
    };
    let plain = run("fixed.png");
    let picture = io::read(&path("fixed.png")).unwrap();
    let deep =
        Volume { voxels: picture.voxels.iter().map(|v| v * 256.0).collect(), pixel: PixelType::U16, ..picture.clone() };
    io::write(&path("deep.tif"), &deep).unwrap();
    let rgba = |x: u32, y: u32| {
        let grey = picture.voxels[x as usize + SIZE[0] * y as usize] as u8;
        Rgba([grey, grey, grey, (x % 256) as u8])
    };
    let colour = ImageBuffer::from_fn(SIZE[0] as u32, SIZE[1] as u32, rgba);
    DynamicImage::ImageRgba8(colour).save(path("alpha.png")).unwrap();
    for name in ["deep.tif", "alpha.png"] {
        let mesh = run(name);
        assert_eq!(mesh.fixed, plain.fixed, "{name}");
        let farthest = mesh.moving.iter().zip(&plain.moving).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(farthest < 0.1, "{name}: {farthest}");
    }
}

fn takes_points_there_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let (_, mesh) = crate::io::mesh::mesh();
    io::mesh::write(&folder.path().join("mesh.json"), &mesh).unwrap();
    let inside = mesh.triangles.iter().map(|t| t.iter().map(|&c| mesh.fixed[c as usize]).sum::<DVec2>() / 3.0);
    let outside = [DVec2::new(-30.0, 0.0), DVec2::new(90.0, 80.0)];
    let points: Vec<DVec2> = inside.chain(outside).collect();
    let text: String = points.iter().map(|point| format!("{},{}\n", point.x, point.y)).collect();
    fs::write(folder.path().join("a.csv"), "x,y\n".to_owned() + &text).unwrap();
    let run = |from: &str, to: &str, more: &[&str]| -> Vec<DVec2> {
        let arguments = [&["points", from, "-t", "mesh.json", "--out", to], more].concat();
        mireg(folder.path(), &arguments).assert().success();
        let points = io::points::Landmarks::read(&folder.path().join(to), None, None).unwrap();
        points.points().iter().map(|point| point.truncate()).collect()
    };
    let there = run("a.csv", "b.csv", &[]);
    let map = MeshMap::new(&mesh);
    assert!(points.iter().zip(&there).all(|(point, there)| map.forward(*point).distance(*there) < 1e-9));
    let back = run("b.csv", "c.csv", &["--invert"]);
    assert!(points.iter().zip(&back).all(|(point, back)| point.distance(*back) < 1e-9), "{back:?}");
    // After another transform, and back through both.
    let shift = DAffine3::from_translation(DVec3::new(1.5, -2.0, 0.0));
    let shift = Linear::new(Kind::Translation, Dimension::Two, DVec3::ZERO, &shift);
    io::transform::write_linear(&folder.path().join("shift.tfm"), None, &shift, &Grids::default()).unwrap();
    let both = run("a.csv", "d.csv", &["-t", "shift.tfm"]);
    assert!(there.iter().zip(&both).all(|(one, both)| (*one + DVec2::new(1.5, -2.0)).distance(*both) < 1e-9));
    let back = run("d.csv", "e.csv", &["-t", "shift.tfm", "--invert"]);
    assert!(points.iter().zip(&back).all(|(point, back)| point.distance(*back) < 1e-9), "{back:?}");
}

fn moves_an_image_as_its_affine_map_does() {
    let folder = pictures();
    let affine = DAffine3::from_rotation_z(0.1) * DAffine3::from_translation(DVec3::new(3.0, -8.0, 0.0));
    let linear = Linear::new(Kind::Affine, Dimension::Two, DVec3::ZERO, &affine);
    io::transform::write_linear(&folder.path().join("affine.tfm"), None, &linear, &Grids::default()).unwrap();
    let fixed = io::read(&folder.path().join("fixed.png")).unwrap();
    let mesh = Mesh::build(&fixed, &affine, Some(20.0), None).unwrap();
    io::mesh::write(&folder.path().join("mesh.json"), &mesh).unwrap();
    for more in [&[][..], &["--interpolation", "b-spline"], &["--labels"], &["--invert", "--outside", "7"]] {
        let [a, b] = ["affine.tfm", "mesh.json"].map(|transform| {
            let arguments = ["apply", "moving.png", "--like", "fixed.png", "-t", transform, "--out", "out.mha"];
            mireg(folder.path(), &arguments).args(more).assert().success();
            io::read(&folder.path().join("out.mha")).unwrap().voxels
        });
        let different = a.iter().zip(&b).filter(|(a, b)| (*a - *b).abs() > 1.0).count();
        assert!(different < a.len() / 1000, "{more:?}: {different} pixels differ");
    }
}

fn refuses_in_a_line() {
    let folder = pictures();
    let path = |name: &str| folder.path().join(name);
    io::write(&path("volume.nii"), &ramp(DVec3::ZERO)).unwrap();
    let fixed = io::read(&path("fixed.png")).unwrap();
    io::write(&path("constant.png"), &Volume { voxels: vec![9.0; fixed.voxels.len()], ..fixed.clone() }).unwrap();
    io::write(&path("black.png"), &Volume { voxels: vec![0.0; fixed.voxels.len()], ..fixed.clone() }).unwrap();
    fs::write(path("damaged.json"), "{\"kind\": \"mireg mesh\", \"version\": 1}").unwrap();
    fs::write(path("a.csv"), "x,y\n1,2\n").unwrap();
    let rows: &[(&str, &[&str])] = &[
        ("mesh fixed.png moving.png --out out --spacing 9", &["too fine", "10"]),
        ("mesh fixed.png moving.png --out out --spacing=-1", &["spacing", "10"]),
        ("mesh fixed.png moving.png --out out --spacing nan", &["spacing", "10"]),
        ("mesh fixed.png moving.png --out out --iterations 0", &["--iterations"]),
        ("mesh fixed.png moving.png --out out --sigmas 0,1", &["--sigmas", "above 0"]),
        ("mesh fixed.png moving.png --out out --start none.tfm --init mass", &["--start", "--init"]),
        ("mesh fixed.png moving.png --out out --start missing.tfm", &["missing.tfm"]),
        ("mesh fixed.png moving.png --out out --start damaged.json", &["damaged.json"]),
        ("mesh volume.nii volume.nii --out out", &["2-D"]),
        ("mesh fixed.png volume.nii --out out", &["2-D"]),
        ("mesh fixed.png volume.nii --out out --start none.tfm", &["2-D"]),
        ("mesh constant.png moving.png --out out", &["fixed", "image"]),
        ("mesh fixed.png constant.png --out out", &["moving", "nothing to register"]),
        ("mesh fixed.png moving.png --out out --fixed-mask volume.nii", &["mask", "grid"]),
        ("mesh fixed.png moving.png --out out --fixed-mask black.png", &["mask"]),
        ("mesh fixed.png missing.png --out out", &["missing.png"]),
        ("points a.csv -t damaged.json --out b.csv", &["damaged.json", "no mesh"]),
        ("apply moving.png --like fixed.png -t damaged.json --out b.png", &["damaged.json", "no mesh"]),
        ("convert damaged.json b.tfm", &["damaged.json"]),
    ];
    let before = names(folder.path());
    for (arguments, words) in rows {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let assert = mireg(folder.path(), &arguments).args(quiet(&arguments)).assert().code(2).stdout("");
        let told = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(told.starts_with("mireg: ") && told.lines().count() == 1, "{arguments:?}: {told}");
        assert!(words.iter().all(|word| told.contains(word)), "{arguments:?}: {told}");
    }
    assert_eq!(names(folder.path()), before);
}

fn quiet(arguments: &[&str]) -> &'static [&'static str] {
    if arguments[0] == "mesh" { &["--quiet"] } else { &[] }
}
