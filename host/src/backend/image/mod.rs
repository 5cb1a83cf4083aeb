//! Images on a device: kept there for a run, filtered, and packed.

pub(super) mod device;
mod shelf;

pub use shelf::{Shelf, Voxels};
