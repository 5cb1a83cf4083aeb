//! Reads DICOM series from folders: of single slices, or of multi-frame files.

mod codecs;
mod elements;
mod file;
mod folder;
mod image_file;
mod input;
mod layout;
mod plane;
mod series;
mod spaced;
mod stack;
mod tags;

use std::path::Path;

use crate::io::format::{ImageFormat, Names};
use crate::io::reading::{Image, ReadOptions};
use crate::io::source::{Source, reason};
use crate::{Error, Result};
use folder::{Folder, LeftOut};
use image_file::{Found, ImageFile};
use series::Series;

/// The DICOM format. A path is a folder with a series, or one file of the series.
pub struct Dicom;

impl ImageFormat for Dicom {
    fn names(&self) -> &Names {
        &Names { read: &[".dcm"], written: &[], fields: &[], listed: [&["DICOM"], &[]] }
    }

    fn is(&self, path: &Path) -> Result<bool> {
        Ok(path.is_dir() || file::is(path).map_err(|e| Error::file(path, reason(&e)))?)
    }

    fn read(&self, path: &Path, options: &ReadOptions) -> Result<Image> {
        options.volume(1, "volume").map_err(Error::at(path))?;
        if path.is_dir() { read_folder(path, options) } else { read_file(path, options) }
    }
}

/// Reads the only series in `folder`, or the one that `options` choose.
fn read_folder(folder: &Path, options: &ReadOptions) -> Result<Image> {
    let Folder { images, mut left_out } = Folder::read(folder)?;
    let series = Series::of(images);
    if series.is_empty() {
        let wrong = "is a folder without DICOM images; name an image file in it, or the folder of a series";
        return Err(left_out.mentioned_in(Error::file(folder, wrong)));
    }
    let series = series::choose(folder, series, options, &mut left_out)?;
    read_series(folder, series.images, left_out, options)
}

/// Reads the series to which the file at `path` belongs, from its folder.
fn read_file(path: &Path, options: &ReadOptions) -> Result<Image> {
    // `Source::open` has the error messages for files that cannot be opened.
    Source::open(path)?;
    let own = match ImageFile::open(path)? {
        Found::Image(own) => own,
        Found::Other(what) => return Err(Error::file(path, format!("is {what}; give a file that holds one"))),
        Found::Damaged(message) => return Err(Error::file(path, message)),
    };
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let Folder { images, left_out } = Folder::read(folder)?;
    let series = own.series();
    let images = images.into_iter().filter(|image| image.series() == series).collect();
    read_series(path, images, left_out.only_damaged(), options)
}

/// Reads the volume of a series, with a note on the files that were left out.
fn read_series(path: &Path, images: Vec<ImageFile>, mut left_out: LeftOut, options: &ReadOptions) -> Result<Image> {
    let read = stack::read(path, images, &mut left_out, options);
    let mut image = read.map_err(|error| left_out.mentioned_in(error))?;
    image.notes.extend(left_out.note());
    Ok(image)
}
