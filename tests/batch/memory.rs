//! Checks that the memory of a batch does not grow with the number of pairs.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::study;

/// Returns the peak memory, in kB, of a batch of this many pairs.
fn most(folder: &Path, pairs: usize) -> u64 {
    let table = fs::read_to_string(folder.join("in/pairs.csv")).unwrap();
    let some = table.lines().take(1 + pairs).map(|line| format!("{line}\n")).collect::<String>();
    fs::write(folder.join("in/some.csv"), some).unwrap();
    let mut run = Command::new(env!("CARGO_BIN_EXE_mireg"))
        .current_dir(folder)
        .args(["batch", "in/some.csv", "--out", &format!("out{pairs}"), "--backend", "cpu", "--jobs", "2", "-q"])
        .args(["--", "--dof", "translation", "--init", "header", "--levels", "4", "--write", "moved"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut most = 0;
    while run.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", run.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        most = most.max(line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(0));
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(fs::read_dir(folder.join(format!("out{pairs}"))).unwrap().count(), pairs + 2);
    most
}

pub fn many_pairs_take_no_more_of_it_than_few() {
    let folder = study(200);
    let [few, many] = [20, 200].map(|pairs| most(folder.path(), pairs));
    assert!(few > 0 && many < few + 10_000, "{few} kB for 20 pairs, {many} kB for 200");
}
