//! Joint histograms, one file per method, all with the same counts, and the [entropies](entropy) computed from them.

pub mod bitonic;
pub mod byte_lanes;
pub mod entropy;
pub mod from_pairs;
pub mod global_copies;
pub mod mbe;
pub mod pair;
pub mod partial_volume;
pub mod partials;
pub mod per_thread;
pub mod shared_atomic;
pub mod sort_count;
pub mod tagged;
pub mod tiled;
pub mod warp_tagged;
