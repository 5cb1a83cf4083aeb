//! Backends of this machine, opened by kind.

use super::cpu::Cpu;
use super::interface::Backend;
use super::queue::cuda::Cuda;
use super::queue::emulated::Emulated;
use crate::{Observer, Result, Silent};
use strum::{Display, EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// The backend asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, EnumMessage, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
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

/// Opens a backend, and tells the observer what `auto` chose.
///
/// # Errors
/// [`crate::Error::Device`] where it is not there.
pub fn open(kind: BackendKind, observer: &dyn Observer) -> Result<Box<dyn Backend>> {
    match kind {
        BackendKind::Cpu => Ok(Box::new(Cpu)),
        BackendKind::Emulated => Ok(Box::new(Emulated::default())),
        BackendKind::Cuda => Ok(Box::new(Cuda::open()?)),
        BackendKind::Auto => match Cuda::open() {
            Ok(cuda) => Ok(Box::new(cuda)),
            Err(reason) => {
                observer.note(&format!("{reason}: using the CPU"));
                Ok(Box::new(Cpu))
            }
        },
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
        .map(|(backend, kind)| match open(kind, &Silent) {
            Ok(opened) => Device { backend, available: true, detail: opened.device() },
            Err(error) => Device { backend, available: false, detail: error.to_string() },
        })
        .into()
}
