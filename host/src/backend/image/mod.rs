//! Images on a device: gathered from a caller's tensor, kept during a run, filtered, and packed.

pub(super) mod device;
mod shelf;
mod tensor;

pub use shelf::{Shelf, Voxels};
pub use tensor::Tensor;
