//! mireg's GPU kernels, and the arithmetic that they share with the CPU backend.
//!
//! Conventions:
//! - A volume lies in memory with x fastest, then y, then z. Positions are in voxels: the centre of voxel (i, j, k) is at (i, j, k).
//! - A kernel gets a transform as a 3x4 matrix of f32 that takes a voxel of the fixed image to a position in the moving
//!   image, in voxels. Parameters call such a matrix `transform`, `affine` or `map`.
//! - Intensities are stored as 16-bit fractions of the intensity range that was set at upload. With up to 256 bins,
//!   only 256 of these values are used ([`math::bin`]). The fixed image is never interpolated. It is stored as bin
//!   numbers, or as 16-bit values for metrics that need them ([`math::binning`]).
//! - The joint histogram has `fixed_bins * moving_bins` counters; the pair (f, m) is at `f + fixed_bins * m`.
//! - Formulas are in [`math`], which is compiled for the CPU and for the GPU. Kernels compute indices, check bounds,
//!   divide the work among threads and store results. Counts are integers, and floating-point numbers are always added
//!   in the same order, so that CPU and GPU give the same bits.
//! - [`kernels`] and [`params`] are divided into the same families: image, histogram, mattes, viola, flow, search,
//!   gaussian and resample.

#![cfg_attr(target_arch = "nvptx64", no_std, feature(abi_ptx, asm_experimental_arch))]
// Loops over lanes index several arrays with the same number.
#![allow(clippy::needless_range_loop)]

pub mod kernels;
pub mod math;
pub mod params;
