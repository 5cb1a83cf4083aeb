//! Joint histograms: one method a file, all with the same counts.

pub mod bitonic;
pub mod byte_lanes;
pub mod from_pairs;
pub mod global_copies;
pub mod mbe;
pub mod partials;
pub mod per_thread;
pub mod shared_atomic;
pub mod sort_count;
pub mod tagged;
pub mod tiled;
pub mod warp_tagged;
