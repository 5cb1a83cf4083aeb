//! Resuming after a signal, which pairs are run again, and shards of a study.

use std::collections::BTreeMap;
use std::fs;
#[cfg(unix)]
use std::process::{Command, Stdio};
#[cfg(unix)]
use std::time::Duration;
use std::time::SystemTime;

use libtest_mimic::Trial;
use mireg::io;

use super::robust::start;
use super::{SIZE, batch, ends, records, study, summary, test, waves};
use crate::cli::{mireg, names};

pub fn tests() -> Vec<Trial> {
    vec![
        test("does_again_what_changed_and_nothing_else", does_again_what_changed_and_nothing_else),
        #[cfg(unix)]
        test("signals_leave_whole_pairs_alone", signals_leave_whole_pairs_alone),
        test("shards_are_disjoint_and_complete", shards_are_disjoint_and_complete),
        test("tasks_of_a_slurm_array_are_shards", tasks_of_a_slurm_array_are_shards),
        test("one_at_a_time_in_a_folder", one_at_a_time_in_a_folder),
    ]
}

fn does_again_what_changed_and_nothing_else() {
    let folder = study(4);
    let data = folder.path().join("in");
    let run = |more: &[&str]| {
        let words = [&["batch", "in/pairs.csv", "--out", "out", "--backend", "cpu", "--quiet"], more].concat();
        ends(folder.path(), &words);
        records(folder.path())
    };
    let changed = |before: &BTreeMap<String, SystemTime>, after: &BTreeMap<String, SystemTime>| {
        assert_eq!(after.len(), 4);
        after.keys().filter(|id| before[*id] != after[*id]).cloned().collect::<Vec<_>>()
    };
    let first = run(&[]);
    let second = run(&["--threads", "1"]);
    assert_eq!(changed(&first, &second), Vec::<String>::new());

    io::write(&data.join("m1.nii"), &waves(SIZE, 0.9)).unwrap();
    fs::remove_file(folder.path().join("out/p2/transform.tfm")).unwrap();
    fs::write(folder.path().join("out/p3/notes.txt"), "mine").unwrap();
    // A full disk leaves an empty file.
    fs::write(folder.path().join("out/p0/moved.nii.gz"), "").unwrap();
    let third = run(&[]);
    assert_eq!(changed(&second, &third), ["p0", "p1", "p2"]);

    let fourth = run(&["--", "--dof", "affine"]);
    assert_eq!(changed(&third, &fourth), ["p0", "p1", "p2", "p3"]);
    assert!(folder.path().join("out/p3/notes.txt").exists());

    // Started in the folder of the table, this is the same study.
    let words = ["batch", "pairs.csv", "--out", "../out", "--backend", "cpu", "--quiet", "--", "--dof", "affine"];
    ends(&data, &words);
    assert_eq!(changed(&fourth, &records(folder.path())), Vec::<String>::new());

    // Files of an earlier run with other options are removed if the pair fails.
    fs::write(data.join("m0.nii"), "no image").unwrap();
    run(&[]);
    assert_eq!(names(&folder.path().join("out/p0")), ["batch.json"]);
}

#[cfg(unix)]
fn signals_leave_whole_pairs_alone() {
    let folder = study(24);
    let out = folder.path().join("out");
    let mut stopped = 0;
    for least in [1, 2, 5, 12] {
        let mut run = start(folder.path());
        while (!out.exists() || records(folder.path()).len() < least) && run.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = Command::new("kill").args(["-INT", &run.id().to_string()]).stderr(Stdio::null()).status();
        let status = run.wait().unwrap();
        if status.code() != Some(130) {
            continue;
        }
        stopped += 1;
        let rows = summary(folder.path());
        let done: Vec<_> = rows.values().filter(|row| row["status"] == "done").map(|row| row["id"].clone()).collect();
        assert_eq!(done, records(folder.path()).into_keys().collect::<Vec<_>>());
        assert!(rows.values().all(|row| row["status"] == "done" || row["status"] == "waiting"));
        let rest: Vec<_> = names(&out).into_iter().filter(|name| !done.contains(name)).collect();
        assert_eq!(rest, ["batch.tsv", "index.html"]);
        fs::remove_dir_all(&out).unwrap();
    }
    assert!(stopped > 0, "every run ended before its signal");
}

fn shards_are_disjoint_and_complete() {
    let folder = study(5);
    let out = folder.path().join("out");
    fs::write(folder.path().join("in/m3.nii"), "no image").unwrap();
    batch(folder.path(), 1, &["--shard", "2/2"]);
    assert_eq!(names(&out), ["batch.2-of-2.tsv", "index.2-of-2.html", "p1", "p3"]);
    let first = records(folder.path());
    let told = batch(folder.path(), 1, &["--merge"]);
    assert!(told.contains("1 failed") && told.contains("3 waiting"), "{told}");
    assert!(first == records(folder.path()));
    ends(folder.path(), &["batch", "in/pairs.csv", "--out", "out", "--backend", "cpu", "--shard", "1/2"]);
    let all = records(folder.path());
    assert!(all.len() == 5 && first.iter().all(|(id, written)| all[id] == *written));
    batch(folder.path(), 1, &["--merge"]);
    assert_eq!(summary(folder.path()).values().filter(|row| row["status"] == "done").count(), 4);
}

fn tasks_of_a_slurm_array_are_shards() {
    let folder = study(3);
    let task = |id: &str| {
        let words = ["batch", "in/pairs.csv", "--out", "out", "--backend", "cpu", "--shard", "slurm"];
        let mut command = mireg(folder.path(), &words);
        for (name, value) in [("ID", id), ("MIN", "0"), ("MAX", "2"), ("STEP", "2"), ("COUNT", "2")] {
            command.env(format!("SLURM_ARRAY_TASK_{name}"), value);
        }
        let assert = command.assert();
        let output = assert.get_output();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert!(matches!(task("2"), (Some(0 | 1), _)));
    assert_eq!(names(&folder.path().join("out")), ["batch.2-of-2.tsv", "index.2-of-2.html", "p1"]);
    assert!(matches!(task("0"), (Some(0 | 1), _)));
    assert_eq!(records(folder.path()).len(), 3);
    let (code, told) = task("1");
    assert!(code == Some(2) && told.lines().count() == 1 && told.contains("evenly"), "{told}");
    let told = batch(folder.path(), 2, &["--shard", "slurm"]);
    assert!(told.lines().count() == 1 && told.contains("SLURM_ARRAY_TASK_ID is not set"), "{told}");
}

fn one_at_a_time_in_a_folder() {
    let folder = study(1);
    let unfinished = folder.path().join("out/.unfinished");
    fs::create_dir_all(unfinished.join(".mireg-of-a-killed-run")).unwrap();
    let lock = fs::File::create(unfinished.join("lock")).unwrap();
    lock.lock().unwrap();
    assert!(batch(folder.path(), 2, &[]).contains("another mireg batch"));
    assert!(unfinished.join(".mireg-of-a-killed-run").exists());
    drop(lock);
    ends(folder.path(), &["batch", "in/pairs.csv", "--out", "out", "--quiet"]);
    assert_eq!(names(&folder.path().join("out")), ["batch.tsv", "index.html", "p0"]);
}
