//! Volumes and where they lie in space.

mod cubic;
mod geometry;
mod prefilter;
pub mod pyramid;
mod sample;
mod stored;
mod volume;

pub use cubic::CubicImage;
pub use geometry::{Geometry, voxel_map};
pub use stored::{BinImage, StoredImage};
pub use volume::{PixelType, Range, Volume};
