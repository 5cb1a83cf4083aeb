//! Volumes and transforms in files.
//!
//! Everything that a reader returns lies where ITK puts it: millimetres in LPS. Every file is written under a temporary name
//! and renamed, so that a file of the final name is always whole.

mod atomic;
mod check;
mod colour_map;
mod deflate;
pub mod field;
mod fields;
mod format;
mod formats;
mod hdf5;
mod inflate;
mod luma;
pub mod memory;
pub mod mesh;
mod number;
mod output;
pub mod points;
mod ras;
mod reading;
mod source;
pub mod transform;
mod vectors;
mod voxels;
mod wanted;

pub(crate) use formats::{Samples, Whole};
pub use formats::{geometry, is_picture, read, read_with, write};
pub use output::OutputFolder;
pub use reading::{Channel, Image, ReadOptions, Role, Select};
