//! ITK transforms in HDF5: chains and fields that are written are read again, SimpleITK's file is read, and damage is an error.

use std::path::Path;

use glam::{DMat3, DVec3};
use libtest_mimic::Trial;
use mireg::io::transform::{Grids, read, write};
use mireg::transform::{Dimension, Field, Kind, Linear, Transform};
use mireg::{Error, Geometry, Result};

use crate::io::field::table;
use crate::io::{Folder, fixture};
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    vec![
        trial("io::transform::hdf5::written by SimpleITK", simpleitks_file_leads_where_it_says),
        trial("io::transform::hdf5::round trip", chains_and_fields_come_back),
        trial("io::transform::hdf5::plane and space", the_plane_is_part_of_space),
        trial("io::transform::hdf5::truncated", every_truncation_is_refused),
        trial("io::transform::hdf5::damage", damage_is_refused_or_read),
    ]
}

fn any(path: &Path) -> Result<Transform> {
    read(path, None, &Grids::default())
}

fn simpleitks_file_leads_where_it_says() {
    let chain = any(&fixture("fields/chain.h5")).unwrap();
    assert_eq!(chain, any(&fixture("fields/chain.tfm")).unwrap());
    for (point, there) in table("chain.txt") {
        let found = chain.map().transform_point3(point);
        assert!(found.distance(there) < 1e-5, "{point} goes to {found}, not to {there}");
    }
}

/// A field on an oblique grid of so many slices.
pub fn field(depth: usize) -> Field {
    let turn = DMat3::from_rotation_z(0.3) * DMat3::from_rotation_x(if depth > 1 { 0.2 } else { 0.0 });
    let [z, along] = if depth > 1 { [7.5, 2.5] } else { [0.0, 1.0] };
    let geometry = Geometry {
        size: [5, 4, depth],
        spacing: DVec3::new(1.5, 2.0, along),
        origin: DVec3::new(-10.0, 20.0, z),
        direction: turn,
    };
    Field::of(&geometry, |p| p + DVec3::new(libm::sin(p.y), libm::cos(p.x), if depth > 1 { 0.1 * p.x } else { 0.0 }))
}

fn solid() -> Transform {
    field(3).into()
}

pub fn linear(kind: Kind, dimension: Dimension) -> Transform {
    let parameters = [0.9, 0.1, -0.05, 0.2, 1.1, -0.1, 0.05, 0.15, 1.2, 4.0, -5.0, 6.0];
    let parameters = parameters[..kind.parameters(dimension)].to_vec();
    Linear { kind, dimension, parameters, centre: DVec3::new(3.0, -2.0, 0.0) }.into()
}

fn chains_and_fields_come_back() {
    let folder = Folder::new();
    let affine = || linear(Kind::Affine, Dimension::Three);
    let many: Transform = (0..30).map(|_| linear(Kind::Rigid, Dimension::Three)).chain([solid()]).collect();
    let given = [
        field(3).into(),
        field(1).into(),
        solid().then(affine()),
        affine().then(solid()).then(field(4)).then(linear(Kind::Rigid, Dimension::Three)),
        Transform::from(field(1)).then(linear(Kind::Similarity, Dimension::Two)),
        many,
    ];
    for (number, given) in given.iter().enumerate() {
        let path = folder.path("a.h5");
        write(&path, None, given, &Grids::default()).unwrap();
        assert!(any(&path).unwrap() == *given, "{number}");
    }
}

fn the_plane_is_part_of_space() {
    let (folder, grids) = (Folder::new(), Grids::default());
    let path = folder.path("a.h5");
    let flat = linear(Kind::Rigid, Dimension::Two);
    write(&path, None, &solid().then(flat.clone()), &grids).unwrap();
    let found = any(&path).unwrap();
    let point = DVec3::new(-7.0, 22.0, 9.0);
    let there = flat.map().transform_point3(solid().map().transform_point3(point));
    assert!(found.map().transform_point3(point).distance(there) < 1e-12);
    let message = write(&path, None, &solid().then(field(1)), &grids).unwrap_err().to_string();
    assert!(message.contains("a field of the plane"), "{message}");
}

/// Returns files with the layouts of different writers.
fn files() -> Vec<Vec<u8>> {
    let folder = Folder::new();
    let path = folder.path("a.h5");
    write(&path, None, &solid().then(linear(Kind::Affine, Dimension::Three)), &Grids::default()).unwrap();
    let [simpleitk, old, latest] = ["fields/chain.h5", "fields/old.h5", "fields/latest.h5"].map(fixture);
    [path, simpleitk, old, latest].iter().map(|path| std::fs::read(path).unwrap()).collect()
}

fn told(outcome: Result<Transform>) -> bool {
    if let Err(error) = &outcome {
        let message = error.to_string();
        assert!(matches!(error, Error::File { .. }) && !message.chars().any(char::is_control), "{message:?}");
        assert!(message.len() < 1000, "{message}");
    }
    outcome.is_err()
}

fn every_truncation_is_refused() {
    let folder = Folder::new();
    for bytes in files() {
        assert!(!told(any(&folder.file("a.h5", &bytes))));
        for length in (0..bytes.len()).step_by(7) {
            assert!(told(any(&folder.file("a.h5", &bytes[..length]))), "{length} of {}", bytes.len());
        }
    }
}

/// Flips bits, and replaces numbers by the largest possible ones.
fn damage_is_refused_or_read() {
    let folder = Folder::new();
    for bytes in files() {
        for at in (0..bytes.len() - 8).step_by(2) {
            let mut damaged = bytes.clone();
            match at / 2 % 3 {
                0 => damaged[at] ^= 1 << (at % 8),
                1 => damaged[at..at + 8].fill(0xff),
                _ => damaged.copy_within(at / 2..at / 2 + 8, at),
            }
            told(any(&folder.file("a.h5", damaged)));
        }
    }
}
