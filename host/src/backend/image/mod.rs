//! Images on a device: gathered from a caller's tensor, kept during a run, filtered, and packed.

mod cache;
pub(super) mod device;
mod tensor;

pub use cache::{ImageCache, Voxels};
pub use tensor::Tensor;
