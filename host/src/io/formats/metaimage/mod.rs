//! MetaImage: `.mha`, and `.mhd` with the voxels in a file of their own.

mod header;

use std::path::Path;

use crate::io::deflate::{self, Wrap};
use crate::io::format::{ImageFormat, Names, ends};
use crate::io::reading::{Image, ReadOptions};
use crate::io::source::Source;
use crate::io::voxels::{self, Coding, Order, Shape};
use crate::io::{atomic, check, vectors};
use crate::transform::Field;
use crate::{Error, Geometry, PixelType, Result, Volume};
use header::{Data, Element, Header};

/// `.mha` and `.mhd`.
pub struct MetaImage;

impl ImageFormat for MetaImage {
    fn names(&self) -> &Names {
        const ENDS: &[&str] = &[".mha", ".mhd"];
        &Names { read: ENDS, written: ENDS, fields: ENDS, listed: [ENDS, ENDS] }
    }

    fn read(&self, path: &Path, _: &ReadOptions) -> Result<Image> {
        let (coding, geometry, voxels) = parts(path, |header, _| match header.channels()? {
            1 => Ok(1),
            2 | 3 => Err(format!(
                "has several numbers per voxel (ElementNumberOfChannels); extract one channel. {}",
                check::IF_FIELD
            )),
            _ => Err("has several numbers per voxel (ElementNumberOfChannels); extract one channel".into()),
        })?;
        Ok(Volume { geometry, voxels, pixel: coding.volume_pixel() }.into())
    }

    fn geometry(&self, path: &Path) -> Result<Geometry> {
        let header = Header::read(&mut Source::open(path)?)?;
        header.size().and_then(|size| header.geometry(size)).map_err(|message| Error::file(path, message))
    }

    fn write(&self, path: &Path, volume: &Volume) -> Result<()> {
        write(path, &volume.geometry, &Element { pixel: volume.pixel, channels: 1 }, &volume.voxels)
    }

    fn read_field(&self, path: &Path) -> Result<Field> {
        let (_, geometry, numbers) = parts(path, |header, size| {
            let numbers = header.channels()?;
            check::numbers(size, numbers).map(|()| numbers)
        })?;
        Ok(vectors::field(geometry, &numbers, Order::Voxels))
    }

    fn write_field(&self, path: &Path, field: &Field) -> Result<()> {
        let element = Element { pixel: PixelType::F32, channels: vectors::channels(&field.geometry) };
        write(path, &field.geometry, &element, &vectors::numbers(field, Order::Voxels))
    }
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

/// Writes one file, or the voxels to a `.raw` file and then the header.
fn write(path: &Path, geometry: &Geometry, element: &Element, numbers: &[f32]) -> Result<()> {
    let write = if ends(path, &[".mhd"]) { mhd } else { mha };
    write(path, geometry, element, numbers)
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
