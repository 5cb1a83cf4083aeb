//! Joint histograms: one method a file, all with the same counts.

pub mod shared_atomic;
pub mod tiled;
