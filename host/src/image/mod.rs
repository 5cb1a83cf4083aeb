//! Volumes and where they lie in space.

mod geometry;
mod volume;

pub use geometry::Geometry;
pub use volume::{PixelType, Volume};
