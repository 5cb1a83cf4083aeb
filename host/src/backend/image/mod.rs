//! Images on a device: made there of a caller's numbers, kept there for a run, filtered, and packed.

pub(super) mod device;
mod shelf;
mod tensor;

pub use shelf::{Shelf, Voxels};
pub use tensor::Tensor;
