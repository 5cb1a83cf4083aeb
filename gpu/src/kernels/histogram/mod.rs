//! Joint histograms: one method a file, all with the same counts.

pub mod mbe;
pub mod shared_atomic;
pub mod tagged;
pub mod warp_tagged;
