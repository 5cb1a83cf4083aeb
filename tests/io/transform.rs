//! Transforms in ITK text files.

use glam::DVec3;
use libtest_mimic::Trial;
use mireg::io::transform::{read_itk, write_itk};
use mireg::transform::Rigid;

use super::Folder;
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    vec![
        trial("io::transform::written", what_is_written_is_read_back),
        trial("io::transform::types", every_linear_type_maps_as_in_itk),
        trial("io::transform::refused", others_are_refused),
    ]
}

const POINT: DVec3 = DVec3::new(10.0, 20.0, 30.0);

fn what_is_written_is_read_back() {
    let folder = Folder::new();
    let path = folder.path("transform.tfm");
    let angles = DVec3::new(0.1, -0.2, 0.3);
    let translation = DVec3::new(1e-7, -12.345_678_901_234_567, 1.0 / 3.0);
    let rigid = Rigid { angles, translation, centre: DVec3::new(5.0, 6.0, 7.0) };
    write_itk(&path, &rigid.into()).unwrap();
    let expected = "#Insight Transform File V1.0\n#Transform 0\nTransform: Euler3DTransform_double_3_3\n\
                    Parameters: 0.1 -0.2 0.3 1e-7 -12.345678901234567 0.3333333333333333\nFixedParameters: 5 6 7 0\n";
    assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
    let map = read_itk(&path).unwrap();
    assert!(map.abs_diff_eq(rigid.to_affine(), 1e-13));
    // What SimpleITK 2.4 makes of this file.
    let by_itk = DVec3::new(1.8938884105198492, 4.815385698857515, 32.14830275030111);
    assert!(map.transform_point3(POINT).abs_diff_eq(by_itk, 1e-13));
}

/// Types, parameters and fixed parameters, and where SimpleITK 2.4 takes the point.
const TYPES: &[(&str, &str, &str, [f64; 3])] = &[
    (
        "Euler3DTransform_double",
        "0.1 0.2 0.3 4 5 6",
        "1 2 3 0",
        [13.98629006985519, 25.94875612636285, 35.347509029205185],
    ),
    (
        "Euler3DTransform_float",
        "0.1 0.2 0.3 4 5 6",
        "1 2 3",
        [13.98629006985519, 25.94875612636285, 35.347509029205185],
    ),
    (
        "Euler3DTransform_double",
        "0.1 0.2 0.3 4 5 6",
        "1 2 3 1",
        [14.370382925480436, 25.82447747875095, 35.30275596742408],
    ),
    ("VersorRigid3DTransform_double", "0.1 0.2 0.3 4 5 6", "1 2 3", [14.000000000000002, 25.0, 36.0]),
    ("Similarity3DTransform_double", "0.1 0.2 0.3 4 5 6 1.5", "1 2 3", [18.499999999999996, 34.0, 49.5]),
    ("AffineTransform_double", "1 0.1 0.2 0 1.1 0.3 -0.1 0 0.9 4 5 6", "1 2 3", [21.2, 34.9, 32.4]),
    ("MatrixOffsetTransformBase_double", "1 0.1 0.2 0 1.1 0.3 -0.1 0 0.9 4 5 6", "1 2 3", [21.2, 34.9, 32.4]),
    ("TranslationTransform_double", "4 5 6", "", [14.0, 25.0, 36.0]),
    ("IdentityTransform_double", "", "", [10.0, 20.0, 30.0]),
];

fn every_linear_type_maps_as_in_itk() {
    let folder = Folder::new();
    for (kind, parameters, fixed, expected) in TYPES {
        let text = format!(
            "#Insight Transform File V1.0\n#Transform 0\nTransform: {kind}_3_3\nParameters: {parameters}\n\
             FixedParameters: {fixed}\n\n"
        );
        let map = read_itk(&folder.file("a.tfm", text)).unwrap();
        let found = map.transform_point3(POINT);
        assert!(found.abs_diff_eq((*expected).into(), 1e-11), "{kind}: {found}");
    }
}

fn others_are_refused() {
    let folder = Folder::new();
    let head = "#Insight Transform File V1.0\n";
    let one = "Transform: TranslationTransform_double_3_3\nParameters: 1 2 3\nFixedParameters:\n";
    let bad = [
        ("hello".into(), "not an ITK transform"),
        (head.into(), "several transforms or none"),
        (format!("{head}{one}{one}"), "several transforms"),
        (format!("{head}Transform: CompositeTransform_double_3_3\n{one}"), "several transforms"),
        (format!("{head}Transform: BSplineTransform_double_3_3\nParameters: 1\n"), "BSplineTransform_double_3_3"),
        (format!("{head}{one}").replace("1 2 3", "1 2"), "2 parameters, not 3"),
        (format!("{head}{one}").replace("1 2 3", "1 2 x"), "\"x\""),
        (format!("{head}{one}").replace("1 2 3", "1 2 NaN"), "no inverse"),
        (format!("{head}Transform: AffineTransform_double_3_3\nParameters: 0 0 0 0 0 0 0 0 0 0 0 0\n"), "no inverse"),
    ];
    for (text, expected) in bad {
        let message = read_itk(&folder.file("a.tfm", &text)).unwrap_err().to_string();
        assert!(message.contains(expected) && !message.contains('\n'), "{text}: {message}");
    }
    assert!(read_itk(&folder.path("none.tfm")).unwrap_err().to_string().contains("no such file"));
}
