//! MetaImage: `.mha`, and `.mhd` with the voxels in a file of their own.

mod header;

use std::path::Path;

use super::deflate::{self, Wrap};
use super::source::Source;
use super::{atomic, voxels};
use crate::{Error, Geometry, PixelType, Result, Volume};
use header::{Data, Element, Header};

/// Reads the header of the file at `path`.
pub fn geometry(path: &Path) -> Result<Geometry> {
    let header = Header::read(&mut Source::open(path)?)?;
    header.size().and_then(|size| header.geometry(size)).map_err(|message| Error::file(path, message))
}

/// Reads the file at `path`, and the one that it names where the voxels are not in it.
pub fn read(path: &Path) -> Result<Volume> {
    let mut source = Source::open(path)?;
    let header = Header::read(&mut source)?;
    let wrong = |message: String| Error::file(path, message);
    let size = header.size().map_err(wrong)?;
    let geometry = header.geometry(size).map_err(wrong)?;
    let coding = header.coding().map_err(wrong)?;
    if let Data::File(name) = header.data().map_err(wrong)? {
        source = Source::open(&path.with_file_name(name))?;
    }
    let bytes = header.data_bytes(size, &coding).map_err(wrong)?;
    if let Some(start) = header.start(&source, bytes).map_err(wrong)? {
        source.skip_to(start)?;
    }
    if header.compressed().map_err(wrong)? {
        source = source.zlib();
    }
    let voxels = voxels::read(source, size, &coding)?;
    Ok(Volume { geometry, voxels, pixel: coding.volume_pixel() })
}

/// Writes one file with compressed voxels.
pub fn write_mha(path: &Path, volume: &Volume) -> Result<()> {
    let data = deflate::compress(Wrap::Zlib, &[], &volume.voxels, volume.pixel);
    let header = header::text(&volume.geometry, &scalar(volume), "LOCAL", Some(data.len()));
    atomic::write(path, &[header.as_bytes(), &data])
}

/// Writes one file of vectors, with compressed voxels.
pub fn write_vectors<const N: usize>(path: &Path, geometry: &Geometry, vectors: &[[f32; N]]) -> Result<()> {
    let element = Element { pixel: PixelType::F32, channels: N };
    let data = deflate::compress(Wrap::Zlib, &[], vectors.as_flattened(), element.pixel);
    let header = header::text(geometry, &element, "LOCAL", Some(data.len()));
    atomic::write(path, &[header.as_bytes(), &data])
}

fn scalar(volume: &Volume) -> Element {
    Element { pixel: volume.pixel, channels: 1 }
}

/// Writes the voxels to a `.raw` file, then the header.
pub fn write_mhd(path: &Path, volume: &Volume) -> Result<()> {
    let raw = path.with_extension("raw");
    let name = raw.file_name().unwrap_or_default().to_string_lossy();
    let header = header::text(&volume.geometry, &scalar(volume), &name, None);
    atomic::write(&raw, &[&voxels::encode(&volume.voxels, volume.pixel)])?;
    atomic::write(path, &[header.as_bytes()])
}
