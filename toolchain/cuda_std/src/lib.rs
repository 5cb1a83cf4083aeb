//! Rust-CUDA's `cuda_std` on rustc's own nvptx64 backend, and a SIMT emulator on every other target.
//!
//! Everything in the published `cuda_std` 0.2.2 keeps its name and signature, except that indices are [`glam`] vectors
//! instead of `vek` ones. Added are typed shared and global memory ([`shared::SharedSlice`], [`global::DeviceSlice`]),
//! warp shuffles, votes, matches and reductions, and 3-D texture fetches.
//!
//! On nvptx64 each function is one or a few PTX instructions, named in its documentation. Elsewhere the same kernel runs
//! as a plain function inside [`emulator::run`], which checks how threads share memory.
//!
//! A crate with kernels starts with
//! `#![cfg_attr(target_arch = "nvptx64", no_std, feature(abi_ptx, asm_experimental_arch))]`.

#![cfg_attr(target_arch = "nvptx64", no_std)]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(asm_experimental_arch, core_float_math, link_llvm_intrinsics, stdarch_nvptx)
)]
#![cfg_attr(target_arch = "nvptx64", allow(internal_features))]

#[cfg(target_arch = "nvptx64")]
mod device;
#[cfg(target_arch = "nvptx64")]
use device as arch;

#[cfg(not(target_arch = "nvptx64"))]
pub mod emulator;
#[cfg(not(target_arch = "nvptx64"))]
use emulator::arch;

pub mod atomic;
pub mod bits;
pub mod float;
pub mod global;
pub mod mem;
pub mod misc;
pub mod shared;
pub mod texture;
pub mod thread;
pub mod warp;

#[doc(hidden)]
pub use cuda_std_macros::__shared_allocation;
pub use cuda_std_macros::{gpu_only, kernel};
pub use float::GpuFloat;
pub use glam;

/// The names that most kernels import.
pub mod prelude {
    pub use crate::float::GpuFloat;
    pub use crate::global::{DeviceSlice, DeviceSliceMut};
    pub use crate::shared::SharedSlice;
    pub use crate::{kernel, shared_array, shared_slice, thread, warp};
}
