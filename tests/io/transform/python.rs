//! Compares mireg with the readers and writers of other programs, which `python.py` calls. Ignored unless
//! `MIREG_PYTHON` names a Python that has them.

use std::path::Path;
use std::process::Command;

use glam::DVec3;
use libtest_mimic::Trial;
use mireg::io;
use mireg::io::transform::{self, Grids};
use mireg::transform::{Dimension, Field, Kind, Linear, Transform};
use mireg::{Geometry, PixelType, Volume};

use super::{grids, hdf5};
use crate::io::Folder;
use crate::support::{python, trial};

pub fn tests() -> Vec<Trial> {
    let tests = vec![
        trial("io::transform::python::written by peers", what_peers_write_leads_where_they_say),
        trial("io::transform::python::read by peers", peers_read_what_mireg_writes),
    ];
    tests.into_iter().map(|test| test.with_ignored_flag(python().is_none())).collect()
}

/// Points of the fixed image, LPS mm.
const POINTS: [DVec3; 4] =
    [DVec3::ZERO, DVec3::new(10.0, 20.0, 30.0), DVec3::new(-40.0, 25.0, 60.0), DVec3::new(70.5, -30.25, -12.125)];

/// A folder with both images and the points.
fn folder() -> Folder {
    let folder = Folder::new();
    for (name, mut grid) in ["fixed.nii", "moving.nii"].into_iter().zip(grids()) {
        grid.size = [4, 5, 6];
        let volume = Volume { geometry: grid, voxels: vec![0.0; grid.voxels()], pixel: PixelType::U8 };
        io::write(&folder.path(name), &volume).unwrap();
    }
    folder.file("points.txt", POINTS.map(|p| format!("{} {} {}\n", p.x, p.y, p.z)).concat());
    folder
}

/// Runs the script in `folder`. It prints the names of files, and the positions to which they take the points.
fn peers(what: &str, folder: &Folder) -> Vec<(String, Vec<DVec3>)> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/io/transform/python.py");
    let output = Command::new(python().unwrap()).arg(script).arg(what).arg(folder.path("")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let line = |line: &str| {
        let mut words = line.split(' ');
        let name = words.next().unwrap().to_owned();
        let numbers: Vec<f64> = words.map(|word| word.parse().unwrap()).collect();
        (name, numbers.as_chunks().0.iter().copied().map(DVec3::from_array).collect())
    };
    String::from_utf8(output.stdout).unwrap().lines().map(line).collect()
}

/// The grid of [`hdf5::field`] with larger voxels, so that it holds all points.
fn wide(field: Field) -> Field {
    let geometry =
        Geometry { spacing: DVec3::new(60.0, 70.0, 80.0), origin: DVec3::new(-90.0, -110.0, -70.0), ..field.geometry };
    Field { geometry, ..field }
}

fn assert_same(name: &str, transform: &Transform, expected: &[DVec3], tolerance: f64) {
    assert_eq!(expected.len(), POINTS.len());
    for (point, there) in POINTS.into_iter().zip(expected) {
        let found = transform.map().transform_point3(point);
        assert!(found.distance(*there) < tolerance, "{name}: {point} goes to {found}, not to {there}");
    }
}

fn what_peers_write_leads_where_they_say() {
    let folder = folder();
    let [fixed, moving] = ["fixed.nii", "moving.nii"].map(|name| io::geometry(&folder.path(name)).unwrap());
    let written = peers("write", &folder);
    assert!(written.len() >= 25, "{written:?}");
    for (name, expected) in written {
        let found = transform::read(&folder.path(&name), None, &Grids::of(&fixed, &moving)).unwrap();
        assert_same(&name, &found, &expected, tolerance(&name));
    }
}

/// Returns the tolerance in mm. nitransforms reads matrices of .lta as f32, and rounds voxels for AFNI to 4 decimals;
/// displacements are f32.
fn tolerance(name: &str) -> f64 {
    match name {
        _ if name.ends_with(".lta") => 1e-3,
        _ if name.ends_with(".1D") => 1e-2,
        _ => 1e-5,
    }
}

fn peers_read_what_mireg_writes() {
    let folder = folder();
    let [fixed, moving] = ["fixed.nii", "moving.nii"].map(|name| io::geometry(&folder.path(name)).unwrap());
    let parameters = vec![0.1, -0.2, 0.3, 4.0, -5.0, 6.0, 1.2];
    let centre = DVec3::new(12.0, -6.0, 23.0);
    let linear = Linear { kind: Kind::Similarity, dimension: Dimension::Three, parameters, centre };
    let linear = Transform::from(linear);
    for name in ["mireg.lta", "mireg.aff12.1D", "mireg.xfm"] {
        transform::write(&folder.path(name), None, &linear, &Grids::of(&fixed, &moving)).unwrap();
    }
    let affine = || hdf5::linear(Kind::Affine, Dimension::Three);
    let field = wide(hdf5::field(3));
    let chain = Transform::from(field.clone()).then(affine());
    let composites = [
        ("linear.h5", linear.clone()),
        ("field.h5", field.into()),
        ("chain.h5", chain.clone()),
        ("many.h5", [chain].into_iter().chain((0..20).map(|_| hdf5::linear(Kind::Rigid, Dimension::Three))).collect()),
    ];
    for (name, transform) in &composites {
        transform::write(&folder.path(name), None, transform, &Grids::default()).unwrap();
    }
    let read = peers("read", &folder);
    assert_eq!(read.len(), 7);
    for (name, expected) in read {
        let composite = composites.iter().find(|(own, _)| *own == name);
        let transform = composite.map_or(&linear, |(_, transform)| transform);
        assert_same(&name, transform, &expected, tolerance(&name));
    }
}
