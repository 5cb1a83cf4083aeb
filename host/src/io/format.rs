//! What a format of images is.

use std::path::Path;

use super::reading::{Channel, Image, ReadOptions, Role};
use crate::transform::Field;
use crate::{Error, Geometry, Result, Volume};

/// Nothing is chosen, and no option named.
pub const PLAIN: ReadOptions = ReadOptions { role: Role::Plain, series: None, volume: None, channel: Channel::Luma };

/// A format of images, and of displacement fields where it can hold vectors. It is one row in [`super::formats`].
pub trait ImageFormat: Sync {
    /// How its files are called.
    fn names(&self) -> &Names;

    /// Whether it holds pictures: 2-D images of whole numbers, without a grid of mm.
    fn is_picture(&self) -> bool {
        false
    }

    /// Whether a file whose name says nothing, or a folder, is one of it.
    fn is(&self, _path: &Path) -> Result<bool> {
        Ok(false)
    }

    /// Reads an image, and says what its user should know of it.
    fn read(&self, path: &Path, options: &ReadOptions) -> Result<Image>;

    /// Reads the grid of an image alone.
    fn geometry(&self, path: &Path) -> Result<Geometry> {
        Ok(self.read(path, &PLAIN)?.volume.geometry)
    }

    /// Writes an image to a file with one of the [`Names::written`].
    fn write(&self, path: &Path, _volume: &Volume) -> Result<()> {
        Err(Error::file(path, "is of a format that mireg does not write"))
    }

    /// Reads a displacement field. Only a format with [`Names::fields`] is asked.
    fn read_field(&self, path: &Path) -> Result<Field> {
        Err(Error::file(path, "is of a format without displacement fields"))
    }

    /// Writes a displacement field to a file with one of the [`Names::fields`].
    fn write_field(&self, path: &Path, _field: &Field) -> Result<()> {
        Err(Error::file(path, "is of a format without displacement fields"))
    }
}

/// What files of a format are called.
pub struct Names {
    /// Ends of the names of files that are read, in lower case.
    pub read: &'static [&'static str],
    /// Of those that are written.
    pub written: &'static [&'static str],
    /// Of those that are written with a displacement field, as messages list them.
    pub fields: &'static [&'static str],
    /// How messages list what is read and what is written.
    pub listed: [&'static [&'static str]; 2],
}

/// Whether the name of a file ends in one of `ends`, in lower or upper case.
pub fn ends(path: &Path, ends: &[&str]) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    ends.iter().any(|end| name.ends_with(end))
}
