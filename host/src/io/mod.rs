//! Reads and writes files of volumes, transforms, meshes and points.
//!
//! Readers return the geometry that ITK does, in LPS mm. Files are written under a temporary name and renamed, so that
//! a file under its final name is always complete.

mod atomic;
mod check;
mod coding;
mod colour_map;
mod deflate;
pub mod field;
mod format;
mod formats;
mod hdf5;
mod header_bytes;
mod inflate;
mod luma;
pub mod memory;
pub mod mesh;
mod number;
mod output;
pub mod points;
mod ras;
mod read_plan;
mod reading;
mod source;
pub mod transform;
mod vectors;
mod voxels;

pub(crate) use formats::{Samples, Whole};
pub use formats::{geometry, is_picture, read, read_with, write};
pub use output::OutputFolder;
pub use reading::{Channel, Image, ReadOptions, Role, Select};
