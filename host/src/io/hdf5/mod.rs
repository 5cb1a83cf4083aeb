//! As much of HDF5 as files of ITK transforms need: groups, and one-dimensional datasets of numbers and of strings, in whichever way the
//! HDF5 library has stored these since 1.8, deflated and in chunks too. What it does not know it refuses by name. All lengths and places are
//! checked against the file before they are used, and a file is walked once at most, however it is damaged.
//!
//! HDF5 File Format Specification, version 3.0 (The HDF Group), to whose sections the comments refer.

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

/// What a reader may say: a message without the file's name.
type Parsed<T> = Result<T, String>;

/// An address that says that there is nothing.
const UNDEFINED: u64 = u64::MAX;

fn damaged() -> String {
    "is damaged or truncated HDF5; copy it again".into()
}

/// What is refused, for instance "chunks of an extensible array".
fn unread(what: &str) -> String {
    format!(
        "is HDF5 with {what}, which mireg does not read; write it again with SimpleITK: \
         WriteTransform(ReadTransform('a.h5'), 'b.h5')"
    )
}
