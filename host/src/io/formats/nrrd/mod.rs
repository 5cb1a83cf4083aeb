//! NRRD: `.nrrd`, and `.nhdr` with the voxels in a file of their own.

mod header;
mod space;

use std::path::Path;

use crate::io::deflate::{self, Wrap};
use crate::io::format::{ImageFormat, Names};
use crate::io::reading::{Image, ReadOptions};
use crate::io::source::Source;
use crate::io::voxels::{self, Coding, Order, Shape};
use crate::io::{atomic, check, vectors};
use crate::transform::Field;
use crate::{Error, Geometry, PixelType, Result, Volume};
use header::{Encoding, Header};

/// `.nrrd` and `.nhdr`, of which the first is written.
pub struct Nrrd;

impl ImageFormat for Nrrd {
    fn names(&self) -> &Names {
        const BOTH: &[&str] = &[".nrrd", ".nhdr"];
        const ONE: &[&str] = &[".nrrd"];
        &Names { read: BOTH, written: ONE, fields: ONE, listed: [BOTH, ONE] }
    }

    fn read(&self, path: &Path, _: &ReadOptions) -> Result<Image> {
        let (coding, geometry, _, voxels) = parts(path, |header| {
            let (axes, inner) = space::axes(header)?;
            match inner.first() {
                Some(inner) => Err(inner.refusal()),
                None => Ok((Shape::scalar(header.size(&axes)?), axes)),
            }
        })?;
        Ok(Volume { geometry, voxels, pixel: coding.pixel }.into())
    }

    fn write(&self, path: &Path, volume: &Volume) -> Result<()> {
        write_voxels(path, &volume.geometry, volume.pixel, &volume.voxels, 1)
    }

    /// Vectors lie along the fastest or the slowest axis.
    fn read_field(&self, path: &Path) -> Result<Field> {
        let (_, geometry, shape, numbers) = parts(path, |header| {
            let (axes, inner) = space::axes(header)?;
            let size = header.size(&axes)?;
            let (numbers, order) = match &inner[..] {
                [] => (1, Order::Voxels),
                [inner] if inner.is_vector() && inner.axis == 0 => (inner.size as usize, Order::Voxels),
                [inner] if inner.is_vector() && axes.iter().all(|&axis| axis < inner.axis) => (inner.size as usize, Order::Planes),
                _ => return Err("its axes are not those of a displacement field (kinds: vector domain domain domain); correct the header".into()),
            };
            check::numbers(size, numbers)?;
            space::vectors_in_lps(header)?;
            Ok((Shape { size, numbers, order }, axes))
        })?;
        Ok(vectors::field(geometry, &numbers, shape.order))
    }

    fn write_field(&self, path: &Path, field: &Field) -> Result<()> {
        let numbers = vectors::numbers(field, Order::Voxels);
        write_voxels(path, &field.geometry, PixelType::F32, &numbers, vectors::channels(&field.geometry))
    }
}

/// Where the voxels lie, and the voxels, of the shape and along the axes of space that `shape` takes from the header.
fn parts(
    path: &Path,
    shape: impl Fn(&Header) -> std::result::Result<(Shape, Vec<usize>), String>,
) -> Result<(Coding, Geometry, Shape, Vec<f32>)> {
    let mut source = Source::open(path)?;
    let header = Header::read(&mut source)?;
    let wrong = |message: String| Error::file(path, message);
    let (shape, axes) = shape(&header).map_err(wrong)?;
    let geometry = space::geometry(&header, &axes, shape.size).map_err(wrong)?;
    let coding = header.coding().map_err(wrong)?;
    let encoding = header.encoding().map_err(wrong)?;
    if let Some(name) = header.data_file().map_err(wrong)? {
        source = Source::open(&path.with_file_name(name))?;
    }
    source.skip_lines(u64::try_from(header.number("line skip").map_err(wrong)?).unwrap_or(0))?;
    if encoding == Encoding::Gzip {
        source = source.gzip();
    }
    match header.number("byte skip").map_err(wrong)? {
        0 => {}
        // The voxels are what the file ends with.
        -1 if encoding == Encoding::Raw => {
            source.skip_to(source.position() + source.remaining().saturating_sub(shape.bytes(&coding)))?
        }
        skip => match u64::try_from(skip) {
            Ok(skip) => source.skip_to(source.position().saturating_add(skip))?,
            Err(_) => {
                return Err(wrong(format!("its field \"byte skip: {skip}\" should be 0 or more; correct the header")));
            }
        },
    }
    let voxels = match encoding {
        Encoding::Ascii => voxels::read_text(source, &shape)?,
        Encoding::Raw | Encoding::Gzip => voxels::read(source, &shape, &coding)?,
    };
    Ok((coding, geometry, shape, voxels))
}

/// Writes one file of `channels` numbers per voxel, compressed.
fn write_voxels(path: &Path, geometry: &Geometry, pixel: PixelType, numbers: &[f32], channels: usize) -> Result<()> {
    let kind = match pixel {
        PixelType::U8 => "uint8",
        PixelType::I8 => "int8",
        PixelType::U16 => "uint16",
        PixelType::I16 => "int16",
        PixelType::U32 => "uint32",
        PixelType::I32 => "int32",
        PixelType::U64 => "uint64",
        PixelType::I64 => "int64",
        PixelType::F32 => "float",
        PixelType::F64 => "double",
    };
    let n = geometry.dimensions();
    // Vectors are an axis of their own, the fastest.
    let (along, sizes, kinds) = match channels {
        1 => (0, String::new(), ""),
        _ => (1, format!("{channels} "), "vector "),
    };
    let header = format!(
        "NRRD0004\ntype: {kind}\ndimension: {}\nsizes: {sizes}{}\n{}kinds: {kinds}{}\nendian: little\nencoding: gzip\n\n",
        n + along,
        geometry.size.map(|n| n.to_string())[..n].join(" "),
        space::fields(geometry, along),
        ["domain"; 3][..n].join(" "),
    );
    atomic::write(path, &[header.as_bytes(), &deflate::compress(Wrap::Gzip, &[], numbers, pixel)])
}
