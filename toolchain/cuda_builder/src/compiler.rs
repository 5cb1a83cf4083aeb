//! Finds a device compiler: a rustc that is installed together with the source of the standard library, from which
//! `core` is built for the GPU.

use std::env::{self, consts::EXE_SUFFIX};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The first release whose output has been tested on a GPU.
const OLDEST: (u32, u32) = (1, 95);

/// A rustc that can compile kernels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Compiler {
    pub rustc: PathBuf,
    /// The output of `rustc --version`.
    pub version: String,
}

/// Where to look, in this order.
pub(crate) struct Places {
    /// The value of `CUDA_BUILDER_RUSTC`: a rustc, or `none` to use no compiler.
    pub asked: Option<OsString>,
    /// The rustc of the current build.
    pub active: Option<PathBuf>,
    /// The folder with rustup's toolchains.
    pub toolchains: Option<PathBuf>,
    /// The prefix of a rustc that the system's package manager installed.
    pub system: PathBuf,
}

impl Places {
    /// Returns the places on this machine, from the environment of a build script.
    pub fn here() -> Self {
        let home = || env::home_dir().map(|home| home.join(".rustup"));
        let rustup = env::var_os("RUSTUP_HOME").map(PathBuf::from).or_else(home);
        Self {
            asked: env::var_os("CUDA_BUILDER_RUSTC").filter(|asked| !asked.is_empty()),
            active: env::var_os("RUSTC").map(PathBuf::from),
            toolchains: rustup.map(|rustup| rustup.join("toolchains")),
            system: PathBuf::from("/usr"),
        }
    }
}

/// Runs a rustc with arguments and returns what it prints.
type Ask<'a> = &'a dyn Fn(&Path, &[&str]) -> Option<String>;

/// Returns the first device compiler in `places`. Returns an error of one line if `CUDA_BUILDER_RUSTC` names something
/// that is not a device compiler.
pub(crate) fn find(places: &Places, ask: Ask) -> Result<Option<Compiler>, String> {
    match &places.asked {
        Some(asked) if asked == "none" => Ok(None),
        Some(asked) => asked_for(Path::new(asked), ask).map(Some),
        None => {
            let active = places.active.as_deref().and_then(|rustc| sysroot(rustc, ask));
            let installed = places.toolchains.as_deref().map(folders).unwrap_or_default();
            let mut sysroots = active.into_iter().chain(installed).chain([places.system.clone()]);
            Ok(sysroots.find_map(|sysroot| {
                let compiler = compiler(&sysroot, ask)?;
                (release(&compiler.version)? >= OLDEST).then_some(compiler)
            }))
        }
    }
}

/// Runs `rustc` and returns what it prints, without the line end.
pub(crate) fn ask(rustc: &Path, arguments: &[&str]) -> Option<String> {
    // The outer cargo's library path would make a rustc of the same version load, and report, the outer toolchain.
    let output = Command::new(rustc).args(arguments).env_remove("LD_LIBRARY_PATH").output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn asked_for(rustc: &Path, ask: Ask) -> Result<Compiler, String> {
    let asked = format!("CUDA_BUILDER_RUSTC={}", rustc.display());
    let sysroot = sysroot(rustc, ask).ok_or_else(|| format!("{asked} is not a rustc that runs"))?;
    compiler(&sysroot, ask).ok_or_else(|| format!("{asked} has no library source in {}", sysroot.display()))
}

fn sysroot(rustc: &Path, ask: Ask) -> Option<PathBuf> {
    ask(rustc, &["--print", "sysroot"]).map(PathBuf::from)
}

/// Returns the compiler in this sysroot, if the source of the library is there.
fn compiler(sysroot: &Path, ask: Ask) -> Option<Compiler> {
    if !has_source(sysroot) {
        return None;
    }
    let rustc = sysroot.join("bin").join(format!("rustc{EXE_SUFFIX}"));
    let version = ask(&rustc, &["--version"])?;
    Some(Compiler { rustc, version })
}

/// Returns whether the source of the library is in this sysroot. Checks for the same file as cargo when it builds
/// `core`.
fn has_source(sysroot: &Path) -> bool {
    sysroot.join("lib/rustlib/src/rust/library/Cargo.lock").is_file()
}

fn folders(of: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<_> = std::fs::read_dir(of).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    folders.sort();
    folders
}

/// Parses the major and minor version in `rustc 1.96.0 (...)`.
fn release(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.strip_prefix("rustc ")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A folder of toolchains whose rustc are text files holding their version.
    struct Machine(tempfile::TempDir);

    impl Machine {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn toolchain(&self, name: &str, version: &str, source: bool) -> PathBuf {
            let sysroot = self.0.path().join(name);
            fs::create_dir_all(sysroot.join("bin")).unwrap();
            let rustc = sysroot.join("bin").join(format!("rustc{EXE_SUFFIX}"));
            fs::write(&rustc, format!("rustc {version}.0 (fake)")).unwrap();
            if source {
                let library = sysroot.join("lib/rustlib/src/rust/library");
                fs::create_dir_all(&library).unwrap();
                fs::write(library.join("Cargo.lock"), "").unwrap();
            }
            rustc
        }

        fn places(&self, active: &Path) -> Places {
            let root = self.0.path();
            let toolchains = Some(root.join("rustup"));
            Places { asked: None, active: Some(active.to_owned()), toolchains, system: root.join("usr") }
        }
    }

    fn fake(rustc: &Path, arguments: &[&str]) -> Option<String> {
        match arguments {
            ["--version"] => fs::read_to_string(rustc).ok(),
            _ => Some(rustc.parent()?.parent()?.to_str()?.to_owned()),
        }
    }

    fn found(places: &Places) -> Option<PathBuf> {
        find(places, &fake).unwrap().map(|compiler| compiler.rustc)
    }

    #[test]
    fn each_place_yields_to_the_ones_before_it() {
        let machine = Machine::new();
        let active = machine.toolchain("rustup/b", "1.95", false);
        let mut places = machine.places(&active);
        assert_eq!(found(&places), None);
        let system = machine.toolchain("usr", "1.96", true);
        assert_eq!(found(&places).as_ref(), Some(&system));
        let other = machine.toolchain("rustup/c", "1.97", true);
        assert_eq!(found(&places), Some(other));
        let first = machine.toolchain("rustup/a", "1.97", true);
        assert_eq!(found(&places), Some(first));
        machine.toolchain("rustup/b", "1.95", true);
        assert_eq!(found(&places), Some(active));
        places.asked = Some(system.clone().into());
        assert_eq!(found(&places), Some(system));
        places.asked = Some("none".into());
        assert_eq!(found(&places), None);
    }

    #[test]
    fn a_rustc_that_is_too_old_is_passed_over() {
        let machine = Machine::new();
        let active = machine.toolchain("rustup/old", "1.94", true);
        let system = machine.toolchain("usr", "2.0", true);
        assert_eq!(found(&machine.places(&active)), Some(system));
    }

    #[test]
    fn a_wrong_wish_is_an_error() {
        let machine = Machine::new();
        let bare = machine.toolchain("rustup/bare", "1.96", false);
        machine.toolchain("usr", "1.96", true);
        let places = Places { asked: Some(bare.clone().into()), ..machine.places(&bare) };
        assert!(find(&places, &fake).unwrap_err().contains("no library source"));
        let error = find(&places, &|_, _| None).unwrap_err();
        assert!(error.contains("not a rustc that runs") && error.lines().count() == 1, "{error}");
    }
}
