//! Volumes, their geometry, their quantisation and their resolution levels.

mod cubic;
mod filled;
mod filter;
mod frame;
mod geometry;
mod intensities;
mod noise;
mod outliers;
mod packing;
mod prefilter;
mod prepared;
pub mod pyramid;
mod sample;
mod stored;
mod volume;
mod words;

pub use cubic::CubicImage;
pub(crate) use filled::filled;
pub(crate) use frame::extent;
pub(crate) use geometry::voxel;
pub use geometry::{Geometry, voxel_map};
pub use intensities::{Intensities, IntensityRange};
pub(crate) use noise::ceiling;
pub use packing::{ToBins, ToValues};
pub use prepared::Prepared;
pub use stored::{BinImage, StoredImage};
pub use volume::{PixelType, Range, Volume};
pub use words::WordImage;
