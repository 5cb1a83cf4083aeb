//! Files that other programs wrote, and the positions to which those programs take a point.
//! `fixtures/transforms/make.py` made the files and printed the positions.

use std::path::{Path, PathBuf};

use glam::DVec3;
use libtest_mimic::Trial;
use mireg::io;
use mireg::io::transform::{Format, Grids, read_linear};

use super::{grids, padded, plain, point};
use crate::io::Folder;
use crate::support::{data_dir, trial};

pub fn tests() -> Vec<Trial> {
    vec![
        trial("io::transform::peers::itk and elastix", points_go_where_the_peers_take_them),
        trial("io::transform::peers::fsl", fsl_knows_which_way_the_first_axis_goes),
        trial("io::transform::peers::minc", minc_takes_several_in_turn_and_back),
        trial("io::transform::peers::greedy", greedy_found_the_motion),
        trial("io::transform::peers::rire", rire_is_what_its_makers_say).with_ignored_flag(data_dir().is_none()),
    ]
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/transforms").join(name)
}

/// Names, and where SimpleITK and transformix, which prints 6 digits, take the point.
const POINTS: &[(&str, &[f64])] = &[
    ("composite.tfm", &[1.9309495444043776, 47.409742496391885, 53.90217579753234]),
    ("ants.mat", &[21.2, 34.9, 32.4]),
    ("ants_euler.mat", &[3.8428061756951157, 22.437309028691196, 38.905691638978695]),
    ("ants_plane.mat", &[14.899999999999999, 25.0]),
    ("translation3.0.txt", &[12.055734, 18.750373, 33.725309]),
    ("chain3.1.txt", &[9.905795, 21.19364, 35.782214]),
    ("similarity3.0.txt", &[9.874637, 21.441677, 34.888784]),
    ("euler2.0.txt", &[7.175706, 22.108401]),
    ("similarity2.0.txt", &[7.005664, 23.024256]),
    ("affine2.0.txt", &[7.516993, 23.594233]),
];

fn points_go_where_the_peers_take_them() {
    for (name, expected) in POINTS {
        let found = plain(&fixture(name)).to_affine().transform_point3(point(expected.len()));
        let tolerance = if name.ends_with(".txt") { 1e-6 } else { 1e-12 };
        assert!(found.abs_diff_eq(padded(expected), tolerance), "{name}: {found}");
    }
}

/// nitransforms wrote these two from one map, with the images in either order and 8 decimals.
fn fsl_knows_which_way_the_first_axis_goes() {
    let [oblique, left_handed] = grids();
    let cases = [("fsl_oblique.mat", &oblique, &left_handed), ("fsl_left_handed.mat", &left_handed, &oblique)];
    for (name, fixed, moving) in cases {
        let found = read_linear(&fixture(name), None, &Grids::of(fixed, moving)).unwrap();
        let found = found.to_affine().transform_point3(point(3));
        assert!(found.abs_diff_eq(DVec3::new(21.2, 34.9, 32.4), 1e-5), "{name}: {found}");
    }
}

/// The file has two transforms from moving to fixed, the second of which is inverted. Worked out by hand: the second
/// takes RAS (-10, -20, 30) to (-20, -40, 60), and the inverse of the first takes that to (-21, -42, 57), which is (21,
/// 42, 57) in LPS.
fn minc_takes_several_in_turn_and_back() {
    let folder = Folder::new();
    let text = "MNI Transform File\n%VIO_Transform; not this\n\nTransform_Type = Linear;\nLinear_Transform =\n 1 0 0 1\n 0 1 0 2\n 0 0 1 3;\n\
                Transform_Type = Linear;\nInvert_Flag = True;\nLinear_Transform = 2 0 0 0 0 2 0 0 0 0 2 0;\n";
    let found = plain(&folder.file("a.xfm", text)).to_affine().transform_point3(point(3));
    assert!(found.abs_diff_eq(DVec3::new(21.0, 42.0, 57.0), 1e-12), "{found}");
}

/// The moving image is shifted by 0.7, -1 and 1.5 voxels of 1.5, 2 and 2.5 mm. In the middle, greedy finds this to a
/// fraction of a voxel.
fn greedy_found_the_motion() {
    let middle = DVec3::new(23.25, 31.0, 38.75);
    let found = read_linear(&fixture("greedy.txt"), Some(Format::MatrixRas), &Grids::default()).unwrap();
    let moved = found.to_affine().transform_point3(middle) - middle;
    assert!(moved.abs_diff_eq(DVec3::new(1.05, -2.0, 3.75), 0.5), "{moved}");
}

/// The published corners are compared with the same ground truth as an ITK transform. Both have four decimals or more.
fn rire_is_what_its_makers_say() {
    let folder = data_dir().unwrap().join("rire");
    let fixed = io::geometry(&folder.join("ct_training_001_ct.mhd")).unwrap();
    let moving = io::geometry(&folder.join("training_001_mr_T1.mha")).unwrap();
    let published = read_linear(&folder.join("ct_T1.standard"), None, &Grids::of(&fixed, &moving)).unwrap().to_affine();
    let truth = plain(&folder.join("training_001_ct_to_mr_T1_ground_truth.tfm")).to_affine();
    for corner in fixed.corners() {
        let [a, b] = [published, truth].map(|map| map.transform_point3(corner));
        assert!(a.distance(b) < 2e-4, "{corner}: {a}, {b}");
    }
}
