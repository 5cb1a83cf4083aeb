//! Where the metric is evaluated.

/// The backend asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum BackendKind {
    /// CUDA where there is a device, else the CPU.
    Auto,
    /// All cores of this machine.
    Cpu,
    /// The first NVIDIA GPU.
    Cuda,
    /// The GPU's kernels in the SIMT emulator: slow, for checking.
    Emulated,
}
