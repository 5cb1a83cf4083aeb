//! NIfTI-1 and NIfTI-2, read; NIfTI-1, written.

mod fields;
mod form;
mod header;

use std::path::Path;

use super::deflate::{self, Wrap};
use super::source::Source;
use super::{atomic, voxels};
use crate::{Error, Geometry, Result, Volume};
use header::Header;

/// Reads the header of the file at `path`.
pub fn geometry(path: &Path) -> Result<Geometry> {
    let header = Header::read(&mut Source::open_gzip(path)?)?;
    placed(&header).map_err(|message| Error::file(path, message))
}

fn placed(header: &Header) -> std::result::Result<Geometry, String> {
    form::geometry(header, header.size()?)
}

/// Reads the file at `path`, or the pair of it and its `.img`, gzip or not.
pub fn read(path: &Path) -> Result<Volume> {
    let mut source = Source::open_gzip(path)?;
    let header = Header::read(&mut source)?;
    let wrong = |message: String| Error::file(path, message);
    let geometry = placed(&header).map_err(wrong)?;
    let coding = header.coding().map_err(wrong)?;
    let start = header.voxel_offset().map_err(wrong)?;
    if header.pair {
        source = Source::open(&path.with_extension("img"))?;
    }
    source.skip_to(start)?;
    let voxels = voxels::read(source, geometry.size, &coding)?;
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
