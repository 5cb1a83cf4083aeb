//! Opens the backends of this machine.

use super::cpu::Cpu;
use super::interface::Backend;
use super::queue::cuda::Cuda;
use super::queue::emulated::Emulated;
use crate::Result;
use strum::{Display, EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// The kind of backend that is asked for.
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

/// Opens a backend. For [`BackendKind::Auto`] that is the CPU.
///
/// # Errors
/// [`crate::Error::Device`] if this machine does not have it.
pub fn open(kind: BackendKind) -> Result<Box<dyn Backend>> {
    match kind {
        BackendKind::Cpu | BackendKind::Auto => Ok(Box::new(Cpu)),
        BackendKind::Emulated => Ok(Box::new(Emulated::default())),
        BackendKind::Cuda => Ok(Box::new(Cuda::open()?)),
    }
}

/// A backend of this machine, as `mireg devices` lists it.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Device {
    /// `cpu`, `cuda` or `emulated`.
    pub backend: &'static str,
    pub available: bool,
    /// A description of the device, or the reason why it is not available.
    pub detail: String,
}

/// Lists all backends, and whether they can be used on this machine.
pub fn devices() -> Vec<Device> {
    [("cpu", BackendKind::Cpu), ("cuda", BackendKind::Cuda), ("emulated", BackendKind::Emulated)]
        .map(|(backend, kind)| match open(kind) {
            Ok(opened) => Device { backend, available: true, detail: opened.device() },
            Err(error) => Device { backend, available: false, detail: error.to_string() },
        })
        .into()
}
