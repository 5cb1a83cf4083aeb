//! Batches that are killed, and errors during a study: full disks, folders that cannot be written, files that have
//! vanished.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use libtest_mimic::Trial;
use tempfile::TempDir;

use super::{OF_A_ROW, batch, break_images, ends, records, same, study, summary, test};
use crate::cli::names;
use crate::support::random;

pub fn tests() -> Vec<Trial> {
    vec![
        test("kills_lose_nothing_and_repeat_nothing", || kills_lose_nothing_and_repeat_nothing(100)),
        // This takes minutes: `cargo test --release --test integration -- --ignored a_thousand_pairs`.
        test("a_thousand_pairs_are_killed_ten_times", || kills_lose_nothing_and_repeat_nothing(1000))
            .with_ignored_flag(true),
        test("what_cannot_be_written_fails_its_pair", what_cannot_be_written_fails_its_pair),
        #[cfg(unix)]
        test("an_input_that_is_no_more_fails_its_pair", an_input_that_is_no_more_fails_its_pair),
        #[cfg(unix)]
        test("what_is_too_large_for_the_disk_is_told", what_is_too_large_for_the_disk_is_told),
    ]
}

/// Starts a batch that can be killed.
pub fn start(folder: &Path) -> Child {
    let mut process = Command::new(env!("CARGO_BIN_EXE_mireg"));
    process.current_dir(folder).args(["batch", "in/pairs.csv", "--out", "out", "--backend", "cpu", "--threads", "2"]);
    process.args(["--", "--init", "header"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn kills_lose_nothing_and_repeat_nothing(pairs: usize) {
    let folder = study(pairs);
    let broken = [1, 2, 3, 5, 7].map(|part| part * pairs / 8);
    break_images(&folder.path().join("in"), broken);
    let whole = TempDir::new_in(folder.path()).unwrap();
    let clock = Instant::now();
    assert_eq!(start(folder.path()).wait().unwrap().code(), Some(1));
    let took = clock.elapsed();
    fs::rename(folder.path().join("out"), whole.path().join("out")).unwrap();

    let mut random = random(took.subsec_nanos().into());
    let (mut before, mut killed) = (BTreeMap::new(), 0);
    for _ in 0..10 {
        let mut run = start(folder.path());
        std::thread::sleep(took.mul_f32(0.02 + 0.12 * random()));
        run.kill().unwrap();
        killed += usize::from(run.wait().unwrap().code().is_none());
        if !folder.path().join("out").exists() {
            continue;
        }
        let after = records(folder.path());
        for (id, written) in &before {
            assert_eq!(after.get(id), Some(written), "{id} was registered again");
        }
        // A folder that exists is complete.
        let folders = names(&folder.path().join("out")).into_iter().filter(|name| name.starts_with('p'));
        assert_eq!(folders.collect::<Vec<_>>(), after.keys().cloned().collect::<Vec<_>>());
        before = after;
    }
    let kept = before.len();
    assert!(killed > 0 && kept > 0, "{killed} kills left {kept}");
    assert_eq!(start(folder.path()).wait().unwrap().code(), Some(1));
    println!("{pairs} pairs in {took:.1?}; {killed} kills left {kept}");

    let out = folder.path().join("out");
    let last = records(folder.path());
    assert!(last.len() == pairs && before.iter().all(|(id, written)| last[id] == *written));
    assert_eq!(names(&out), names(&whole.path().join("out")));
    let rows = summary(folder.path());
    for n in 0..pairs {
        let (id, failed) = (format!("p{n}"), broken.contains(&n));
        assert_eq!(rows[&id]["status"], if failed { "failed" } else { "done" }, "{id}");
        assert_eq!(!rows[&id]["error"].is_empty(), failed, "{id}");
        if !failed {
            same(&as_if_alone(&out.join(&id)), &as_if_alone(&whole.path().join("out").join(&id)));
        }
    }
}

/// Returns a folder with what a separate command writes for the same pair.
fn as_if_alone(folder: &Path) -> PathBuf {
    OF_A_ROW.iter().for_each(|name| fs::remove_file(folder.join(name)).unwrap());
    folder.to_owned()
}

/// Asserts that these pairs, and no others, failed, with a line that names what could not be used.
fn only_these_failed(folder: &Path, these: &[(&str, &str)]) {
    let rows = summary(folder);
    let failed: Vec<_> = rows.values().filter(|row| row["status"] == "failed").map(|row| row["id"].as_str()).collect();
    assert_eq!(failed, these.iter().map(|(id, _)| *id).collect::<Vec<_>>());
    for (id, name) in these {
        assert!(rows[*id]["error"].contains(name), "{name} is not in {}", rows[*id]["error"]);
    }
}

fn what_cannot_be_written_fails_its_pair() {
    let folder = study(4);
    let out = folder.path().join("out");
    fs::create_dir_all(out.join("p1/transform.tfm")).unwrap();
    fs::create_dir(out.join("p2")).unwrap();
    let mut permissions = fs::metadata(out.join("p2")).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(out.join("p2"), permissions).unwrap();
    // As root, every folder can be written.
    let refused = fs::write(out.join("p2/probe"), "").is_err();
    batch(folder.path(), 1, &["--", "--init", "header"]);
    let these = [("p1", "transform.tfm is a folder"), ("p2", "out/p2")];
    only_these_failed(folder.path(), &these[..1 + usize::from(refused)]);
}

#[cfg(unix)]
fn an_input_that_is_no_more_fails_its_pair() {
    let folder = study(4);
    let data = folder.path().join("in");
    // The first pair waits for an image from this pipe, and the others wait for that pair.
    let pipe = data.join("m0.nii");
    let image = fs::read(&pipe).unwrap();
    fs::remove_file(&pipe).unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut run = Command::new(env!("CARGO_BIN_EXE_mireg"));
    run.current_dir(folder.path()).args(["batch", "in/pairs.csv", "--out", "out", "--backend", "cpu", "--jobs", "1"]);
    let mut run = run.args(["--", "--init", "header"]).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let mut pipe = fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    fs::remove_file(data.join("m2.nii")).unwrap();
    let _ = std::io::Write::write_all(&mut pipe, &image);
    drop(pipe);
    assert_eq!(run.wait().unwrap().code(), Some(1));
    let rows = summary(folder.path());
    assert_eq!([&rows["p1"]["status"], &rows["p2"]["status"], &rows["p3"]["status"]], ["done", "failed", "done"]);
    assert!(rows["p2"]["error"].contains("in/m2.nii"), "{}", rows["p2"]["error"]);
}

#[cfg(unix)]
fn what_is_too_large_for_the_disk_is_told() {
    let folder = study(3);
    // Limits the size of files, in blocks of 512 bytes or, in some shells, of 1024 bytes.
    let limited = "trap '' XFSZ; ulimit -f 40; exec \"$0\" \"$@\"";
    let mut run = Command::new("sh");
    run.current_dir(folder.path()).args(["-c", limited, env!("CARGO_BIN_EXE_mireg"), "batch", "in/pairs.csv"]);
    run.args(["--out", "out", "--backend", "cpu", "--quiet", "--", "--init", "header"]);
    let output = run.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{told}");
    only_these_failed(folder.path(), &["p0", "p1", "p2"].map(|id| (id, "cannot be written (file too large)")));
    assert!(!told.contains(".unfinished"), "{told}");
    assert_eq!(told.lines().filter(|line| line.contains(" failed: ")).count(), 3, "{told}");
    let out = folder.path().join("out");
    assert_eq!(names(&out), ["batch.tsv", "index.html", "p0", "p1", "p2"]);
    assert_eq!(names(&out.join("p0")), ["batch.json"]);
    let words =
        ["batch", "in/pairs.csv", "--out", "out", "--backend", "cpu", "--retry-failed", "--", "--init", "header"];
    ends(folder.path(), &words);
    only_these_failed(folder.path(), &[]);
}
