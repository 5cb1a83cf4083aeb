//! Pure functions, compiled for the GPU and for the CPU, with the same bits on both. Every fused multiply-add is
//! explicit, since the compilers neither fuse nor reorder floating-point operations.

pub mod affine;
pub mod bin;
pub mod binning;
pub mod correlation;
pub mod cubic;
pub mod eight_bit;
pub mod entropy;
pub mod field;
pub mod flow;
pub mod gauss;
pub mod interpolate;
pub mod log;
pub mod mattes;
pub mod number;
pub mod pair_distance;
pub mod partial_volume;
pub mod recursive;
pub mod search;
pub mod strips;
pub mod table;
pub mod vectors;
pub mod viola;
pub mod whole;
pub mod windows;
