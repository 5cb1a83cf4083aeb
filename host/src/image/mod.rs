//! Volumes and where they lie in space.

mod geometry;
pub mod pyramid;
mod stored;
mod volume;

pub use geometry::Geometry;
pub use stored::{BinImage, StoredImage};
pub use volume::{PixelType, Volume};
