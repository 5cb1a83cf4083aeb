//! Compiles a crate of kernels to PTX from a build script, without a CUDA toolkit.
//!
//! The API is that of Rust-CUDA's `cuda_builder`; the compiler is rustc itself with its target `nvptx64-nvidia-cuda`.
//! Options that have no meaning here are left out: those of libNVVM and of its code generator, 32-bit PTX, OptiX. New
//! are PTX for more than one architecture, and committed PTX for users without a device compiler. See
//! `toolchain/README.md` for how the compiler is found and for the environment variables.

mod arch;
mod build;
mod builder;
mod compiler;
mod device;
mod ptx;
mod settle;
mod sources;

pub use arch::NvvmArch;
pub use builder::{CudaBuilder, DebugInfo};

use std::path::PathBuf;

/// Why there is no PTX. Each message is one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CudaBuilderError {
    /// The folder of the device crate does not exist.
    #[error("Crate path {} does not exist", .0.display())]
    CratePathDoesntExist(PathBuf),
    /// The PTX file could not be copied to the requested path.
    #[error("Failed to copy PTX file: {0}")]
    FailedToCopyPtxFile(std::io::Error),
    /// The device compiler failed: its first error, and all that cargo and rustc printed.
    #[error("the kernels are not compiled: {0}")]
    BuildFailed(String, String),
    /// There is no device compiler, and no PTX to use instead, for the reason given.
    #[error(
        "no device compiler found, and {0}: install one with `rustup component add rust-src`, or on Debian with \
         `apt-get install -y --no-install-recommends rustc-web rust-web-src`"
    )]
    NoDeviceCompiler(&'static str),
    /// Anything else, in words.
    #[error("{0}")]
    Other(String),
}
