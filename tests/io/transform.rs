//! Transforms in files.

mod damage;
mod hdf5;
mod peers;
mod python;
mod refused;
mod round_trip;

use std::path::Path;

use glam::{DMat3, DVec3};
use libtest_mimic::Trial;
use mireg::Geometry;
use mireg::io::transform::{Grids, read_linear, write_linear};
use mireg::transform::{Linear, Rigid};

use super::Folder;
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    let topics =
        [damage::tests(), hdf5::tests(), peers::tests(), python::tests(), refused::tests(), round_trip::tests()];
    let own = vec![
        trial("io::transform::written", what_is_written_is_what_was_written_before),
        trial("io::transform::types", every_linear_type_maps_as_in_itk),
    ];
    topics.into_iter().flatten().chain(own).collect()
}

/// Returns the grids of a right-handed oblique image and of a left-handed one, which are those of a PD and a T1 scan.
fn grids() -> [Geometry; 2] {
    let oblique = [
        DVec3::new(0.857854128, 0.00468388898, -0.00375264464),
        DVec3::new(-0.00519883633, 0.849813223, -0.127732873),
        DVec3::new(0.00843399763, 0.35677737, 2.37331533),
    ];
    let left_handed = [DVec3::X * -0.88, DVec3::Y * 0.88, DVec3::Z * 0.88];
    [
        grid([191, 256, 54], oblique, DVec3::new(-80.8311234, -131.494125, -30.3499374)),
        grid([188, 256, 190], left_handed, DVec3::new(83.12, -118.12, -77.12)),
    ]
}

fn grid(size: [usize; 3], columns: [DVec3; 3], origin: DVec3) -> Geometry {
    let flip = DMat3::from_diagonal(DVec3::new(-1.0, -1.0, 1.0));
    let [a, b, c] = columns.map(|column| flip * column.normalize());
    let spacing = DVec3::from_array(columns.map(DVec3::length));
    Geometry { size, spacing, origin: flip * origin, direction: DMat3::from_cols(a, b, c) }
}

/// Reads a file that needs no grids.
fn plain(path: &Path) -> Linear {
    read_linear(path, None, &Grids::default()).unwrap()
}

fn what_is_written_is_what_was_written_before() {
    let folder = Folder::new();
    let path = folder.path("transform.tfm");
    let angles = DVec3::new(0.1, -0.2, 0.3);
    let translation = DVec3::new(1e-7, -12.345_678_901_234_567, 1.0 / 3.0);
    let rigid = Rigid { angles, translation, centre: DVec3::new(5.0, 6.0, 7.0) };
    write_linear(&path, None, &rigid.into(), &Grids::default()).unwrap();
    let expected = "#Insight Transform File V1.0\n#Transform 0\nTransform: Euler3DTransform_double_3_3\n\
                    Parameters: 0.1 -0.2 0.3 1e-7 -12.345678901234567 0.3333333333333333\nFixedParameters: 5 6 7 0\n";
    assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
    let map = plain(&path).to_affine();
    assert_eq!(map, rigid.to_affine());
    // The position to which SimpleITK 2.4 takes the point with this file.
    let by_itk = DVec3::new(1.8938884105198492, 4.815385698857515, 32.14830275030111);
    assert!(map.transform_point3(DVec3::new(10.0, 20.0, 30.0)).abs_diff_eq(by_itk, 1e-13));
}

/// Types, parameters and fixed parameters, and where ITK 5.4 takes the point (10, 20, 30), or (10, 20) in the plane.
const TYPES: &[(&str, &str, &str, &[f64])] = &[
    (
        "Euler3DTransform_double_3_3",
        "0.1 0.2 0.3 4 5 6",
        "1 2 4 0",
        &[13.767579308563512, 25.983518690139384, 35.37233870200337],
    ),
    (
        "Euler3DTransform_double_3_3",
        "0.1 0.2 0.3 4 5 6",
        "1 2 4 1",
        &[14.152032262334103, 25.861434492275574, 35.32758564022227],
    ),
    (
        "VersorTransform_double_3_3",
        "0.1 0.2 0.3",
        "1 2 4",
        &[9.569055260180173, 20.065472369909912, 30.099999999999998],
    ),
    (
        "VersorRigid3DTransform_double_3_3",
        "0.1 0.2 0.3 4 5 6",
        "1 2 4",
        &[13.569055260180173, 25.065472369909912, 36.1],
    ),
    (
        "Similarity3DTransform_double_3_3",
        "0.1 0.2 0.3 4 5 6 1.5",
        "1 2 4",
        &[17.853582890270253, 34.09820855486487, 49.15],
    ),
    (
        "ScaleVersor3DTransform_double_3_3",
        "0.1 0.2 0.3 4 5 6 1.1 0.9 1.2",
        "1 2 4",
        &[14.469055260180173, 23.265472369909915, 41.3],
    ),
    (
        "ScaleSkewVersor3DTransform_double_3_3",
        "0.1 0.2 0.3 4 5 6 1.1 0.9 1.2 0.01 0.02 0.03 0.04 0.05 0.06",
        "1 2 4",
        &[15.169055260180174, 24.575472369909914, 42.830000000000005],
    ),
    ("ScaleTransform_double_3_3", "1.1 0.9 1.2", "1 2 4", &[10.9, 18.2, 35.2]),
    ("AffineTransform_double_3_3", "1 0.1 0.2 0 1.1 0.3 -0.1 0 0.9 4 5 6", "1 2 4", &[21.0, 34.6, 32.5]),
    ("TranslationTransform_double_3_3", "4 5 6", "", &[14.0, 25.0, 36.0]),
    ("IdentityTransform_double_3_3", "", "", &[10.0, 20.0, 30.0]),
    ("Euler2DTransform_double_2_2", "0.3 4 5", "1 2", &[8.278664682226342, 26.855738664212964]),
    ("Similarity2DTransform_double_2_2", "1.5 0.3 4 5", "1 2", &[9.917997023339513, 36.78360799631945]),
    ("AffineTransform_double_2_2", "0.9 0.1 -0.2 1.1 4 5", "1 2", &[14.899999999999999, 25.0]),
    ("ScaleTransform_double_2_2", "1.1 0.9", "1 2", &[10.9, 18.2]),
    ("TranslationTransform_double_2_2", "4 5", "", &[14.0, 25.0]),
    ("IdentityTransform_double_2_2", "", "", &[10.0, 20.0]),
    (
        "QuaternionRigidTransform_double_3_3",
        "0.1 0.2 0.3 0.9273618495495703 4 5 6",
        "1 2 4",
        &[13.569055260180173, 25.065472369909912, 36.1],
    ),
    ("MatrixOffsetTransformBase_double_3_3", "1 0.1 0.2 0 1.1 0.3 -0.1 0 0.9 4 5 6", "1 2 4", &[21.0, 34.6, 32.5]),
    ("Rigid2DTransform_double_2_2", "0.3 4 5", "1 2", &[8.278664682226342, 26.855738664212964]),
];

fn every_linear_type_maps_as_in_itk() {
    let folder = Folder::new();
    for (kind, parameters, fixed, expected) in TYPES {
        for kind in [kind.to_string(), kind.replace("double", "float")] {
            let text = format!(
                "#Insight Transform File V1.0\n#Transform 0\nTransform: {kind}\nParameters: {parameters}\n\
                 FixedParameters: {fixed}\n\n"
            );
            let found = plain(&folder.file("a.tfm", text)).to_affine().transform_point3(point(expected.len()));
            assert!(found.abs_diff_eq(padded(expected), 1e-11), "{kind}: {found}");
        }
    }
}

/// Returns the point that the other programs mapped.
fn point(axes: usize) -> DVec3 {
    padded(&[10.0, 20.0, 30.0][..axes])
}

fn padded(point: &[f64]) -> DVec3 {
    DVec3::new(point[0], point[1], point.get(2).copied().unwrap_or(0.0))
}
