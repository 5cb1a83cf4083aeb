//! Runs cargo to compile a crate for the device.

use crate::compiler::Compiler;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One compilation of a device crate.
pub(crate) struct Job<'a> {
    /// The package to compile.
    pub name: &'a str,
    /// Its folder.
    pub root: &'a Path,
    /// The folder of `Cargo.lock`.
    pub workspace: &'a Path,
    /// Where cargo builds it.
    pub target_dir: &'a Path,
    pub compiler: &'a Compiler,
    /// The rustc flags that influence the generated code, for this crate and its dependencies.
    pub flags: &'a [String],
    /// More arguments for cargo.
    pub arguments: &'a [String],
    /// Part of file names that keeps the outputs of different flags apart.
    pub tag: &'a str,
}

/// Why there is no PTX.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// In one line.
    pub reason: String,
    /// All that cargo and rustc printed.
    pub messages: String,
}

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Self { reason, messages: String::new() }
    }
}

/// The target of every compilation.
pub(crate) const TARGET: &str = "nvptx64-nvidia-cuda";

/// The profile. It is given here and not in a manifest, so that a workspace's own profile does not matter.
const PROFILE: [(&str, &str); 9] = [
    ("CODEGEN_UNITS", "1"),
    ("DEBUG", "false"),
    ("DEBUG_ASSERTIONS", "false"),
    ("INCREMENTAL", "false"),
    ("LTO", "fat"),
    ("OPT_LEVEL", "3"),
    ("OVERFLOW_CHECKS", "false"),
    ("PANIC", "abort"),
    ("STRIP", "none"),
];

/// Prefixes of the environment variables with the user's settings, which are kept. All other variables of the outer
/// cargo are removed.
const KEPT: [&str; 6] =
    ["CARGO_HOME", "CARGO_MAKEFLAGS", "CARGO_NET_", "CARGO_HTTP_", "CARGO_REGISTRIES_", "CARGO_REGISTRY_"];

/// Returns a cargo command without the environment variables that the outer cargo, rustup or clippy set for their own
/// build.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        if is_outer(&name) {
            cargo.env_remove(&*name);
        }
    }
    cargo
}

fn is_outer(name: &str) -> bool {
    const OTHERS: [&str; 10] = [
        "CLIPPY_ARGS",
        "DYLD_FALLBACK_LIBRARY_PATH",
        "LD_LIBRARY_PATH",
        "RUSTC",
        "RUSTC_LINKER",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTC_WRAPPER",
        "RUSTDOC",
        "RUSTFLAGS",
        "RUSTUP_TOOLCHAIN",
    ];
    OTHERS.contains(&name) || name.starts_with("CARGO_") && !KEPT.iter().any(|kept| name.starts_with(kept))
}

/// Compiles the crate and returns the assembly, which is PTX.
pub(crate) fn compile(job: &Job) -> Result<String, Failure> {
    let mut cargo = cargo();
    cargo.current_dir(job.root).args(["rustc", "--package", job.name, "--lib", "--crate-type", "cdylib", "--release"]);
    // Cargo detects changes by content, as the hash in the header does.
    cargo.args(["--target", TARGET, "-Zbuild-std=core", "-Zchecksum-freshness"]).args(job.arguments);
    cargo.arg("--target-dir").arg(job.target_dir);
    // The PTX is the assembly; there is nothing to link.
    cargo.args(["--", "--emit=asm", "-Zno-link"]).arg(format!("-Cextra-filename=-{}", job.tag));
    let flags: Vec<_> = job.flags.iter().cloned().chain(remapped(job)).collect();
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    cargo.envs(PROFILE.map(|(key, value)| (format!("CARGO_PROFILE_RELEASE_{key}"), value)));
    cargo.env("RUSTC", &job.compiler.rustc).env("RUSTC_BOOTSTRAP", "1");
    // Set to empty, since a configuration file could set variables that are merely absent.
    cargo.env("RUSTC_WRAPPER", "").env("RUSTC_WORKSPACE_WRAPPER", "").env("CARGO_TERM_COLOR", "never");
    let output = cargo.output().map_err(|error| format!("cargo does not run: {error}"))?;
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(Failure { reason: first_error(&messages), messages });
    }
    let assembly = assembly_of(job);
    std::fs::read_to_string(&assembly).map_err(|error| format!("{}: {error}", assembly.display()).into())
}

/// Returns the packages of which the crate in `root` is built, in the form that [`Sources`](crate::sources::Sources)
/// reads. An error is one line.
pub(crate) fn tree(root: &Path, target_dir: &Path) -> Result<String, String> {
    let mut cargo = cargo();
    cargo.current_dir(root).args(["tree", "--target", TARGET, "--edges", "no-dev", "--prefix", "none"]);
    cargo.args(["--format", "{p}|{f}"]).env("CARGO_TARGET_DIR", target_dir).env("CARGO_TERM_COLOR", "never");
    if let Some(rustc) = env::var_os("RUSTC") {
        cargo.env("RUSTC", rustc);
    }
    let output = cargo.output().map_err(|error| format!("cargo does not run: {error}"))?;
    if !output.status.success() {
        let reason = first_error(&String::from_utf8_lossy(&output.stderr));
        return Err(format!("cargo cannot list the packages of {}: {reason}", root.display()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn assembly_of(job: &Job) -> PathBuf {
    let file = format!("{}-{}.s", job.name.replace('-', "_"), job.tag);
    job.target_dir.join(TARGET).join("release/deps").join(file)
}

/// Returns the flags that keep absolute paths out of the PTX.
fn remapped(job: &Job) -> impl Iterator<Item = String> {
    let default = || env::home_dir().map(|home| home.join(".cargo"));
    let cargo_home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(default);
    let sysroot = job.compiler.rustc.ancestors().nth(2).map(Path::to_owned);
    let places = [(Some(job.workspace.to_owned()), "."), (cargo_home, "/cargo"), (sysroot, "/rust")];
    places.into_iter().filter_map(|(from, to)| Some(format!("--remap-path-prefix={}={to}", from?.display())))
}

/// Returns the first line that starts with `error`, or else the last line.
fn first_error(messages: &str) -> String {
    let error = messages.lines().find(|line| line.starts_with("error"));
    error.or(messages.lines().last()).unwrap_or("cargo says nothing").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_reaches_registries_passes_from_the_outer_cargo() {
        for name in
            ["CARGO_ENCODED_RUSTFLAGS", "CARGO_CFG_TARGET_ARCH", "CARGO_TARGET_DIR", "RUSTC_WRAPPER", "RUSTFLAGS"]
        {
            assert!(is_outer(name), "{name}");
        }
        for name in ["CARGO_HOME", "CARGO_NET_OFFLINE", "CARGO_MAKEFLAGS", "PATH", "HOME", "RUSTUP_HOME"] {
            assert!(!is_outer(name), "{name}");
        }
    }

    #[test]
    fn a_failure_is_told_by_its_first_error() {
        assert_eq!(first_error("warning: a\nerror[E0425]: b\n  --> c\nerror: d"), "error[E0425]: b");
        assert_eq!(first_error("a\nb"), "b");
        assert_eq!(first_error(""), "cargo says nothing");
    }
}
