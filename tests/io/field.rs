//! Displacement fields in files: those of SimpleITK and ANTs take points to the same positions as in those programs,
//! and mireg reads what it writes.
//!
//! `tests/fixtures/fields/make.py` wrote the files of others. SimpleITK 2.5.7 and antspyx 0.6.3 read mireg's and took points where mireg does,
//! to the last bits of f32.

use std::fs;

use glam::{DMat3, DVec3};
use libtest_mimic::Trial;
use mireg::io::transform;
use mireg::transform::{Field, Transform};
use mireg::{Geometry, io};

use super::{Folder, bits, fixture, gzip};
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    let mut tests = vec![
        trial("io::field::ras", displacements_of_intent_1006_are_in_ras),
        trial("io::field::planar_nrrd", vectors_of_nrrd_may_come_last),
        trial("io::field::refused", what_is_no_field_is_refused),
        trial("io::field::itk_text", itk_text_is_checked),
        trial("io::field::unwritten", what_no_file_can_hold_is_refused),
        trial("io::field::no_images", fields_are_no_images),
        trial("io::field::damage", damage_is_an_error),
    ];
    for name in [
        "space.nii.gz",
        "space.mha",
        "space.nrrd",
        "double.nii.gz",
        "ants.nii.gz",
        "plane.nii.gz",
        "plane.mha",
        "plane.nrrd",
    ] {
        tests.push(trial(format!("io::field::peers {name}"), move || peers_file_leads_where_itk_says(name)));
    }
    for end in ENDS {
        tests.push(trial(format!("io::field::round_trip .{end}"), move || comes_back(end)));
    }
    tests
}

const ENDS: [&str; 5] = ["nii", "nii.gz", "mha", "mhd", "nrrd"];

fn file(name: &str) -> std::path::PathBuf {
    fixture("fields").join(name)
}

/// Points and where they go, LPS mm, from a table of 2 or 3 numbers each.
pub fn table(name: &str) -> Vec<(DVec3, DVec3)> {
    let text = fs::read_to_string(file(name)).unwrap();
    let row = |line: &str| {
        let numbers: Vec<f64> = line.split(' ').map(|n| n.parse().unwrap()).collect();
        let point = |part: &[f64]| DVec3::new(part[0], part[1], part.get(2).copied().unwrap_or(0.0));
        let (from, to) = numbers.split_at(numbers.len() / 2);
        (point(from), point(to))
    };
    text.lines().map(row).collect()
}

fn peers_file_leads_where_itk_says(name: &str) {
    let field = io::field::read(&file(name)).unwrap();
    let (size, points) = if name.starts_with("plane") { ([4, 3, 1], "plane.txt") } else { ([4, 3, 5], "space.txt") };
    assert_eq!(field.geometry.size, size);
    for (point, there) in table(points) {
        let found = field.transform_point3(point);
        assert!(found.distance(there) < 1e-5, "{point} goes to {found}, not to {there}");
    }
}

/// A field with every digit of f32 in use, of three axes or two.
fn field(depth: usize) -> Field {
    let tilt = if depth == 1 { 0.0 } else { 0.4 };
    let geometry = Geometry {
        size: [5, 4, depth],
        spacing: DVec3::new(1.5, 0.7, if depth == 1 { 1.0 } else { 3.1 }),
        origin: DVec3::new(-40.5, 12.25, if depth == 1 { 0.0 } else { 7.5 }),
        direction: DMat3::from_rotation_z(-0.5) * DMat3::from_rotation_x(tilt),
    };
    let mut random = crate::support::random(3);
    let mut vectors: Vec<[f32; 3]> = (0..geometry.voxels()).map(|_| [0; 3].map(|_| 9.0 * random() - 4.0)).collect();
    if depth == 1 {
        vectors.iter_mut().for_each(|vector| vector[2] = 0.0);
    }
    Field { geometry, vectors }
}

fn comes_back(end: &str) {
    for depth in [1, 3] {
        let folder = Folder::new();
        let paths = [folder.path(&format!("a.{end}")), folder.path(&format!("b.{end}"))];
        let field = field(depth);
        io::field::write(&paths[0], &field).unwrap();
        let read = io::field::read(&paths[0]).unwrap();
        assert_eq!(read.vectors, field.vectors);
        let moved = field.geometry.corners().into_iter().zip(read.geometry.corners()).map(|(a, b)| a.distance(b));
        assert!(moved.fold(0.0, f64::max) < 1e-5);
        io::field::write(&paths[1], &read).unwrap();
        let again = io::field::read(&paths[1]).unwrap();
        assert!(again.vectors == read.vectors && bits(&again.geometry) == bits(&read.geometry));
    }
}

/// SimpleITK 2.5.7 also flips x and y of such a file.
fn displacements_of_intent_1006_are_in_ras() {
    let folder = Folder::new();
    let path = folder.path("a.nii");
    let field = field(3);
    io::field::write(&path, &field).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[68..70].copy_from_slice(&1006i16.to_le_bytes());
    let turned = io::field::read(&folder.file("b.nii", bytes)).unwrap();
    assert!(turned.vectors.iter().zip(&field.vectors).all(|(a, b)| *a == [-b[0], -b[1], b[2]]));
}

fn vectors_of_nrrd_may_come_last() {
    let folder = Folder::new();
    let head = "NRRD0004\ntype: float\ndimension: 4\nspace: left-posterior-superior\nsizes: 2 2 2 3\n\
                space directions: (1,0,0) (0,1,0) (0,0,1) none\nkinds: domain domain domain vector\nendian: little\nencoding: raw\n\n";
    let numbers = (0..24).flat_map(|n| (n as f32).to_le_bytes()).collect::<Vec<_>>();
    let bytes = [head.as_bytes(), &numbers].concat();
    let field = io::field::read(&folder.file("a.nrrd", &bytes)).unwrap();
    assert_eq!(field.vectors[0], [0.0, 8.0, 16.0]);
    assert_eq!(field.vectors[5], [5.0, 13.0, 21.0]);
    for (from, to, expected) in [
        ("left-posterior", "right-anterior", "another space"),
        ("kinds: domain", "measurement frame: (0,1,0) (1,0,0) (0,0,1)\nkinds: domain", "a frame of their own"),
        ("domain vector", "domain list", "kinds: vector domain"),
    ] {
        let bytes = [head.replace(from, to).as_bytes(), &numbers].concat();
        refused(&folder.file("b.nrrd", bytes), expected);
    }
}

fn refused(path: &std::path::Path, expected: &str) {
    let message = io::field::read(path).unwrap_err().to_string();
    assert!(message.contains(expected) && !message.contains('\n'), "{message}");
    assert!(message.starts_with(&path.display().to_string()), "{message}");
}

fn what_is_no_field_is_refused() {
    refused(&file("scalar.nii.gz"), "no displacement field");
    refused(&file("make.py"), "does not end like a displacement field");
    let folder = Folder::new();
    refused(&folder.path("none.nii.gz"), "no such file");
    let path = folder.path("a.nii");
    io::field::write(&path, &field(3)).unwrap();
    let bytes = fs::read(&path).unwrap();
    let with = |at: usize, part: &[u8]| {
        let mut bytes = bytes.clone();
        bytes[at..at + part.len()].copy_from_slice(part);
        bytes
    };
    let cases: [(usize, &[u8], &str); 7] = [
        (50, &4i16.to_le_bytes(), "has 4 numbers per voxel, and a displacement field of 5x4x3 voxels has 3"),
        (50, &2i16.to_le_bytes(), "has 2 numbers per voxel"),
        (48, &3i16.to_le_bytes(), "are not those of a displacement field"),
        (68, &0i16.to_le_bytes(), "its intent code is 0, not 1007"),
        (328, b"NREG_TRANS", "NiftyReg"),
        (
            352,
            &f32::NAN.to_le_bytes(),
            "1 of its numbers are NaN, infinite or too large for f32, the first at index (0, 0, 0)",
        ),
        (352 + 4 * 60 + 4 * 7, &f32::INFINITY.to_le_bytes(), "the first at index (2, 1, 0)"),
    ];
    for (at, part, expected) in cases {
        refused(&folder.file("b.nii", with(at, part)), expected);
    }
    refused(&folder.file("b.nii", &bytes[..600]), "truncated");
    refused(&folder.file("b.nii.gz", &gzip(&bytes)[..300]), "truncated");
}

fn itk_text_is_checked() {
    let folder = Folder::new();
    let text = fs::read_to_string(file("chain.tfm")).unwrap();
    let read = |text: String| transform::read(&folder.file("a.tfm", text), None, &transform::Grids::default());
    let chain = read(text.clone()).unwrap();
    assert!(matches!(&chain.parts()[..], [Transform::Field(_), Transform::Linear(_)]));
    for (from, to, expected) in [
        ("FixedParameters: 4 3 5", "FixedParameters: 4 3 6", "has 180 parameters, not 216"),
        ("FixedParameters: 4 3 5", "FixedParameters: 3 5", "has 17 fixed parameters, not 18"),
        ("FixedParameters: 4 3 5", "FixedParameters: 4 3 -5", "must be positive"),
        ("-10 20 5 1.5", "-10 20 5 0", "voxel size"),
        ("Parameters: -1.6", "Parameters: nan -1.6", "is no number"),
        ("Parameters: -1.600000023841858", "Parameters: -1.6e300", "too large for f32"),
        ("DisplacementFieldTransform_double", "VelocityFieldTransform_double", "VelocityFieldTransform"),
    ] {
        let message = read(text.replace(from, to)).unwrap_err().to_string();
        assert!(message.contains(expected) && !message.contains('\n'), "{message}");
    }
    let message = read(text[..2000].to_owned()).unwrap_err().to_string();
    assert!(message.contains("truncated"), "{message}");
}

fn what_no_file_can_hold_is_refused() {
    let folder = Folder::new();
    let failed = |name: &str, field: &Field| io::field::write(&folder.path(name), field).unwrap_err().to_string();
    for name in ["a.mat", "a.tfm", "a.png", "a"] {
        assert!(failed(name, &field(3)).contains("mireg writes .nii.gz, .nii, .mha, .mhd and .nrrd"), "{name}");
    }
    let mut tilted = field(1);
    tilted.vectors[3][2] = 0.5;
    assert!(failed("a.mha", &tilted).contains("out of its plane"));
    let few = Field { vectors: vec![[0.0; 3]; 3], ..field(3) };
    assert!(failed("a.mha", &few).contains("do not fill its grid"));
    assert!(folder.names().is_empty());
}

fn fields_are_no_images() {
    for name in ["space.nii.gz", "space.mha", "space.nrrd", "plane.nii.gz", "plane.mha", "plane.nrrd"] {
        let message = io::read(&file(name)).unwrap_err().to_string();
        assert!(message.contains("displacement field") && message.contains("give it as a transform"), "{message}");
    }
    assert!(io::geometry(&file("space.nii.gz")).is_err());
}

/// Any byte of a header may be wrong.
fn damage_is_an_error() {
    let folder = Folder::new();
    for name in ["space.mha", "space.nrrd", "a.nii"] {
        let path = if name == "a.nii" { folder.path(name) } else { file(name) };
        if name == "a.nii" {
            io::field::write(&path, &field(3)).unwrap();
        }
        let bytes = fs::read(&path).unwrap();
        for at in 0..bytes.len().min(700) {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1 << (at % 7);
            let damaged = folder.file(&format!("damaged_{name}"), bytes);
            if let Ok(field) = io::field::read(&damaged) {
                assert_eq!(field.vectors.len(), field.geometry.voxels());
                assert!(field.vectors.as_flattened().iter().all(|n| n.is_finite()));
            }
        }
    }
}
