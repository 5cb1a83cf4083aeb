//! Backends of this machine, opened by kind.

use super::cpu::Cpu;
use super::interface::Backend;
use super::queue::cuda::Cuda;
use super::queue::emulated::Emulated;
use crate::Result;
use strum::{Display, EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// The backend asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, EnumMessage, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum BackendKind {
    /// The CPU, and an NVIDIA GPU where there is one and opening it pays.
    Auto,
    /// All cores of this machine.
    Cpu,
    /// The first NVIDIA GPU.
    Cuda,
    /// The GPU's kernels in the SIMT emulator: slow, for checking.
    Emulated,
}

/// Opens a backend; the CPU where any will do.
///
/// # Errors
/// [`crate::Error::Device`] where it is not there.
pub fn open(kind: BackendKind) -> Result<Box<dyn Backend>> {
    match kind {
        BackendKind::Cpu | BackendKind::Auto => Ok(Box::new(Cpu)),
        BackendKind::Emulated => Ok(Box::new(Emulated::default())),
        BackendKind::Cuda => Ok(Box::new(Cuda::open()?)),
    }
}

/// A backend of this machine, for `mireg devices`.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Device {
    /// `cpu`, `cuda` or `emulated`.
    pub backend: &'static str,
    pub available: bool,
    /// What it is, or why it is not there.
    pub detail: String,
}

/// Every backend, and whether it can be used here.
pub fn devices() -> Vec<Device> {
    [("cpu", BackendKind::Cpu), ("cuda", BackendKind::Cuda), ("emulated", BackendKind::Emulated)]
        .map(|(backend, kind)| match open(kind) {
            Ok(opened) => Device { backend, available: true, detail: opened.device() },
            Err(error) => Device { backend, available: false, detail: error.to_string() },
        })
        .into()
}
