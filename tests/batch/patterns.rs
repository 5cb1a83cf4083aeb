//! Pairs from patterns of file names.

use std::fs;
use std::path::Path;

use libtest_mimic::Trial;
use mireg::io;
use tempfile::TempDir;

use super::{SIZE, ends, records, test, waves};
use crate::cli::{mireg, names};

pub fn tests() -> Vec<Trial> {
    vec![
        test("patterns_find_pairs", patterns_find_pairs),
        test("all_files_without_one_partner_are_named", all_files_without_one_partner_are_named),
    ]
}

const T1: &str = "data/sub-*/anat/*_T1w.nii";
const PET: &str = "data/sub-*/ses-*/pet/*_pet.nii";

/// A folder with small images.
fn images(names: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (n, name) in names.iter().enumerate() {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        io::write(&path, &waves(SIZE, 0.1 * n as f64)).unwrap();
    }
    folder
}

fn patterns_find_pairs() {
    let folder = images(&[
        "data/sub-01/anat/sub-01_T1w.nii",
        "data/sub-02/anat/sub-02_T1w.nii",
        "data/sub-01/ses-a/pet/sub-01_ses-a_pet.nii",
        "data/sub-01/ses-b/pet/sub-01_ses-b_pet.nii",
        "data/sub-02/ses-a/pet/sub-02_ses-a_pet.nii",
        "template[2mm].nii",
    ]);
    let run = |fixed: &str, out: &str| {
        let words = ["batch", "--fixed", fixed, "--moving", PET, "--out", out, "--backend", "cpu", "--"];
        ends(folder.path(), &[&words[..], &["--init", "header"]].concat());
        let pairs = names(&folder.path().join(out)).into_iter().filter(|name| name.starts_with("sub"));
        pairs.map(|id| (fixed_of(folder.path(), out, &id), id)).collect::<Vec<_>>()
    };
    let of = |fixed: &str, id: &str| (fixed.to_owned(), id.to_owned());
    let own = ["01", "01", "02"].map(|sub| format!("data/sub-{sub}/anat/sub-{sub}_T1w.nii"));
    let ids = ["sub-01_ses-a", "sub-01_ses-b", "sub-02_ses-a"];
    assert_eq!(run(T1, "out"), [0, 1, 2].map(|n| of(&own[n], ids[n])));
    let first = records(folder.path());
    run(T1, "out");
    assert!(first == records(folder.path()), "pairs were registered again");
    assert_eq!(run("template[2mm].nii", "there"), ids.map(|id| of("template[2mm].nii", id)));
}

/// The fixed image of a pair, as its report names it.
fn fixed_of(folder: &Path, out: &str, id: &str) -> String {
    let report = fs::read_to_string(folder.join(out).join(id).join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    report["fixed"].as_str().unwrap().to_owned()
}

fn all_files_without_one_partner_are_named() {
    let folder = images(&[
        "data/sub-01/anat/sub-01_run-1_T1w.nii",
        "data/sub-01/anat/sub-01_run-2_T1w.nii",
        "data/sub-02/anat/sub-02_T1w.nii",
        "data/sub-01/ses-a/pet/sub-01_ses-a_pet.nii",
        "data/sub-03/ses-a/pet/sub-03_ses-a_run-1_pet.nii",
        "data/sub-03/ses-a/pet/sub-03_ses-a_run-2_pet.nii",
    ]);
    let told = |words: &[&str]| {
        let assert = mireg(folder.path(), &[&["batch", "--out", "out"], words].concat()).assert().code(2);
        String::from_utf8_lossy(&assert.get_output().stderr).into_owned()
    };
    let all = told(&["--fixed", T1, "--moving", PET]);
    for words in [
        &["moving", "sub-01_ses-a_pet", "several", "run-1_T1w.nii", "run-2_T1w.nii"][..],
        &["moving", "sub-03_ses-a_run-1", "no partner"],
        &["moving", "sub-03_ses-a_run-2", "no partner"],
        &["fixed", "sub-02_T1w", "no partner"],
        &["sub-03_ses-a has several", "run-1_pet.nii", "run-2_pet.nii"],
        &["nothing was registered", "5 faults"],
    ] {
        assert!(all.lines().any(|line| words.iter().all(|word| line.contains(word))), "{words:?} is not in\n{all}");
    }
    assert_eq!(all.lines().count(), 6, "{all}");
    for (words, says) in [
        (&["--fixed", "none/*.nii", "--moving", PET][..], "--fixed none/*.nii matches no file"),
        (&["--fixed", "data/**x", "--moving", PET], "--fixed data/**x is no pattern"),
        (&["--fixed", T1], "--moving"),
        (&["pairs.csv", "--fixed", T1, "--moving", PET], "TABLE"),
        (&[], "TABLE"),
    ] {
        let all = told(words);
        assert!(all.contains(says), "{says} is not in\n{all}");
    }
    assert!(!folder.path().join("out").exists());
}
