//! Optional results of `mireg deform`: additional files, and statistics of labels.

use std::fs;

use glam::{DAffine3, DVec3};
use mireg::io;
use mireg::io::transform::Grids;
use mireg::transform::{Dimension, Kind, Linear};
use serde_json::Value;

use super::{DEFORM, bend, report, volume, volumes};
use crate::cli::{mireg, stdout};

pub fn writes_the_warp_apart_from_its_start() {
    let folder = volumes();
    let path = |name: &str| folder.path().join(name);
    let scale = DAffine3::from_scale(DVec3::new(1.03, 0.98, 1.02));
    let start = Linear::new(Kind::Affine, Dimension::Three, DVec3::ZERO, &(DAffine3::from_rotation_z(0.02) * scale));
    io::transform::write_linear(&path("start.tfm"), None, &start, &Grids::default()).unwrap();
    let arguments: Vec<&str> = DEFORM.into_iter().filter(|argument| !["--linear", "none"].contains(argument)).collect();
    let more = ["--start", "start.tfm", "--composite", "--log-jacobian"];
    let shown = stdout(mireg(folder.path(), &arguments).args(more));
    let also = ["warp.nii.gz", "composite.h5", "log_jacobian.nii.gz", "log_jacobian_warp.nii.gz"];
    for name in also {
        assert!(shown.contains(name) && path("out").join(name).exists(), "{name}");
    }

    fs::write(path("a.csv"), "x,y,z\n1,2,3\n-20.5,14,9\n30,-31,22\n-40,-41,-42\n").unwrap();
    let there = |transforms: &str| {
        let line = format!("points a.csv {transforms} --out b.csv");
        mireg(folder.path(), &line.split(' ').collect::<Vec<_>>()).assert().success();
        io::points::Landmarks::read(&path("b.csv"), None, None).unwrap().points().to_vec()
    };
    let whole = there("-t out/field.nii.gz");
    assert!(whole.iter().zip(there("-t out/start.tfm")).any(|(a, b)| a.distance(b) > 1.0));
    for apart in ["-t out/composite.h5", "-t out/warp.nii.gz -t out/start.tfm"] {
        assert!(whole.iter().zip(there(apart)).all(|(a, b)| a.distance(b) < 1e-4), "{apart}");
    }

    let [jacobian, log, warp] =
        ["jacobian.nii.gz", also[2], also[3]].map(|name| io::read(&path("out").join(name)).unwrap());
    let stretch = (1.03_f64 * 0.98 * 1.02).ln() as f32;
    for ((jacobian, log), warp) in jacobian.voxels.iter().zip(&log.voxels).zip(&warp.voxels) {
        assert!((jacobian.ln() - log).abs() < 1e-5 && (log - warp - stretch).abs() < 1e-5, "{jacobian}: {log}, {warp}");
    }
}

/// The labels are the halves of the ball, and one that is in one of the maps only.
pub fn measures_labels() {
    let folder = volumes();
    let path = |name: &str| folder.path().join(name);
    let source = |at| (0..30).fold(at, |source, _| source + at - bend(source));
    let half = |at: DVec3| if at.length() > 38.0 { 0.0 } else { if at.x < 0.0 { 2.0 } else { 7.0 } };
    let corner = |at: DVec3, label: f64| if at.min_element() > 40.0 { label } else { 0.0 };
    io::write(&path("a.nii"), &volume(|at| half(at) + corner(at, -4.0))).unwrap();
    io::write(&path("b.nii"), &volume(|at| half(source(at)) + corner(at, 9.0))).unwrap();
    let shown = stdout(mireg(folder.path(), &DEFORM).args(["--labels", "a.nii", "--moving-labels", "b.nii"]));
    assert!(shown.contains("over 4 labels"), "{shown}");
    let out = path("out");
    let regions = &report(&out)["regions"];
    let labels = regions["labels"].as_array().unwrap();
    let [of_a, two, seven, of_b] = &labels[..] else { panic!("{regions}") };
    let numbers = [of_a, two, seven, of_b].map(|region| region["label"].as_i64().unwrap());
    assert_eq!(numbers, [-4, 2, 7, 9]);
    for region in [two, seven] {
        let [before, after] = ["before", "after"].map(|when| region["dice"][when].as_f64().unwrap());
        assert!(before < 0.92 && after > 0.95 && after <= 1.0, "{region}");
    }
    for region in [of_a, of_b] {
        assert_eq!(region["dice"], serde_json::json!({"before": 0.0, "after": 0.0}));
    }
    assert_eq!((&of_b["voxels"], &of_b["jacobian"]), (&0.into(), &Value::Null));
    let mean = (two["dice"]["after"].as_f64().unwrap() + seven["dice"]["after"].as_f64().unwrap()) / 4.0;
    assert!((regions["mean_dice"]["after"].as_f64().unwrap() - mean).abs() < 1e-12, "{regions}");

    let [map, jacobian] = [path("a.nii"), out.join("jacobian.nii.gz")].map(|file| io::read(&file).unwrap().voxels);
    let mut of_two: Vec<f32> = map.iter().zip(jacobian).filter(|(label, _)| **label == 2.0).map(|(_, j)| j).collect();
    of_two.sort_by(f32::total_cmp);
    let mean = of_two.iter().copied().map(f64::from).sum::<f64>() / of_two.len() as f64;
    assert_eq!(two["voxels"], of_two.len());
    let part = |name: &str| two["jacobian"][name].as_f64().unwrap();
    assert!((part("mean") - mean).abs() < 1e-9);
    let below = |name: &str| of_two.iter().filter(|&&j| f64::from(j) < part(name)).count() as f64 / of_two.len() as f64;
    assert!((below("percentile_5") - 0.05).abs() < 1e-3 && (below("percentile_95") - 0.95).abs() < 1e-3);
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("<h2>Labels</h2>") && page.contains("Dice, before"));

    // For the Jacobian, the label map of FIXED suffices. Label maps do not change the field.
    let field = fs::read(out.join("field.nii.gz")).unwrap();
    mireg(folder.path(), &DEFORM).args(["--fixed-labels", "a.nii"]).assert().success();
    assert!(field == fs::read(out.join("field.nii.gz")).unwrap());
    let alone = &report(&out)["regions"];
    assert_eq!(alone["labels"][1]["jacobian"], two["jacobian"]);
    assert!(alone.get("mean_dice").is_none() && alone["labels"][1].get("dice").is_none());
}

pub fn takes_landmarks_in_either_frame() {
    let folder = volumes();
    let path = |name: &str| folder.path().join(name);
    let points = [DVec3::new(5.0, 9.0, -12.0), DVec3::new(-20.5, 14.0, 9.0), DVec3::new(12.0, -21.0, 17.0)];
    let write = |name: &str, point: &dyn Fn(DVec3) -> DVec3| {
        let rows: String =
            points.iter().map(|&p| point(p).to_array().map(|v| v.to_string()).join(",") + "\n").collect();
        fs::write(path(name), "x,y,z\n".to_owned() + &rows).unwrap();
    };
    let ras = |p: DVec3| p * DVec3::new(-1.0, -1.0, 1.0);
    write("a.csv", &|p| p);
    write("b.csv", &bend);
    write("a_ras.csv", &ras);
    write("b_ras.csv", &|p| ras(bend(p)));
    let field = |more: &str| {
        let shown = stdout(mireg(folder.path(), &DEFORM).args(more.split_whitespace()));
        assert_eq!(shown.contains("over 3 points"), !more.is_empty(), "{shown}");
        fs::read(path("out/field.nii.gz")).unwrap()
    };
    let alone = field("");
    let led = field("--points a.csv --moving-points b.csv --points-error 0.5");
    let landmarks = report(&path("out"))["landmarks"].clone();
    assert_eq!((&landmarks["points"], &landmarks["error_mm"]), (&3.into(), &0.5.into()));
    let mean = |when: &str| landmarks[when]["mean_mm"].as_f64().unwrap();
    assert!(mean("before") > 3.0 && mean("after") < 0.5, "{landmarks}");
    assert!(fs::read_to_string(path("out/report.html")).unwrap().contains("3 landmarks"));
    assert!(alone != led);
    assert!(led == field("--fixed-points a_ras.csv --moving-points b_ras.csv --frame ras --points-error 0.5"));
}
