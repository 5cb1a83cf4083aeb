//! Ctrl-C and SIGTERM at different moments of a run: no partial output is left behind.

use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use glam::DVec3;
use libtest_mimic::Trial;
use mireg::{Geometry, PixelType, Volume, io};
use tempfile::TempDir;

use crate::cli::names;
use crate::support::{random, trial};

/// Moments at which each signal is sent.
const MOMENTS: usize = 10;
/// The name and the number of each signal.
const SIGNALS: [(&str, i32); 2] = [("INT", 2), ("TERM", 15)];

pub fn tests() -> Vec<Trial> {
    let test = |name: &str, command: &'static [&'static str], size| {
        trial(format!("cli::signals_leave_nothing_of_{name}"), move || leaves_nothing(command, size))
    };
    vec![
        test("register", &["register", "a.nii.gz", "b.nii.gz"], [40, 36, 32]),
        test("deform", &["deform", "a.nii.gz", "b.nii.gz", "--linear", "none", "--iterations", "20"], [26, 24, 22]),
        test("mesh", &["mesh", "a.nii.gz", "b.nii.gz", "--start", "none.tfm", "--iterations", "8"], [128, 96, 1]),
    ]
}

/// Two images of waves and a transform that does nothing.
fn scene(size: [usize; 3]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, shift: f64| {
        let geometry = Geometry::axis_aligned(size, DVec3::ONE, DVec3::ZERO);
        let wave = |n: usize| {
            let [x, y, z] = [n % size[0], n / size[0] % size[1], n / size[0] / size[1]].map(|n| n as f64 + shift);
            (200.0 + 60.0 * ((x / 3.1).sin() * (y / 4.3).cos() + (z / 3.7 + x / 9.0).sin() + (y / 7.9).sin())) as f32
        };
        let voxels = (0..geometry.voxels()).map(wave).collect();
        io::write(&folder.path().join(name), &Volume { geometry, voxels, pixel: PixelType::F32 }).unwrap();
    };
    write("a.nii.gz", 0.0);
    write("b.nii.gz", 0.7);
    let none = "#Insight Transform File V1.0\n#Transform 0\nTransform: AffineTransform_double_3_3\n\
        Parameters: 1 0 0 0 1 0 0 0 1 0 0 0\nFixedParameters: 0 0 0\n";
    std::fs::write(folder.path().join("none.tfm"), none).unwrap();
    folder
}

fn leaves_nothing(command: &[&str], size: [usize; 3]) {
    let folder = scene(size);
    let inputs = names(folder.path());
    let clock = Instant::now();
    let (status, text) = run(folder.path(), command, None);
    assert!(matches!(status.code(), Some(0 | 1)), "{status}: {text}");
    let whole = clock.elapsed();
    let done = names(&folder.path().join("out"));
    let mut random = random(whole.subsec_nanos().into());
    let mut stopped = 0;
    for (name, number) in (0..MOMENTS).flat_map(|_| SIGNALS) {
        std::fs::remove_dir_all(folder.path().join("out")).ok();
        let after = whole.mul_f32(random());
        let (status, text) = run(folder.path(), command, Some((name, after)));
        let says = format!("SIG{name} after {after:.3?} of {whole:.3?}: {status}: {text}");
        match status.code() {
            Some(0 | 1) => assert_eq!(names(&folder.path().join("out")), done, "{says}"),
            // Before the program has installed its handlers, the signal kills the process.
            code => {
                assert!(code == Some(128 + number) || signal_of(status) == Some(number), "{says}");
                assert_eq!(names(folder.path()), inputs, "{says}");
                stopped += 1;
            }
        }
    }
    assert!(stopped > 0, "every run ended before its signal");
}

/// Runs a command, sends it a signal after a while, and returns how it ended and what it printed.
fn run(folder: &Path, command: &[&str], signal: Option<(&str, Duration)>) -> (ExitStatus, String) {
    let mut process = Command::new(env!("CARGO_BIN_EXE_mireg"));
    process.current_dir(folder).args(command).args(["--out", "out", "--quiet", "--backend", "cpu"]);
    let process = process.stderr(Stdio::piped()).spawn().unwrap();
    if let Some((name, after)) = signal {
        std::thread::sleep(after);
        // The process may have ended already.
        let _ = Command::new("sh").args(["-c", &format!("kill -{name} {} 2>/dev/null", process.id())]).status();
    }
    let output = process.wait_with_output().unwrap();
    (output.status, String::from_utf8_lossy(&output.stderr).into_owned())
}

fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}
