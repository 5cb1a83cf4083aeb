//! MetaImage: `.mha`, and `.mhd` with the voxels in a file of their own.

mod header;

use std::path::Path;

use super::deflate::{self, Wrap};
use super::field::Vectors;
use super::source::Source;
use super::voxels::{self, Coding, Order, Shape};
use super::{atomic, check};
use crate::{Error, Geometry, PixelType, Result, Volume};
use header::{Data, Element, Header};

/// Reads the header of the file at `path`.
pub fn geometry(path: &Path) -> Result<Geometry> {
    let header = Header::read(&mut Source::open(path)?)?;
    header.size().and_then(|size| header.geometry(size)).map_err(|message| Error::file(path, message))
}

/// Reads the file at `path`, and the one that it names where the voxels are not in it.
pub fn read(path: &Path) -> Result<Volume> {
    let (coding, geometry, voxels) = parts(path, |header, _| match header.channels()? {
        1 => Ok(1),
        2 | 3 => Err(format!(
            "has several numbers a voxel (ElementNumberOfChannels); extract one channel. {}",
            check::IF_FIELD
        )),
        _ => Err("has several numbers a voxel (ElementNumberOfChannels); extract one channel".into()),
    })?;
    Ok(Volume { geometry, voxels, pixel: coding.volume_pixel() })
}

/// Reads the displacement field in the file at `path`, or in the one that it names.
pub fn read_field(path: &Path) -> Result<Vectors> {
    let (_, geometry, numbers) = parts(path, |header, size| {
        let numbers = header.channels()?;
        check::numbers(size, numbers).map(|()| numbers)
    })?;
    Ok(Vectors { geometry, numbers, order: Order::Voxels })
}

/// Where the voxels lie, and the voxels, each of as many numbers as `numbers` takes from the header and the size.
fn parts(
    path: &Path,
    numbers: impl Fn(&Header, [usize; 3]) -> std::result::Result<usize, String>,
) -> Result<(Coding, Geometry, Vec<f32>)> {
    let mut source = Source::open(path)?;
    let header = Header::read(&mut source)?;
    let wrong = |message: String| Error::file(path, message);
    let size = header.size().map_err(wrong)?;
    let geometry = header.geometry(size).map_err(wrong)?;
    let coding = header.coding().map_err(wrong)?;
    let numbers = numbers(&header, size).map_err(wrong)?;
    let shape = Shape { size, numbers, order: Order::Voxels };
    if let Data::File(name) = header.data().map_err(wrong)? {
        source = Source::open(&path.with_file_name(name))?;
    }
    let bytes = header.data_bytes(&shape, &coding).map_err(wrong)?;
    if let Some(start) = header.start(&source, bytes).map_err(wrong)? {
        source.skip_to(start)?;
    }
    if header.compressed().map_err(wrong)? {
        source = source.zlib();
    }
    let voxels = voxels::read(source, &shape, &coding)?;
    Ok((coding, geometry, voxels))
}

/// Writes one file with compressed voxels.
pub fn write_mha(path: &Path, volume: &Volume) -> Result<()> {
    mha(path, &volume.geometry, &scalar(volume), &volume.voxels)
}

/// Writes one file of vectors, `channels` numbers each, with compressed voxels.
pub fn write_field_mha(path: &Path, geometry: &Geometry, numbers: &[f32], channels: usize) -> Result<()> {
    mha(path, geometry, &Element { pixel: PixelType::F32, channels }, numbers)
}

/// Writes the voxels to a `.raw` file, then the header.
pub fn write_mhd(path: &Path, volume: &Volume) -> Result<()> {
    mhd(path, &volume.geometry, &scalar(volume), &volume.voxels)
}

/// Writes vectors, `channels` numbers each, to a `.raw` file, then the header.
pub fn write_field_mhd(path: &Path, geometry: &Geometry, numbers: &[f32], channels: usize) -> Result<()> {
    mhd(path, geometry, &Element { pixel: PixelType::F32, channels }, numbers)
}

fn scalar(volume: &Volume) -> Element {
    Element { pixel: volume.pixel, channels: 1 }
}

fn mha(path: &Path, geometry: &Geometry, element: &Element, numbers: &[f32]) -> Result<()> {
    let data = deflate::compress(Wrap::Zlib, &[], numbers, element.pixel);
    let header = header::text(geometry, element, "LOCAL", Some(data.len()));
    atomic::write(path, &[header.as_bytes(), &data])
}

fn mhd(path: &Path, geometry: &Geometry, element: &Element, numbers: &[f32]) -> Result<()> {
    let raw = path.with_extension("raw");
    let name = raw.file_name().unwrap_or_default().to_string_lossy();
    let header = header::text(geometry, element, &name, None);
    atomic::write(&raw, &[&voxels::encode(numbers, element.pixel)])?;
    atomic::write(path, &[header.as_bytes()])
}
