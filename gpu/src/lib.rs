//! mireg's kernels, and the arithmetic that they share with the CPU backend.
//!
//! Conventions, once:
//! - A volume lies in memory with x fastest, then y, then z. Positions are in voxels: the centre of voxel (i, j, k) is at (i, j, k).
//! - A transform arrives as one 3x4 matrix in f32 that takes a voxel of the fixed image to a position in the moving image.
//! - Intensities are stored as 16-bit fractions of the range that was configured at upload; up to 256 bins only 256 levels of these are
//!   in use ([`math::bin`]). The fixed image, which is never interpolated, is stored as bin numbers.
//! - The joint histogram has `fixed_bins * moving_bins` counters; the pair (f, m) is at `f + fixed_bins * m`.
//! - A formula lives in [`math`] and is compiled for CPU and GPU; a kernel only indexes, guards, cooperates and stores. With integer
//!   counts, and a fixed order wherever floating-point numbers are added, both give the same bits.
//! - [`kernels`] and [`params`] are cut along the same families: image, histogram, mattes, viola, flow, search, gaussian and
//!   resample.

#![cfg_attr(target_arch = "nvptx64", no_std, feature(abi_ptx, asm_experimental_arch))]
// Loops over lanes run along several arrays at once.
#![allow(clippy::needless_range_loop)]

pub mod kernels;
pub mod math;
pub mod params;
