//! `--write`: the requested files are written, with the same bytes as without the option, and no others.

use std::fs;
use std::path::Path;
#[cfg(unix)]
use std::process::Command;

use libtest_mimic::Trial;
use mireg::backend::BackendKind;
use mireg::registration::Options;
use mireg::{Engine, Silent, io};

use super::{REGISTER, deform, mesh, mireg, names, patient, stdout};
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    let test = |name: &str, run: fn()| trial(format!("cli::write_{name}"), run);
    vec![
        test("chooses_files_of_register", chooses_files_of_register),
        test("chooses_files_of_deform", chooses_files_of_deform),
        test("chooses_files_of_mesh", chooses_files_of_mesh),
        test("refuses_other_names", refuses_other_names),
        test("resamples_only_where_asked", resamples_only_where_asked),
        #[cfg(unix)]
        test("names_the_file_that_does_not_fit", names_the_file_that_does_not_fit),
    ]
}

/// Runs a command without `--write`, and once with each list of outputs. Asserts that exactly these files are written,
/// with the same bytes, and that the summary names no other file.
fn chooses(folder: &Path, command: &[&str], choices: &[(&str, &[&str])]) {
    stdout(&mut mireg(folder, command));
    let all = names(&folder.join("out"));
    for &(write, files) in choices {
        let elsewhere: Vec<_> = command.iter().map(|&word| if word == "out" { "some" } else { word }).collect();
        let shown = stdout(mireg(folder, &elsewhere).args(["--write", write]));
        assert_eq!(names(&folder.join("some")), files, "{write}");
        let listed = shown.lines().find(|line| line.starts_with("files")).unwrap();
        for name in &all {
            let (wanted, told) = (files.contains(&name.as_str()), listed.contains(&format!(" {name}")));
            assert_eq!(wanted, told, "{write}: {listed}");
            if wanted && !name.starts_with("report") {
                let [ours, whole] = ["some", "out"].map(|out| fs::read(folder.join(out).join(name)).unwrap());
                assert!(ours == whole, "{write}: {name} is different");
            }
        }
        fs::remove_dir_all(folder.join("some")).unwrap();
    }
}

/// The temporary file, in which it is written, is gone when the error is read.
#[cfg(unix)]
fn names_the_file_that_does_not_fit() {
    let register = [&REGISTER[..], &["--backend", "cpu", "--write", "moved"]].concat();
    names_in_its_place(&register, "out", "moved.nii.gz");
    names_in_its_place(&["demo", "--backend", "cpu"], "mireg-demo", "ct.nii.gz");
}

/// Runs a command that may write 8 blocks to a file, and asserts that the error names `file` in the folder `out`.
#[cfg(unix)]
fn names_in_its_place(command: &[&str], out: &str, file: &str) {
    let (folder, _) = patient();
    let before = names(folder.path());
    // Limits the size of files, in blocks of 512 bytes or, in some shells, of 1024 bytes.
    let limited = "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\"";
    let mut run = Command::new("sh");
    run.current_dir(folder.path()).args(["-c", limited, env!("CARGO_BIN_EXE_mireg")]).args(command);
    let output = run.arg("--quiet").output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{told}");
    let line = format!("mireg: {}: cannot be written (file too large)", Path::new(out).join(file).display());
    assert!(told.starts_with(&line) && told.lines().count() == 1, "{told}");
    assert_eq!(names(folder.path()), before);
}

fn chooses_files_of_register() {
    let (folder, _) = patient();
    chooses(
        folder.path(),
        &[&REGISTER[..], &["--backend", "cpu"]].concat(),
        &[
            ("transform", &["transform.tfm"]),
            ("moved", &["moved.nii.gz"]),
            ("report,transform", &["report.html", "report.json", "transform.tfm"]),
            ("transform,json", &["report.json", "transform.tfm"]),
        ],
    );
}

fn chooses_files_of_deform() {
    let folder = deform::volumes();
    chooses(
        folder.path(),
        &deform::DEFORM,
        &[
            ("transform", &["field.nii.gz", "start.tfm"]),
            ("inverse,jacobian", &["inverse.nii.gz", "jacobian.nii.gz"]),
            ("report", &["report.html", "report.json"]),
            ("moved", &["moved.nii.gz"]),
        ],
    );
}

fn chooses_files_of_mesh() {
    let folder = mesh::pictures();
    chooses(
        folder.path(),
        &mesh::MESH,
        &[("transform", &["mesh.json", "mesh.vtk", "transform.tfm"]), ("field,moved", &["field.mha", "moved.png"])],
    );
}

fn refuses_other_names() {
    for (command, name) in [("register", "inverse"), ("deform", "field"), ("mesh", "jacobian"), ("register", "")] {
        let run = mireg(Path::new("."), &[command, "a.nii", "b.nii", "--out", "out", "--write", name]).assert().code(2);
        let told = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert!(told.lines().count() == 1 && told.contains("--write") && told.contains("transform"), "{told}");
    }
}

fn resamples_only_where_asked() {
    let (folder, _) = patient();
    let [ct, mr] = ["ct.nii.gz", "mr.nii.gz"].map(|name| io::read(&folder.path().join(name)).unwrap());
    let engine = Engine::open(BackendKind::Cpu, 2, &Silent).unwrap();
    let [with, without] = [true, false].map(|moved| {
        let options = Options { moved, ..Options::default() };
        engine.register(&ct, &mr, &options, &Silent).unwrap()
    });
    assert!(with.moved.is_some() && without.moved.is_none());
    assert_eq!((with.transform, with.end), (without.transform, without.end));
}
