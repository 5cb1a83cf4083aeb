//! Registrations of real heads, compared with the exact ground truth. The error is the distance, in mm, between the
//! positions to which the found and the true transform take a point of the fixed image.

use crate::support::{CPU, data_dir};
use glam::{DAffine3, DMat3, DVec3};
use libtest_mimic::{Failed, Trial};
use mireg::transform::Kind;
use mireg::{Options, Silent, Volume, io};
use std::path::{Path, PathBuf};

/// Mean error that no rigid and no affine pair may exceed, mm.
const RIGID_MM: f64 = 0.2;
const AFFINE_MM: f64 = 0.4;

pub fn tests() -> Vec<Trial> {
    let Some(data) = data_dir() else {
        return vec![Trial::test("accuracy", || Ok(())).with_ignored_flag(true)];
    };
    let mut cases: Vec<PathBuf> = std::fs::read_dir(data.join("cases"))
        .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default();
    cases.sort();
    let trials = cases.into_iter().map(|case| Trial::test(format!("accuracy::{}", name(&case)), move || check(&case)));
    trials.chain([Trial::test("accuracy::brainweb_rot20tx20", move || brainweb(&data.join("brainweb")))]).collect()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Checks a case: a folder with a fixed and a moving image, the brain mask of the fixed image and the true transform.
/// The folder's name determines the kind of transform.
fn check(case: &Path) -> Result<(), Failed> {
    let read = |name: &str| io::read(&case.join(name));
    let (fixed, moving, mask) = (read("fixed.nii.gz")?, read("moving.nii.gz")?, read("mask.nii.gz")?);
    let truth: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(case.join("truth.json"))?)?;
    let column = |column: usize| {
        let entry = |row: usize| truth["lps"][row][column].as_f64().unwrap_or(f64::NAN);
        DVec3::new(entry(0), entry(1), entry(2))
    };
    let truth = DAffine3::from_cols(column(0), column(1), column(2), column(3));
    let [width, height, _] = mask.geometry.size;
    let brain = (0..mask.voxels.len()).filter(|&i| mask.voxels[i] > 0.0).step_by(7);
    let index = |i: usize| DVec3::new((i % width) as f64, (i / width % height) as f64, (i / width / height) as f64);
    let to_world = mask.geometry.index_to_world();
    let points: Vec<DVec3> = brain.map(|i| to_world.transform_point3(index(i))).collect();
    match name(case).starts_with("aff_") {
        true => register(&fixed, &moving, Kind::Affine, &truth, &points, AFFINE_MM),
        false => register(&fixed, &moving, Kind::Rigid, &truth, &points, RIGID_MM),
    }
}

/// Registers a T1 and a T2 of one head. The T2 is rotated by 20 degrees about z and translated.
fn brainweb(folder: &Path) -> Result<(), Failed> {
    let (fixed, moving) = (io::read(&folder.join("t1.mha"))?, io::read(&folder.join("t2_rot20tx20.mha"))?);
    let turn = DMat3::from_rotation_z((-20_f64).to_radians());
    let truth = DAffine3::from_mat3_translation(turn, DVec3::new(-20.0, 0.0, 0.0));
    register(&fixed, &moving, Kind::Rigid, &truth, &fixed.geometry.corners(), RIGID_MM)
}

fn register(
    fixed: &Volume,
    moving: &Volume,
    dof: Kind,
    truth: &DAffine3,
    points: &[DVec3],
    limit: f64,
) -> Result<(), Failed> {
    let options = Options { dof, ..Options::default() };
    let found = CPU.register(fixed, moving, &options, &Silent)?.transform.to_affine();
    let error = |map: &DAffine3| {
        let distance = |p: &DVec3| map.transform_point3(*p).distance(truth.transform_point3(*p));
        points.iter().map(distance).sum::<f64>() / points.len() as f64
    };
    let (before, after) = (error(&DAffine3::IDENTITY), error(&found));
    if before > 5.0 && after <= limit {
        return Ok(());
    }
    Err(format!("{} points: {before:.3} mm before and {after:.3} mm after, of {limit} mm allowed", points.len()).into())
}
