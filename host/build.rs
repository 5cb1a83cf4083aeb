//! Compiles the kernels to PTX, and `OUT_DIR/ptx.rs` lists the files. See `toolchain/README.md`.

use cuda_builder::{CudaBuilder, CudaBuilderError};

fn main() {
    // For a second architecture add `.also_arch(NvvmArch::Compute90)`.
    let built = CudaBuilder::new("../gpu").committed("../gpu/ptx").build();
    if let Err(error) = built {
        println!("cargo::error={error}");
        if let CudaBuilderError::BuildFailed(_, messages) = error {
            eprintln!("{messages}");
            std::process::exit(1);
        }
    }
}
