//! Compiles the kernels to PTX and lists the PTX files in `OUT_DIR/ptx.rs`. See `toolchain/README.md`.

use cuda_builder::{CudaBuilder, CudaBuilderError};

fn main() {
    // To compile for a second architecture too, add `.also_arch(NvvmArch::Compute90)`.
    let built = CudaBuilder::new("../gpu").committed("../gpu/ptx").build();
    if let Err(error) = built {
        println!("cargo::error={error}");
        if let CudaBuilderError::BuildFailed(_, messages) = error {
            eprintln!("{messages}");
            std::process::exit(1);
        }
    }
}
