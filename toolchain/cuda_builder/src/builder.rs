//! The builder and its options.

use crate::build::Build;
use crate::{CudaBuilderError, NvvmArch};
use std::fs;
use std::path::{Path, PathBuf};

/// Debug information in the PTX.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DebugInfo {
    /// None.
    None,
    /// Files and lines, which profilers and compute-sanitizer show.
    LineTables,
}

/// Compiles a crate of kernels in a build script.
#[derive(Debug, Clone)]
pub struct CudaBuilder {
    pub(crate) path_to_crate: PathBuf,
    /// Whether the kernels are compiled for release, which is the default. If not, they are optimised nevertheless, but
    /// arithmetic overflow and a failed `debug_assert!` trap.
    pub release: bool,
    /// Where to copy the PTX of the first architecture.
    pub ptx_file_copy_path: Option<PathBuf>,
    /// The baseline architecture: compute capability 7.5 unless set.
    pub arch: NvvmArch,
    /// Further architectures. Each gets its own PTX file.
    pub more_archs: Vec<NvvmArch>,
    /// Debug information: none unless set.
    pub debug: DebugInfo,
    /// More arguments for cargo.
    pub build_args: Vec<String>,
    /// The folder of the committed PTX.
    pub committed: Option<PathBuf>,
}

impl CudaBuilder {
    /// A builder for the crate in this folder, for release and for compute capability 7.5.
    pub fn new(path_to_crate_root: impl AsRef<Path>) -> Self {
        Self {
            path_to_crate: path_to_crate_root.as_ref().to_owned(),
            release: true,
            ptx_file_copy_path: None,
            arch: NvvmArch::Compute75,
            more_archs: Vec::new(),
            debug: DebugInfo::None,
            build_args: Vec::new(),
            committed: None,
        }
    }

    /// Adds arguments for cargo, such as `--features`.
    pub fn build_args(mut self, args: &[impl AsRef<str>]) -> Self {
        self.build_args.extend(args.iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets the debug information.
    pub fn debug(mut self, debug: DebugInfo) -> Self {
        self.debug = debug;
        self
    }

    /// Sets whether the kernels are compiled [for release](Self::release).
    pub fn release(mut self, release: bool) -> Self {
        self.release = release;
        self
    }

    /// Sets the baseline architecture: that of the oldest device on which the kernels must run.
    pub fn arch(mut self, arch: NvvmArch) -> Self {
        self.arch = arch;
        self
    }

    /// Adds an architecture, for kernels that use features of newer devices.
    pub fn also_arch(mut self, arch: NvvmArch) -> Self {
        self.more_archs.push(arch);
        self
    }

    /// Copies the PTX of the baseline to this file.
    pub fn copy_to(mut self, path: impl AsRef<Path>) -> Self {
        self.ptx_file_copy_path = Some(path.as_ref().to_owned());
        self
    }

    /// Names the folder of committed PTX, with one file per architecture, such as `gpu_sm_75.ptx`. A file is used if
    /// there is no working device compiler and the file was made from the present sources.
    pub fn committed(mut self, folder: impl AsRef<Path>) -> Self {
        self.committed = Some(folder.as_ref().to_owned());
        self
    }

    /// Compiles the kernels, or reuses the PTX of the same sources, and returns the PTX file of the baseline.
    ///
    /// `OUT_DIR` gets a PTX file for each architecture and `ptx.rs`, which lists them as
    /// `&[(u32, &str)]`: compute capability and PTX, in ascending order. Include it with
    /// `include!(concat!(env!("OUT_DIR"), "/ptx.rs"))`.
    pub fn build(self) -> Result<PathBuf, CudaBuilderError> {
        let baseline = Build::prepare(&self)?.run()?;
        match self.ptx_file_copy_path {
            Some(path) => fs::copy(baseline, &path).map(|_| path).map_err(CudaBuilderError::FailedToCopyPtxFile),
            None => Ok(baseline),
        }
    }

    /// The architectures, in ascending order.
    pub(crate) fn archs(&self) -> Vec<NvvmArch> {
        let mut archs = [&[self.arch], &self.more_archs[..]].concat();
        archs.sort();
        archs.dedup();
        archs
    }

    /// Returns the rustc flags that influence the generated code.
    pub(crate) fn flags(&self, arch: NvvmArch) -> Vec<String> {
        // A panic becomes a trap. Its message could not be shown, and formatting it would need registers and memory.
        let mut flags = vec!["-Zunstable-options", "-Cpanic=immediate-abort", "-Zlocation-detail=none"];
        // LLVM knows that a barrier must not be duplicated into the branches before it. This pass of rustc does not.
        flags.push("-Zmir-enable-passes=-JumpThreading");
        if self.debug == DebugInfo::LineTables {
            flags.push("-Cdebuginfo=line-directives-only");
        }
        if !self.release {
            flags.extend(["-Coverflow-checks=on", "-Cdebug-assertions=on"]);
        }
        [format!("-Ctarget-cpu={}", arch.target_cpu())].into_iter().chain(flags.into_iter().map(String::from)).collect()
    }
}
