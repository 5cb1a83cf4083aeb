//! NIfTI-1 and NIfTI-2, read; NIfTI-1, written.

mod fields;
mod form;
mod header;

use std::path::Path;

use super::deflate::{self, Wrap};
use super::source::Source;
use super::{atomic, voxels};
use crate::{Error, Result, Volume};
use header::Header;

/// Reads the file at `path`, or the pair of it and its `.img`, gzip or not.
pub fn read(path: &Path) -> Result<Volume> {
    let mut source = Source::open_gzip(path)?;
    let header = Header::read(&mut source)?;
    let wrong = |message: String| Error::file(path, message);
    let size = header.size().map_err(wrong)?;
    let coding = header.coding().map_err(wrong)?;
    let geometry = form::geometry(&header, size).map_err(wrong)?;
    let start = header.voxel_offset().map_err(wrong)?;
    if header.pair {
        source = Source::open(&path.with_extension("img"))?;
    }
    source.skip_to(start)?;
    let voxels = voxels::read(source, size, &coding)?;
    let pixel = coding.volume_pixel();
    Ok(Volume { geometry, voxels, pixel })
}

/// Writes one `.nii` file, compressed or not.
pub fn write(path: &Path, volume: &Volume, gzip: bool) -> Result<()> {
    let header = header::bytes(volume).map_err(|message| Error::file(path, message))?;
    if gzip {
        return atomic::write(path, &[&deflate::compress(Wrap::Gzip, &header, &volume.voxels, volume.pixel)]);
    }
    atomic::write(path, &[&header, &voxels::encode(&volume.voxels, volume.pixel)])
}
