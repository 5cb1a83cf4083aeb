//! The interface of an image format.

use std::path::Path;

use super::reading::{Channel, Image, ReadOptions, Role};
use crate::transform::Field;
use crate::{Error, Geometry, Result, Volume};

/// Read options with no choice made, for which errors name no option.
pub const PLAIN: ReadOptions =
    ReadOptions { role: Role::Plain, series: None, volume: None, channel: Channel::Luma, most_pixels: None };

/// An image format, which also reads and writes displacement fields if it can hold vectors. Each is one row of
/// [`super::formats`].
pub trait ImageFormat: Sync {
    /// The endings of its file names.
    fn names(&self) -> &Names;

    /// Whether it holds pictures: 2-D images of integers, without a grid in mm.
    fn is_picture(&self) -> bool {
        false
    }

    /// Whether a folder, or a file whose name does not say its format, is of this format.
    fn is(&self, _path: &Path) -> Result<bool> {
        Ok(false)
    }

    /// Reads an image, with notes for the user about it.
    fn read(&self, path: &Path, options: &ReadOptions) -> Result<Image>;

    /// Reads only the grid of an image.
    fn geometry(&self, path: &Path) -> Result<Geometry> {
        Ok(self.read(path, &PLAIN)?.volume.geometry)
    }

    /// Writes an image to a file with one of the [`Names::written`].
    fn write(&self, path: &Path, _volume: &Volume) -> Result<()> {
        Err(Error::file(path, "is of a format that mireg does not write"))
    }

    /// Reads a displacement field. Called only for formats with [`Names::fields`].
    fn read_field(&self, path: &Path) -> Result<Field> {
        Err(Error::file(path, "is of a format without displacement fields"))
    }

    /// Writes a displacement field to a file with one of the [`Names::fields`].
    fn write_field(&self, path: &Path, _field: &Field) -> Result<()> {
        Err(Error::file(path, "is of a format without displacement fields"))
    }
}

/// The endings of the file names of a format.
pub struct Names {
    /// Endings of files that are read, in lower case.
    pub read: &'static [&'static str],
    /// Endings of files that are written.
    pub written: &'static [&'static str],
    /// Endings of files that displacement fields are written to, as messages list them.
    pub fields: &'static [&'static str],
    /// What is read and what is written, as messages list them.
    pub listed: [&'static [&'static str]; 2],
}

/// Whether the name of a file has one of the endings `ends`, in lower or upper case.
pub fn ends(path: &Path, ends: &[&str]) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    ends.iter().any(|end| name.ends_with(end))
}
