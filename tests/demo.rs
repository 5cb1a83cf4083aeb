//! The synthetic patient, and `mireg demo` as a user runs it.

use std::fs;

use glam::{DAffine3, DVec3};
use libtest_mimic::Trial;
use mireg::{io, threads};
use mireg_cli::demo::Pair;

use crate::cli;
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    let test = |name: &str, run: fn()| trial(format!("demo::{name}"), run);
    vec![
        test("a_seed_gives_the_same_voxels_with_any_threads", a_seed_gives_the_same_voxels_with_any_threads),
        test("another_seed_gives_another_patient", another_seed_gives_another_patient),
        test("the_motion_has_the_promised_size", the_motion_has_the_promised_size),
        test("the_scans_show_the_same_head", the_scans_show_the_same_head),
        test("demo_succeeds_and_leaves_its_files", demo_succeeds_and_leaves_its_files),
    ]
}

fn patient(seed: u64, threads: usize) -> Pair {
    threads::with(threads, || Ok(Pair::new(seed, 6.0))).unwrap()
}

fn a_seed_gives_the_same_voxels_with_any_threads() {
    let (one, three) = (patient(5, 1), patient(5, 3));
    assert!(one.ct == three.ct && one.mr == three.mr && one.truth == three.truth);
}

fn another_seed_gives_another_patient() {
    let (five, six) = (patient(5, 0), patient(6, 0));
    assert!(five.ct != six.ct && five.mr != six.mr && five.truth != six.truth);
}

fn the_motion_has_the_promised_size() {
    for seed in 0..20 {
        let pair = Pair::new(seed, 32.0);
        let degrees = pair.truth.angles.map(f64::to_degrees);
        assert!((6.9..=12.0).contains(&degrees.length()), "{degrees}");
        let shift = pair.truth.translation.length();
        assert!((6.9..=15.0).contains(&shift), "{shift}");
        let still = pair.misplacement(&DAffine3::IDENTITY);
        assert!(still.mean_mm > 3.0 && still.max_mm > still.mean_mm, "{still:?}");
        assert_eq!(pair.misplacement(&pair.truth.to_affine()).max_mm, 0.0);
    }
}

/// Through the true transform, bone must be bright in the CT and dark in the MR, and air dark in both.
fn the_scans_show_the_same_head() {
    let pair = Pair::new(2, 3.0);
    let (to_world, to_mr) = (pair.ct.geometry.index_to_world(), pair.mr.geometry.world_to_index());
    let map = to_mr * pair.truth.to_affine() * to_world;
    let [nx, ny, _] = pair.ct.geometry.size;
    let (mut bone, mut brain) = (Mean::default(), Mean::default());
    for (n, &hu) in pair.ct.voxels.iter().enumerate() {
        let index = DVec3::new((n % nx) as f64, (n / nx % ny) as f64, (n / nx / ny) as f64);
        match (voxel(&pair, map.transform_point3(index)), hu) {
            (Some(signal), 1100.0..) => bone.add(signal),
            (Some(signal), 15.0..50.0) => brain.add(signal),
            _ => {}
        }
    }
    assert!(bone.count > 500.0 && brain.count > 5000.0, "{} {}", bone.count, brain.count);
    assert!(brain.sum / brain.count > 3.0 * bone.sum / bone.count, "brain and bone look alike in the MR");
}

#[derive(Default)]
struct Mean {
    sum: f64,
    count: f64,
}

impl Mean {
    fn add(&mut self, value: f32) {
        self.sum += f64::from(value);
        self.count += 1.0;
    }
}

/// Returns the voxel of the MR that is nearest to a position.
fn voxel(pair: &Pair, position: DVec3) -> Option<f32> {
    let [nx, ny, nz] = pair.mr.geometry.size;
    let [i, j, k] = position.round().to_array().map(|n| n as isize);
    let inside = |n: isize, size: usize| (0..size as isize).contains(&n);
    let number = || (i + nx as isize * (j + ny as isize * k)) as usize;
    (inside(i, nx) && inside(j, ny) && inside(k, nz)).then(|| pair.mr.voxels[number()])
}

fn demo_succeeds_and_leaves_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let assert = cli::mireg(folder.path(), &["demo", "--seed", "4", "--backend", "cpu"]).assert().success();
    let shown = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    let error = shown.lines().find(|line| line.starts_with("error")).unwrap_or_else(|| panic!("no error in\n{shown}"));
    let mean: f64 = error.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(mean < 0.5, "{error}");

    let out = folder.path().join("mireg-demo");
    let all = [
        "ct.nii.gz",
        "demo.png",
        "moved.nii.gz",
        "mr.nii.gz",
        "report.html",
        "report.json",
        "transform.tfm",
        "truth.tfm",
    ];
    assert_eq!(cli::names(&out), all);
    let picture = fs::read(out.join("demo.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG") && picture.len() < 300_000, "{} bytes", picture.len());
    let volume = io::read(&out.join("ct.nii.gz")).unwrap();
    assert_eq!(volume.geometry.size, [256, 256, 65]);
}
