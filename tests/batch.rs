//! `mireg batch`: it writes the same bytes as the single commands, reports errors in a table and failed pairs, and
//! resumes after it was killed.

mod bids;
mod gallery;
#[cfg(target_os = "linux")]
mod memory;
mod patterns;
mod resume;
mod robust;
mod table;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use glam::DVec3;
use libtest_mimic::Trial;
use mireg::{Geometry, PixelType, Volume, backend, io};
use tempfile::TempDir;

use crate::cli::{mireg, names};
use crate::support::{gpu_is_absent, trial};

pub fn tests() -> Vec<Trial> {
    let mut tests = vec![
        test("writes_the_bytes_of_register", writes_the_bytes_of_register),
        test("outputs_are_chosen_by_pair", outputs_are_chosen_by_pair),
        test("deforms_and_meshes", deforms_and_meshes),
        test("broken_pairs_are_named_and_the_others_done", broken_pairs_are_named_and_the_others_done),
    ];
    tests.push(test("on_a_gpu_too", on_a_gpu_too).with_ignored_flag(gpu_is_absent()));
    let alone = backend::gpus().map_or_else(|_| gpu_is_absent(), |gpus| gpus.len() < 2);
    tests.push(test("on_two_gpus_too", on_two_gpus_too).with_ignored_flag(alone));
    #[cfg(target_os = "linux")]
    tests.push(test("many_pairs_take_no_more_memory_than_few", memory::many_pairs_take_no_more_of_it_than_few));
    tests.extend(bids::tests());
    tests.extend(gallery::tests());
    tests.extend(patterns::tests());
    tests.extend(resume::tests());
    tests.extend(robust::tests());
    tests.extend(table::tests());
    tests
}

fn test(name: &str, run: fn()) -> Trial {
    trial(format!("batch::{name}"), run)
}

/// Returns waves in a box, shifted by `shift` voxels.
fn waves(size: [usize; 3], shift: f64) -> Volume {
    let geometry = Geometry::axis_aligned(size, DVec3::splat(2.0), DVec3::ZERO);
    let wave = |n: usize| {
        let [x, y, z] = [n % size[0], n / size[0] % size[1], n / size[0] / size[1]].map(|n| n as f64 + shift);
        (200.0 + 60.0 * ((x / 3.1).sin() * (y / 4.3).cos() + (z / 3.7 + x / 9.0).sin() + (y / 7.9).sin())) as f32
    };
    Volume { geometry, voxels: (0..geometry.voxels()).map(wave).collect(), pixel: PixelType::F32 }
}

const SIZE: [usize; 3] = [20, 18, 16];

/// A folder `in` with fixed images and `count` moving ones, and a table of them as `in/pairs.csv`.
fn study(count: usize) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("in");
    fs::create_dir(&data).unwrap();
    io::write(&data.join("f.nii.gz"), &waves(SIZE, 0.0)).unwrap();
    let mut table = "id,fixed,moving\n".to_owned();
    for n in 0..count {
        io::write(&data.join(format!("m{n}.nii")), &waves(SIZE, 0.3 + 0.05 * n as f64)).unwrap();
        table += &format!("p{n},f.nii.gz,m{n}.nii\n");
    }
    fs::write(data.join("pairs.csv"), table).unwrap();
    folder
}

/// Breaks five of a study's moving images, each in a different way, so that registrations from the headers fail.
fn break_images(data: &Path, [cut, empty, flat, far, text]: [usize; 5]) {
    let path = |n: usize| data.join(format!("m{n}.nii"));
    let whole = fs::read(path(cut)).unwrap();
    fs::write(path(cut), &whole[..whole.len() / 2]).unwrap();
    fs::write(path(empty), "").unwrap();
    io::write(&path(flat), &Volume { voxels: vec![7.0; SIZE.iter().product()], ..waves(SIZE, 0.0) }).unwrap();
    let away = Volume { geometry: Geometry::axis_aligned(SIZE, DVec3::ONE, DVec3::splat(1e4)), ..waves(SIZE, 0.0) };
    io::write(&path(far), &away).unwrap();
    fs::write(path(text), "no image").unwrap();
}

/// Returns, by id, when the record of each row was written.
fn records(folder: &Path) -> BTreeMap<String, SystemTime> {
    let out = folder.join("out");
    let ids = names(&out).into_iter().filter(|id| out.join(id).join("batch.json").exists());
    let written = |id: &str| fs::metadata(out.join(id).join("batch.json")).unwrap().modified().unwrap();
    ids.map(|id| (id.clone(), written(&id))).collect()
}

/// Runs a batch of `in/pairs.csv` to `out` on the CPU, and returns what it prints to stderr.
fn batch(folder: &Path, code: i32, more: &[&str]) -> String {
    let words = [&["batch", "in/pairs.csv", "--out", "out", "--backend", "cpu"], more].concat();
    let assert = mireg(folder, &words).assert();
    let output = assert.get_output();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{told}");
    told
}

/// Runs a command, with any exit code of a completed run, since the tests do not depend on the checks of the result.
fn ends(folder: &Path, words: &[&str]) {
    let code = mireg(folder, words).assert().get_output().status.code();
    assert!(matches!(code, Some(0 | 1)), "{words:?}: {code:?}");
}

/// Returns the rows of batch.tsv by id, each as a map from column to value.
fn summary(folder: &Path) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut reader = csv::ReaderBuilder::new().delimiter(b'\t').from_path(folder.join("out/batch.tsv")).unwrap();
    let rows = reader.deserialize::<BTreeMap<String, String>>().map(Result::unwrap);
    rows.map(|row| (row["id"].clone(), row)).collect()
}

/// A report without what differs from run to run: seconds, and the number of threads, which is the device's name.
fn timeless(text: &str) -> serde_json::Value {
    let mut report: serde_json::Value = serde_json::from_str(text).unwrap();
    for name in ["seconds", "device"] {
        assert!(report.as_object_mut().unwrap().remove(name).is_some());
    }
    if let Some(levels) = report.get_mut("levels").and_then(|levels| levels.as_array_mut()) {
        levels.iter_mut().for_each(|level| drop(level.as_object_mut().unwrap().remove("seconds")));
    }
    report
}

/// The files that only the folder of a row has.
const OF_A_ROW: [&str; 2] = ["batch.json", "thumbnail.png"];

/// Compares the folder of a row with that of a separate command.
fn same(batched: &Path, alone: &Path) {
    let files: Vec<_> = names(batched).into_iter().filter(|name| !OF_A_ROW.contains(&name.as_str())).collect();
    assert_eq!(files, names(alone));
    for name in files {
        let [a, b] = [batched, alone].map(|folder| fs::read(folder.join(&name)).unwrap());
        match &*name {
            // The seconds differ, and so may the number of their digits.
            "report.html" => assert!(a.len().abs_diff(b.len()) < 200 && a[..200] == b[..200]),
            "report.json" => {
                let [a, b] = [a, b].map(|text| timeless(std::str::from_utf8(&text).unwrap()));
                assert_eq!(a, b);
            }
            _ => assert!(a == b, "{name} differs"),
        }
    }
}

fn writes_the_bytes_of_register() {
    let folder = study(3);
    let data = folder.path().join("in");
    io::write(&data.join("mask.nii"), &Volume { voxels: vec![1.0; SIZE.iter().product()], ..waves(SIZE, 0.0) })
        .unwrap();
    let table = "id\tfixed\tmoving\tdof\tfixed_mask\nan a\tf.nii.gz\tm0.nii\taffine\tmask.nii\nb\tf.nii.gz\tm1.nii\t\t\n\
        c\tf.nii.gz\tm2.nii\ttranslation\t\n";
    fs::write(data.join("pairs.csv"), table).unwrap();
    let words = ["batch", "in/pairs.csv", "--out", "out", "--backend", "cpu", "--threads", "3", "--", "--dof", "rigid"];
    ends(folder.path(), &words);
    assert_eq!(names(&folder.path().join("out")), ["an a", "b", "batch.tsv", "c", "index.html"]);
    fs::rename(folder.path().join("out"), folder.path().join("batched")).unwrap();
    let rows = [
        ("an a", "m0.nii", &["--dof=affine", "--fixed-mask=in/mask.nii"][..]),
        ("b", "m1.nii", &["--dof=rigid"]),
        ("c", "m2.nii", &["--dof=translation"]),
    ];
    for (id, moving, options) in rows {
        let [out, moving] = [format!("out/{id}"), format!("in/{moving}")];
        let words = [&["register", "in/f.nii.gz", &moving, "--out", &out], options, &["--backend", "cpu"]].concat();
        ends(folder.path(), &words);
        same(&folder.path().join("batched").join(id), &folder.path().join("out").join(id));
    }
}

fn outputs_are_chosen_by_pair() {
    let folder = study(3);
    let table = "id,fixed,moving,write\n\
        all,f.nii.gz,m0.nii,\n\
        transform,f.nii.gz,m1.nii,transform\n\
        two,f.nii.gz,m2.nii,\"moved,json\"\n";
    fs::write(folder.path().join("in/pairs.csv"), table).unwrap();
    let words = ["batch", "in/pairs.csv", "--out", "out", "--backend", "cpu", "--", "--init", "header"];
    ends(folder.path(), &words);
    let out = folder.path().join("out");
    let files = |id: &str| names(&out.join(id));
    let all = ["batch.json", "moved.nii.gz", "report.html", "report.json", "thumbnail.png", "transform.tfm"];
    assert_eq!(files("all"), all);
    assert_eq!(files("transform"), ["batch.json", "transform.tfm"]);
    assert_eq!(files("two"), ["batch.json", "moved.nii.gz", "report.json", "thumbnail.png"]);
    for pair in gallery::pairs(folder.path()) {
        let id = pair["id"].as_str().unwrap();
        let told = ["picture", "page"].map(|of| pair[of].as_str());
        match id {
            "all" => assert_eq!(told, [Some("all/thumbnail.png"), Some("all/report.html")]),
            "two" => assert_eq!(told, [Some("two/thumbnail.png"), None]),
            _ => assert_eq!(told, [None, None]),
        }
    }
}

fn on_a_gpu_too() {
    let folder = study(6);
    for backend in ["cuda", "cpu"] {
        ends(folder.path(), &["batch", "in/pairs.csv", "--out", backend, "--backend", backend, "--jobs", "3"]);
    }
    for (n, name) in (0..6).flat_map(|n| ["transform.tfm", "moved.nii.gz"].map(|name| (n, name))) {
        let [a, b] = ["cuda", "cpu"].map(|out| fs::read(folder.path().join(format!("{out}/p{n}/{name}"))).unwrap());
        assert!(a == b, "p{n}/{name}");
    }
}

fn on_two_gpus_too() {
    let folder = study(8);
    let on = |devices, out| {
        ends(folder.path(), &["batch", "in/pairs.csv", "--out", out, "--devices", devices, "--jobs", "4"]);
    };
    on("all", "all");
    on("1", "second");
    on("any", "any");
    for (n, out) in (0..8).flat_map(|n| ["second", "any"].map(|out| (n, out))) {
        let [a, b] = ["all", out].map(|out| fs::read(folder.path().join(format!("{out}/p{n}/transform.tfm"))).unwrap());
        assert!(a == b, "p{n} of {out}");
    }
    let none = mireg(folder.path(), &["batch", "in/pairs.csv", "--out", "none", "--devices", "0,999"]).assert().code(2);
    let told = String::from_utf8_lossy(&none.get_output().stderr).into_owned();
    assert!(told.contains("no GPU 999"), "{told}");
}

fn deforms_and_meshes() {
    let folder = study(2);
    batch_of(folder.path(), "deform", &["--linear=none", "--iterations=5", "--levels=4"]);
    let data = folder.path().join("in");
    let flat = |shift| waves([96, 80, 1], shift);
    io::write(&data.join("f.nii.gz"), &flat(0.0)).unwrap();
    (0..2).for_each(|n| io::write(&data.join(format!("m{n}.nii")), &flat(0.5 + f64::from(n))).unwrap());
    batch_of(folder.path(), "mesh", &["--init=header", "--iterations=3"]);
}

/// Compares a batch of another command with the command itself for each pair.
fn batch_of(folder: &Path, command: &str, options: &[&str]) {
    let words = [&["batch", "in/pairs.csv", "--out", "out", "--command", command, "--backend", "cpu", "--"], options];
    ends(folder, &words.concat());
    fs::rename(folder.join("out"), folder.join(command)).unwrap();
    for n in 0..2 {
        let [moving, out] = [format!("in/m{n}.nii"), format!("out/p{n}")];
        let words = [&[command, "in/f.nii.gz", &moving, "--out", &out], options, &["--backend", "cpu"]].concat();
        ends(folder, &words);
        same(&folder.join(format!("{command}/p{n}")), &folder.join(&out));
    }
    fs::remove_dir_all(folder.join("out")).unwrap();
}

fn broken_pairs_are_named_and_the_others_done() {
    let folder = study(9);
    let data = folder.path().join("in");
    break_images(&data, [1, 2, 3, 4, 5]);
    // The folder of this pair cannot be created.
    fs::create_dir(folder.path().join("out")).unwrap();
    fs::write(folder.path().join("out/p6"), "mine").unwrap();

    let told = batch(folder.path(), 1, &["--", "--init", "header"]);
    let rows = summary(folder.path());
    let failed: Vec<_> = rows.values().filter(|row| row["status"] == "failed").map(|row| row["id"].as_str()).collect();
    assert_eq!(failed, ["p1", "p2", "p3", "p4", "p5", "p6"], "{told}");
    for id in failed {
        let line = told.lines().find(|line| line.contains(&format!(" {id} failed: ")));
        assert!(line.is_some_and(|line| line.ends_with(&rows[id]["error"])), "{id} is not in\n{told}");
    }
    for id in ["p0", "p7", "p8"] {
        assert_eq!(rows[id]["status"], "done");
        assert!(folder.path().join(format!("out/{id}/transform.tfm")).exists());
    }
    assert!(told.lines().last().unwrap().contains("6 failed,"), "{told}");
    assert_eq!(fs::read_to_string(folder.path().join("out/p6")).unwrap(), "mine");
    let pairs = gallery::pairs(folder.path());
    let place = |id: &str| pairs.iter().position(|pair| pair["id"] == id).unwrap();
    assert_eq!(pairs[place("p0")]["page"], "p0/report.html");
    assert!(pairs[place("p1")]["page"].is_null());
    assert!(place("p3") < place("p0"), "the worst results are not first");

    // Failed pairs are not tried again unless requested; pairs without a record are.
    let again = batch(folder.path(), 1, &["--", "--init", "header"]);
    assert_eq!(again.lines().filter(|line| line.contains(" failed: ")).count(), 1, "{again}");
    io::write(&data.join("m4.nii"), &waves(SIZE, 0.4)).unwrap();
    fs::remove_file(folder.path().join("out/p6")).unwrap();
    let again = batch(folder.path(), 1, &["--retry-failed", "--", "--init", "header"]);
    for id in ["p1", "p2", "p3", "p4", "p5", "p6"] {
        assert!(again.contains(&format!(" {id} ")), "{id} is not in\n{again}");
    }
    assert_eq!(summary(folder.path())["p4"]["status"], "done");
}
