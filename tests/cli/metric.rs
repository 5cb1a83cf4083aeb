//! `mireg metric`: its numbers, in text and in JSON.

use std::path::Path;

use libtest_mimic::Trial;
use mireg::io::transform::Grids;
use mireg::{Volume, io};

use crate::cli::{mireg, patient, stdout};
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    let test = |name: &str, run: fn()| trial(format!("cli::metric_{name}"), run);
    vec![
        test("of_an_image_with_itself_is_2", of_an_image_with_itself_is_2),
        test("rises_with_the_transform", rises_with_the_transform),
        test("with_a_mask_counts_what_it_keeps", with_a_mask_counts_what_it_keeps),
    ]
}

fn metric_of(folder: &Path, arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&stdout(mireg(folder, &["metric", "--json"]).args(arguments))).unwrap()
}

fn of_an_image_with_itself_is_2() {
    let (folder, _) = patient();
    let value = metric_of(folder.path(), &["mr.nii.gz", "mr.nii.gz"]);
    assert!((value["nmi"].as_f64().unwrap() - 2.0).abs() < 1e-3, "{value}");
    assert_eq!(value["overlap"], value["samples"]);
    let text = stdout(&mut mireg(folder.path(), &["metric", "mr.nii.gz", "mr.nii.gz"]));
    assert!((value["ecc"].as_f64().unwrap() - 1.0).abs() < 1e-3, "{value}");
    for direction in ["moving_given_fixed", "fixed_given_moving"] {
        let ratio = value[format!("correlation_ratio_{direction}")].as_f64().unwrap();
        assert!((ratio - 1.0).abs() < 1e-3, "{value}");
    }
    for label in ["NMI", "MI", "ECC", "eta2(M|F)", "eta2(F|M)", "H(F)", "H(M)", "H(F,M)", "overlap"] {
        assert!(text.lines().any(|line| line.split_whitespace().next() == Some(label)), "{label} is not in\n{text}");
    }
}

fn with_a_mask_counts_what_it_keeps() {
    let (folder, pair) = patient();
    let kept = |n: usize| n % 7 < 3;
    let mask = (0..pair.ct.voxels.len()).map(|n| f32::from(u8::from(kept(n)))).collect();
    io::write(&folder.path().join("mask.nii"), &Volume { voxels: mask, ..pair.ct.clone() }).unwrap();
    let value = |more: &[&str]| metric_of(folder.path(), &[&["ct.nii.gz", "ct.nii.gz"], more].concat());
    let (whole, masked) = (value(&[]), value(&["--fixed-mask", "mask.nii"]));
    assert_eq!(whole["samples"], pair.ct.voxels.len());
    assert_eq!(masked["samples"], (0..pair.ct.voxels.len()).filter(|&n| kept(n)).count());
    assert_eq!(masked["overlap"], masked["samples"]);
    assert_ne!(masked["mi"], whole["mi"]);
}

fn rises_with_the_transform() {
    let (folder, pair) = patient();
    io::transform::write_linear(&folder.path().join("truth.tfm"), None, &pair.truth.into(), &Grids::default()).unwrap();
    let nmi = |arguments: &[&str]| metric_of(folder.path(), arguments)["nmi"].as_f64().unwrap();
    let images = ["ct.nii.gz", "mr.nii.gz"];
    let aligned = nmi(&[&images[..], &["--transform", "truth.tfm"]].concat());
    assert!(aligned > nmi(&images) + 0.02, "{aligned}");
}
