//! Compiles the kernels to PTX, and `OUT_DIR/ptx.rs` lists the files. See `toolchain/README.md`.

use cuda_builder::{CudaBuilder, CudaBuilderError};

fn main() {
    // For a second architecture add `.also_arch(NvvmArch::Compute90)`.
    if let Err(error) = CudaBuilder::new("../gpu").committed("../gpu/ptx").build() {
        println!("cargo::error={error}");
        if let CudaBuilderError::BuildFailed(_, messages) = error {
            eprintln!("{messages}");
        }
        std::process::exit(1);
    }
}
