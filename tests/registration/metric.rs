//! Checks that the metric in the report is that which `mireg metric` computes from the written files.

use libtest_mimic::Trial;
use mireg::{Volume, io};

use super::test;
use crate::cli::{self, mireg, stdout};

pub fn tests() -> Vec<Trial> {
    vec![test("the_report_has_the_metric_of_the_files", the_report_has_the_metric_of_the_files)]
}

/// To the last digit, whatever the kind of the transform, with masks and without.
fn the_report_has_the_metric_of_the_files() {
    let (folder, pair) = cli::patient();
    let mask = |name: &str, volume: &Volume| {
        let third = volume.voxels.len() / 3;
        let voxels = (0..volume.voxels.len()).map(|n| f32::from(u8::from(n > third))).collect();
        io::write(&folder.path().join(name), &Volume { voxels, ..volume.clone() }).unwrap();
    };
    mask("fixed.nii.gz", &pair.ct);
    mask("moving.nii.gz", &pair.mr);
    let masks: [&[&str]; 3] =
        [&[], &["--fixed-mask", "fixed.nii.gz"], &["--fixed-mask", "fixed.nii.gz", "--moving-mask", "moving.nii.gz"]];
    let [none, one, both] = [&masks[..1], &masks[1..2], &masks[2..]];
    for (dof, masks) in [("translation", none), ("rigid", &masks), ("similarity", one), ("affine", both)] {
        for masks in masks {
            let images = ["ct.nii.gz", "mr.nii.gz", "--backend", "cpu", "--bins", "50"];
            let register = ["--out", "out", "--quiet", "--metric", "nmi", "--dof", dof];
            // The exit code says whether the result can be trusted, which does not matter here.
            mireg(folder.path(), &[&["register"], &images[..], &register, *masks].concat()).output().unwrap();
            let metric = ["--transform", "out/transform.tfm", "--json"];
            let text = stdout(&mut mireg(folder.path(), &[&["metric"], &images[..], &metric, *masks].concat()));
            let printed: serde_json::Value = serde_json::from_str(&text).unwrap();
            let report = std::fs::read_to_string(folder.path().join("out/report.json")).unwrap();
            let report: serde_json::Value = serde_json::from_str(&report).unwrap();
            for (name, value) in printed.as_object().unwrap() {
                let reported = match name.as_str() {
                    "overlap_fraction" | "bins" | "intensities" => &report[name],
                    _ => &report["final"][name],
                };
                assert_eq!(reported, value, "{name}, {dof}, {masks:?}");
            }
            assert_eq!(report["final"]["value"], printed["nmi"]);
            assert_eq!(report["transform"]["kind"], dof);
        }
    }
}
