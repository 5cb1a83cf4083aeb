//! The compute capabilities for which kernels can be compiled.

/// A virtual architecture. PTX compiled for one runs on every device of the same or a later compute capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum NvvmArch {
    /// Turing: T4, RTX 20.
    Compute75,
    /// Ampere: A100.
    Compute80,
    /// Ampere: A10, A40, RTX 30.
    Compute86,
    /// Ada: L4, L40, RTX 40.
    Compute89,
    /// Hopper: H100, H200.
    Compute90,
    /// Blackwell: B200.
    Compute100,
    /// Blackwell: RTX 50.
    Compute120,
}

impl NvvmArch {
    /// Returns the compute capability as an integer: 75 for 7.5.
    pub fn capability(self) -> u32 {
        match self {
            Self::Compute75 => 75,
            Self::Compute80 => 80,
            Self::Compute86 => 86,
            Self::Compute89 => 89,
            Self::Compute90 => 90,
            Self::Compute100 => 100,
            Self::Compute120 => 120,
        }
    }

    /// Returns rustc's name of the architecture, such as `sm_75`.
    pub fn target_cpu(self) -> String {
        format!("sm_{}", self.capability())
    }
}
