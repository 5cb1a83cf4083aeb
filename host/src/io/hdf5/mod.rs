//! The part of HDF5 that files of ITK transforms need: groups, and one-dimensional datasets of numbers and of strings.
//! It reads all ways in which the HDF5 library has stored these since 1.8, also deflated and in chunks, and refuses
//! others with an error that names the feature. All lengths and addresses are checked against the file before they are
//! used. The number of steps of a traversal is limited, however a file is damaged.
//!
//! Comments refer to sections of the HDF5 File Format Specification, version 3.0 (The HDF Group).

mod checksum;
mod chunks;
mod cursor;
mod dataset;
mod file;
mod filters;
mod heap;
mod links;
mod object;
mod write;

pub use file::{File, MAGIC};
pub use object::Object;
pub use write::{Dataset, Group};

/// The result of parsing. Errors are messages without the file's name.
type Parsed<T> = Result<T, String>;

/// The address of something that does not exist.
const UNDEFINED: u64 = u64::MAX;

fn damaged() -> String {
    "is damaged or truncated HDF5; copy it again".into()
}

/// The error for a feature that is not read, such as "chunks in an extensible array".
fn unread(what: &str) -> String {
    format!(
        "is HDF5 with {what}, which mireg does not read; write it again with SimpleITK: \
         WriteTransform(ReadTransform('a.h5'), 'b.h5')"
    )
}
