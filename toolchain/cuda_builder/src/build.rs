//! The steps of a build: finds the compiler and the sources, compiles or reuses PTX, and writes it to `OUT_DIR`.

use crate::compiler::{self, Compiler, Places};
use crate::device::{self, Failure, Job};
use crate::settle::{Choice, settle};
use crate::sources::Sources;
use crate::{CudaBuilder, CudaBuilderError, NvvmArch, ptx};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The state of a build that all architectures share.
pub(crate) struct Build<'a> {
    options: &'a CudaBuilder,
    /// The device crate's folder.
    root: PathBuf,
    /// The folder of `Cargo.lock`.
    workspace: PathBuf,
    /// `OUT_DIR`.
    out: PathBuf,
    /// A folder shared by all profiles of the outer build, so that the kernels are compiled only once.
    shared: PathBuf,
    sources: Sources,
    compiler: Option<Compiler>,
    /// Whether to write the compiled PTX to the folder of committed PTX.
    update: bool,
}

impl<'a> Build<'a> {
    /// Finds the sources and the compiler, and tells cargo when to run the build script again.
    pub fn prepare(options: &'a CudaBuilder) -> Result<Self, CudaBuilderError> {
        for variable in ["CUDA_BUILDER_RUSTC", "CUDA_BUILDER_UPDATE", "RUSTUP_HOME"] {
            println!("cargo:rerun-if-env-changed={variable}");
        }
        let path = &options.path_to_crate;
        let root = path.canonicalize().map_err(|_| CudaBuilderError::CratePathDoesntExist(path.clone()))?;
        let out = env::var_os("OUT_DIR").ok_or_else(|| other("OUT_DIR is not set: this is for a build script"))?;
        let out = PathBuf::from(out);
        let shared = shared_folder(&out);
        let sources = Sources::from_tree(&device::tree(&root, &shared).map_err(other)?);
        let lock = root.ancestors().map(|folder| folder.join("Cargo.lock")).find(|lock| lock.is_file());
        let workspace = lock.as_deref().and_then(Path::parent).unwrap_or(&root).to_owned();
        let committed = options.committed.clone().filter(|folder| folder.exists());
        for watched in sources.watched().chain(lock).chain(committed) {
            println!("cargo:rerun-if-changed={}", watched.display());
        }
        let compiler = compiler::find(&Places::here(), &compiler::ask).map_err(other)?;
        let update = env::var_os("CUDA_BUILDER_UPDATE").is_some_and(|value| value == "1");
        Ok(Self { options, root, workspace, out, shared, sources, compiler, update })
    }

    /// Writes the PTX of every architecture, and the list of them, to `OUT_DIR`. Returns the path of the baseline's
    /// PTX.
    pub fn run(&self) -> Result<PathBuf, CudaBuilderError> {
        let mut list = String::from("&[\n");
        let mut reasons = BTreeSet::new();
        for arch in self.options.archs() {
            let file = self.file_name(arch);
            let text = match self.ptx(arch)? {
                Choice::Compiled(text) => text,
                Choice::Committed(text, reason) => {
                    reasons.insert(reason);
                    text
                }
            };
            write(&self.out.join(&file), &text)?;
            list += &format!("    ({}, include_str!(concat!(env!(\"OUT_DIR\"), \"/{file}\"))),\n", arch.capability());
        }
        for reason in reasons {
            println!("cargo:warning={reason}: using the committed PTX, which was made from the same sources");
        }
        write(&self.out.join("ptx.rs"), &(list + "]\n"))?;
        Ok(self.out.join(self.file_name(self.options.arch)))
    }

    fn file_name(&self, arch: NvvmArch) -> String {
        format!("{}_{}.ptx", self.sources.name, arch.target_cpu())
    }

    /// Returns the PTX of an architecture, compiled or from the folder of committed PTX. Updates that folder if
    /// requested.
    fn ptx(&self, arch: NvvmArch) -> Result<Choice, CudaBuilderError> {
        let flags = [&self.options.flags(arch)[..], &self.options.build_args].concat();
        let hash = self.sources.hash(&flags).map_err(|error| other(format!("the kernels' sources: {error}")))?;
        let committed = self.options.committed.as_ref().map(|folder| folder.join(self.file_name(arch)));
        let matching = committed.as_deref().and_then(read).filter(|text| ptx::hash(text) == Some(&hash));
        let compiled = self.compiler.as_ref().map(|compiler| self.compiled(compiler, arch, &hash));
        let choice = settle(compiled, matching, self.update)?;
        if let (true, Choice::Compiled(text), Some(path)) = (self.update, &choice, committed) {
            write(&path, text)?;
        }
        Ok(choice)
    }

    /// Returns the PTX that this compiler makes of the sources with this hash. Reuses the PTX of an earlier build if
    /// there is one.
    fn compiled(&self, compiler: &Compiler, arch: NvvmArch, hash: &str) -> Result<String, Failure> {
        let earlier = self.shared.join("ptx").join(self.file_name(arch));
        let is_ours = |text: &String| ptx::hash(text) == Some(hash) && ptx::compiler(text) == Some(&compiler.version);
        if let Some(text) = read(&earlier).filter(is_ours) {
            return Ok(text);
        }
        let flags = self.options.flags(arch);
        let arguments = &self.options.build_args;
        let job = Job {
            name: &self.sources.name,
            root: &self.root,
            workspace: &self.workspace,
            target_dir: &self.shared,
            compiler,
            flags: &flags,
            arguments,
            tag: &tag(arch, &[&flags[..], arguments].concat()),
        };
        let text = ptx::with_header(hash, &compiler.version, &device::compile(&job)?);
        write(&earlier, &text).map_err(|error| error.to_string())?;
        Ok(text)
    }
}

/// Returns a file name tag with the architecture and a digest of the flags, so that outputs of different flags are kept
/// apart.
fn tag(arch: NvvmArch, flags: &[String]) -> String {
    let digest = Sources::default().hash(flags).unwrap_or_default();
    format!("{}-{}", arch.target_cpu(), digest.get(..8).unwrap_or_default())
}

/// Returns the shared folder: `target/cuda-builder` for an `OUT_DIR` below `target/release/build`.
fn shared_folder(out: &Path) -> PathBuf {
    let build = out.ancestors().find(|folder| folder.ends_with("build"));
    build.and_then(|build| build.parent()?.parent()).unwrap_or(out).join("cuda-builder")
}

fn read(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// Writes a file atomically, and only if its content changes.
fn write(path: &Path, text: &str) -> Result<(), CudaBuilderError> {
    if read(path).as_deref() == Some(text) {
        return Ok(());
    }
    let written = || -> io::Result<()> {
        fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
        let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
        fs::write(&temporary, text)?;
        fs::rename(&temporary, path)
    };
    written().map_err(|error| other(format!("{}: {error}", path.display())))
}

fn other(reason: impl Into<String>) -> CudaBuilderError {
    CudaBuilderError::Other(reason.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_profiles_share_a_folder() {
        for out in ["/t/release/build/mireg-1a/out", "/t/debug/build/mireg-2b/out", "/t/debug/build/mireg/1a/out"] {
            assert_eq!(shared_folder(Path::new(out)), Path::new("/t/cuda-builder"));
        }
        assert_eq!(shared_folder(Path::new("/elsewhere")), Path::new("/elsewhere/cuda-builder"));
    }

    #[test]
    fn the_outputs_of_different_flags_have_different_names() {
        let options = CudaBuilder::new(".");
        let tag = |options: &CudaBuilder, arch| tag(arch, &options.flags(arch));
        let release = tag(&options, NvvmArch::Compute75);
        assert!(release.starts_with("sm_75-") && release.len() == 14, "{release}");
        assert_ne!(release, tag(&options, NvvmArch::Compute90));
        assert_ne!(release, tag(&options.release(false), NvvmArch::Compute75));
    }

    #[test]
    fn each_architecture_comes_once_and_in_order() {
        let options = CudaBuilder::new(".").arch(NvvmArch::Compute90);
        let options = options.also_arch(NvvmArch::Compute75).also_arch(NvvmArch::Compute90);
        assert_eq!(options.archs(), [NvvmArch::Compute75, NvvmArch::Compute90]);
    }
}
