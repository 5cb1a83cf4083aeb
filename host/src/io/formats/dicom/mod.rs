//! DICOM: the slices of a series in one folder.

mod elements;
mod pixels;
mod series;
mod slice;
mod stack;

use std::path::{Path, PathBuf};

use crate::io::format::{ImageFormat, Names};
use crate::io::reading::{Image, ReadOptions};
use crate::io::source::{Source, reason};
use crate::{Error, Result, Volume};
use series::Series;
use slice::Slice;

/// A series in a folder, or that of one of its files.
pub struct Dicom;

impl ImageFormat for Dicom {
    fn names(&self) -> &Names {
        &Names { read: &[".dcm"], written: &[], fields: &[], listed: [&["DICOM"], &[]] }
    }

    fn is(&self, path: &Path) -> Result<bool> {
        if path.is_dir() {
            return Ok(true);
        }
        let mut source = Source::open(path)?;
        let mut start = [0; 132];
        Ok(source.remaining() >= 132 && source.read_exact(&mut start).is_ok() && start.ends_with(b"DICM"))
    }

    fn read(&self, path: &Path, options: &ReadOptions) -> Result<Image> {
        options.one_volume().map_err(Error::at(path))?;
        if path.is_dir() { read_folder(path, options) } else { read_file(path) }.map(Image::from)
    }
}

/// Reads the one series in `folder`, or the one that `options` choose.
fn read_folder(folder: &Path, options: &ReadOptions) -> Result<Volume> {
    let series = Series::of(slices(folder)?);
    if series.is_empty() {
        return Err(Error::file(
            folder,
            "is a folder without DICOM images; name an image file in it, or the folder of a series",
        ));
    }
    stack::read(folder, series::choose(folder, series, options)?.slices)
}

/// Reads the series of the file at `path` from the folder that it is in.
fn read_file(path: &Path) -> Result<Volume> {
    Source::open(path)?;
    let Some(own) = Slice::open(path)? else {
        return Err(Error::file(path, "is not DICOM or holds no image; give another file of the series"));
    };
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let series = own.series();
    let slices = slices(folder)?.into_iter().filter(|slice| slice.series() == series).collect();
    stack::read(path, slices)
}

/// Every image in `folder`, by name.
fn slices(folder: &Path) -> Result<Vec<Slice>> {
    let unreadable = |e: std::io::Error| Error::file(folder, reason(&e));
    let entries = std::fs::read_dir(folder).map_err(unreadable)?.map(|entry| Ok(entry?.path()));
    let mut paths = entries.collect::<std::io::Result<Vec<PathBuf>>>().map_err(unreadable)?;
    paths.sort();
    let slices = paths.iter().filter(|path| path.is_file()).filter_map(|path| Slice::open(path).transpose());
    slices.collect()
}
