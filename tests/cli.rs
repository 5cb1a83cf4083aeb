//! The command line: what it prints, what it writes, and which input it refuses.

mod apply;
mod bad_input;
mod bench;
mod deform;
mod evaluate;
mod field;
#[cfg(unix)]
mod interrupt;
mod mesh;
mod metric;
mod points;
mod template;
mod transforms;
mod volumes;
mod write;

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use assert_cmd::Command;
use glam::DVec3;
use libtest_mimic::Trial;
use mireg::io::transform::Grids;
use mireg::optimizer::OptimizerKind;
use mireg::{Geometry, PixelType, Volume, io};
use mireg_cli::demo::Pair;
use strum::VariantArray;
use tempfile::TempDir;

use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    let test = |name: &str, run: fn()| trial(format!("cli::{name}"), run);
    let no_driver = !mireg::backend::devices().iter().any(|device| device.backend == "cuda" && device.available);
    let mut tests = vec![
        test("help_and_version", help_and_version),
        test("help_fits_100_columns", help_fits_100_columns),
        test("a_closed_pipe_is_no_fault", a_closed_pipe_is_no_fault),
        #[cfg(target_os = "linux")]
        test("an_answer_that_cannot_be_written_is_an_error", an_answer_that_cannot_be_written_is_an_error),
        #[cfg(target_os = "linux")]
        test("the_driver_is_not_linked", the_driver_is_not_linked),
        test("devices_lists_every_backend", devices_lists_every_backend),
        test("register_writes_its_files", register_writes_its_files),
        test("every_metric_registers", every_metric_registers),
        test("every_optimizer_registers", every_optimizer_registers),
        test("quiet_prints_nothing", quiet_prints_nothing),
        test("threads_do_not_change_the_result", threads_do_not_change_the_result),
        test("a_second_run_replaces_the_first", a_second_run_replaces_the_first),
        test("an_input_is_never_replaced", an_input_is_never_replaced),
        test("every_interpolation_and_1024_bins_register", every_interpolation_and_1024_bins_register),
        test("cuda_without_a_driver", cuda_without_a_driver).with_ignored_flag(!no_driver),
        test("auto_without_a_driver", auto_without_a_driver).with_ignored_flag(!no_driver),
    ];
    tests.extend(apply::tests());
    tests.extend(bad_input::tests());
    tests.extend(bench::tests());
    tests.extend(template::tests());
    tests.extend(transforms::tests());
    tests.extend(volumes::tests());
    tests.extend(write::tests());
    tests.extend(evaluate::tests());
    tests.extend(field::tests());
    tests.extend(points::tests());
    tests.extend(mesh::tests());
    tests.extend(metric::tests());
    tests.extend(deform::tests());
    #[cfg(unix)]
    tests.extend(interrupt::tests());
    tests
}

/// The binary, started in `folder`.
pub fn mireg(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mireg"));
    command.current_dir(folder).args(arguments).env_remove("RUST_BACKTRACE");
    command
}

/// A folder with a small CT, `ct.nii.gz`, and a small MR of the same head, `mr.nii.gz`.
pub fn patient() -> (TempDir, &'static Pair) {
    const NAMES: [&str; 2] = ["ct.nii.gz", "mr.nii.gz"];
    static PATIENT: LazyLock<(Pair, [Vec<u8>; 2])> = LazyLock::new(|| {
        let (pair, folder) = (Pair::new(3, 5.0), tempfile::tempdir().unwrap());
        let paths = NAMES.map(|name| folder.path().join(name));
        io::write(&paths[0], &pair.ct).unwrap();
        io::write(&paths[1], &pair.mr).unwrap();
        (pair, paths.map(|path| fs::read(path).unwrap()))
    });
    let (pair, files) = &*PATIENT;
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in NAMES.iter().zip(files) {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    (folder, pair)
}

/// A small image whose voxels all differ from their neighbours.
pub fn ramp(origin: DVec3) -> Volume {
    let geometry = Geometry::axis_aligned([16, 16, 16], DVec3::splat(2.0), origin);
    let voxels = (0..geometry.voxels()).map(|n| (n * 31 % 997) as f32).collect();
    Volume { geometry, voxels, pixel: PixelType::F32 }
}

pub fn stdout(command: &mut Command) -> String {
    String::from_utf8(command.assert().success().get_output().stdout.clone()).unwrap()
}

const REGISTER: [&str; 5] = ["register", "ct.nii.gz", "mr.nii.gz", "--out", "out"];

const COMMANDS: [&str; 14] = [
    "register", "deform", "mesh", "batch", "apply", "points", "metric", "evaluate", "convert", "compose", "invert",
    "demo", "devices", "bench",
];

fn help_and_version() {
    let here = Path::new(".");
    assert!(stdout(&mut mireg(here, &["--version"])).starts_with("mireg 0."));
    for command in COMMANDS {
        assert!(stdout(&mut mireg(here, &["--help"])).contains(command), "{command}");
        assert!(stdout(&mut mireg(here, &[command, "--help"])).contains("Usage: mireg"), "{command}");
    }
    for command in
        [&["--help"][..], &["register", "--help"], &["deform", "--help"], &["mesh", "--help"], &["batch", "--help"]]
    {
        assert!(stdout(&mut mireg(here, command)).contains("\n  130, 143  "), "{command:?}");
    }
    let help = stdout(&mut mireg(here, &["register", "--help"]));
    for word in [
        "--dof",
        "--optimizer",
        "--metric",
        "--bins",
        "2 to 1024",
        "--interpolation",
        "--fixed-mask",
        "--init",
        "--levels",
        "Exit codes",
        "--dof affine",
        "--histogram",
        "--backend",
        "--threads",
        "--quiet",
        "[default: mattes;",
        "Examples",
    ] {
        assert!(help.contains(word), "{word} is not in\n{help}");
    }
    mireg(here, &[]).assert().code(2);
}

fn help_fits_100_columns() {
    for command in COMMANDS {
        let help = stdout(&mut mireg(Path::new("."), &[command, "--help"]));
        let wide: Vec<_> = help.lines().filter(|line| line.chars().count() > 100).collect();
        assert!(wide.is_empty(), "{command}: {wide:#?}");
    }
}

fn a_closed_pipe_is_no_fault() {
    use std::process::{Command, Stdio};
    for argument in ["--help", "devices"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mireg"));
        let mut child = command.arg(argument).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{argument}: {output:?}");
    }
}

#[cfg(target_os = "linux")]
fn an_answer_that_cannot_be_written_is_an_error() {
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_mireg")).arg("devices").stdout(full).output().unwrap();
    let says = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && says.starts_with("mireg: standard output: No space"), "{says}");
}

/// Checks that the program starts without the driver's library, which is loaded only when it is needed.
#[cfg(target_os = "linux")]
fn the_driver_is_not_linked() {
    let libraries = stdout(Command::new("ldd").arg(env!("CARGO_BIN_EXE_mireg")));
    assert!(libraries.contains("libc.so") && !libraries.contains("libcuda"), "{libraries}");
}

fn devices_lists_every_backend() {
    let text = stdout(&mut mireg(Path::new("."), &["devices"]));
    let names: Vec<_> = text.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, ["cpu", "cuda", "emulated"]);
}

fn register_writes_its_files() {
    let (folder, pair) = patient();
    let assert = mireg(folder.path(), &REGISTER).args(["--backend", "cpu", "--bins", "32"]).assert().success();
    let shown = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    for word in ["degrees", "mm", "Mattes MI", "overlap", "out"] {
        assert!(shown.contains(word), "{word} is not in\n{shown}");
    }
    let told = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(told.contains("level 1 of "), "{told}");

    let out = folder.path().join("out");
    let found = io::transform::read_linear(&out.join("transform.tfm"), None, &Grids::default()).unwrap().to_affine();
    let error = pair.misplacement(&found);
    assert!(error.mean_mm < 1.5, "{error:?} with voxels of 4.5 x 4.5 x 12.5 mm");
    assert_eq!(io::read(&out.join("moved.nii.gz")).unwrap().geometry.size, pair.ct.geometry.size);
    check_report(&fs::read_to_string(out.join("report.json")).unwrap());
    assert_eq!(names(&out), ["moved.nii.gz", "report.html", "report.json", "transform.tfm"]);
}

fn every_metric_registers() {
    let (folder, pair) = patient();
    for (metric, name) in [
        ("mi", "MI"),
        ("ecc", "ECC"),
        ("correlation-ratio", "eta2(M|F)"),
        ("mattes", "Mattes MI"),
        ("mattes-symmetric", "symmetric Mattes MI"),
        ("viola", "Viola MI"),
    ] {
        let arguments = ["--backend", "cpu", "--bins", "32", "--metric", metric];
        let shown = stdout(mireg(folder.path(), &REGISTER).args(arguments));
        let starts = ["0.", "-0."].map(|zero| format!("{name} {zero}"));
        assert!(starts.iter().any(|start| shown.contains(start)), "{name} is not in\n{shown}");
        let found = io::transform::read_linear(&folder.path().join("out/transform.tfm"), None, &Grids::default())
            .unwrap()
            .to_affine();
        let error = pair.misplacement(&found);
        assert!(error.mean_mm < 3.0, "{metric}: {error:?} with voxels of 4.5 x 4.5 x 12.5 mm");
        let report = fs::read_to_string(folder.path().join("out/report.json")).unwrap();
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["metric"], metric);
    }
}

/// Each optimizer also gives the same bytes with any number of threads.
fn every_optimizer_registers() {
    let (folder, pair) = patient();
    for kind in OptimizerKind::VARIANTS {
        let name = kind.to_string();
        let run = |threads: &str| {
            let metric = if kind.needs_gradient() { "mattes" } else { "nmi" };
            let arguments =
                ["--backend", "cpu", "--bins", "32", "--metric", metric, "--optimizer", &name, "--threads", threads];
            mireg(folder.path(), &REGISTER).args(arguments).assert().success();
            ["transform.tfm", "report.json"]
                .map(|file| fs::read_to_string(folder.path().join("out").join(file)).unwrap())
        };
        let ([transform, report], [again, _]) = (run("1"), run("3"));
        assert_eq!(transform, again, "{name}");
        let found = io::transform::read_linear(&folder.path().join("out/transform.tfm"), None, &Grids::default())
            .unwrap()
            .to_affine();
        let error = pair.misplacement(&found);
        assert!(error.mean_mm < 1.5, "{name}: {error:?} with voxels of 4.5 x 4.5 x 12.5 mm");
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["optimizer"], *name);
        assert!(report["levels"].as_array().unwrap().iter().all(|level| level["stopped"] == "converged"), "{report}");
    }
}

fn check_report(text: &str) {
    let report: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(report["command"][1], "register");
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!((&report["backend"], &report["bins"], &report["metric"]), (&"cpu".into(), &32.into(), &"mattes".into()));
    assert!(report["device"].is_string() && report["started"]["from"].is_string());
    assert!(report["final"]["value"].as_f64() > report["start"]["value"].as_f64(), "{text}");
    assert!(report["final"]["joint_entropy"].as_f64() > Some(0.0), "{text}");
    assert!(report["overlap_fraction"].as_f64().is_some_and(|part| part > 0.0 && part <= 1.0), "{text}");
    assert!(report["levels"].as_array().unwrap().iter().all(|level| level["evaluations"].as_u64() > Some(0)), "{text}");
    assert_eq!(report["warnings"], serde_json::json!([]));
    let seconds = |part: &str| report["seconds"][part].as_f64().unwrap_or_else(|| panic!("no seconds.{part}"));
    let register = seconds("upload") + seconds("pyramid") + seconds("optimise");
    assert!((seconds("register") - register).abs() < 1e-9);
    let all = register + seconds("read") + seconds("resample") + seconds("write");
    assert!(seconds("total") >= all, "{} < {all}", seconds("total"));
}

/// Returns the sorted names of the files in a folder.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let mut names: Vec<_> = entries.collect();
    names.sort();
    names
}

fn quiet_prints_nothing() {
    let (folder, _) = patient();
    mireg(folder.path(), &REGISTER).arg("--quiet").assert().success().stdout("").stderr("");
}

fn threads_do_not_change_the_result() {
    let (folder, _) = patient();
    let run = |threads: &str| {
        let arguments =
            ["register", "ct.nii.gz", "mr.nii.gz", "--backend", "cpu", "--threads", threads, "--out", threads];
        mireg(folder.path(), &arguments).assert().success();
        ["transform.tfm", "moved.nii.gz"].map(|name| fs::read(folder.path().join(threads).join(name)).unwrap())
    };
    assert!(run("1") == run("2"));
}

fn a_second_run_replaces_the_first() {
    let (folder, _) = patient();
    let out = folder.path().join("out");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("transform.tfm"), "old").unwrap();
    fs::write(out.join("mine.txt"), "stays").unwrap();
    mireg(folder.path(), &REGISTER).assert().success();
    assert_eq!(names(&out), ["mine.txt", "moved.nii.gz", "report.html", "report.json", "transform.tfm"]);
    assert!(fs::read_to_string(out.join("transform.tfm")).unwrap().starts_with("#Insight"));
}

fn an_input_is_never_replaced() {
    let (folder, pair) = patient();
    let out = folder.path().join("out");
    fs::create_dir(&out).unwrap();
    io::write(&out.join("moved.nii.gz"), &pair.mr).unwrap();
    let before = fs::read(out.join("moved.nii.gz")).unwrap();
    let arguments = ["register", "ct.nii.gz", "out/moved.nii.gz", "--out", "out"];
    mireg(folder.path(), &arguments).assert().code(2);
    assert!(fs::read(out.join("moved.nii.gz")).unwrap() == before);
}

fn every_interpolation_and_1024_bins_register() {
    let (folder, pair) = patient();
    io::write(&folder.path().join("mask.nii"), &Volume { voxels: vec![1.0; pair.ct.voxels.len()], ..pair.ct.clone() })
        .unwrap();
    let run = |more: &str| {
        let more: Vec<&str> = more.split(' ').collect();
        mireg(folder.path(), &[&REGISTER, &more[..]].concat()).assert().success();
        fs::read_to_string(folder.path().join("out/report.json")).unwrap()
    };
    for interpolation in ["nearest", "catmull-rom", "b-spline", "partial-volume"] {
        let report = run(&format!("--interpolation {interpolation} --fixed-mask mask.nii"));
        assert!(report.contains(&format!("\"interpolation\": \"{interpolation}\"")), "{report}");
    }
    let report = run("--bins 1024");
    assert!(report.contains("\"bins\": 1024") && report.contains("\"histogram\""), "{report}");
}

fn cuda_without_a_driver() {
    let (folder, _) = patient();
    let assert = mireg(folder.path(), &REGISTER).args(["--backend", "cuda", "--quiet"]).assert().code(2);
    let told = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(told.starts_with("mireg: ") && told.lines().count() == 1, "{told}");
    assert_eq!(names(folder.path()), ["ct.nii.gz", "mr.nii.gz"]);
}

fn auto_without_a_driver() {
    let (folder, _) = patient();
    let assert = mireg(folder.path(), &REGISTER).assert().success();
    let told = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(told.lines().any(|line| line.contains("CPU")), "{told}");
}
