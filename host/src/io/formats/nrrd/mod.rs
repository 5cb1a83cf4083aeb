//! NRRD: `.nrrd`, and `.nhdr` with the voxels in a separate file.

mod header;
mod space;

use std::path::Path;

use crate::error::Message;
use crate::io::coding::{self, Coding};
use crate::io::deflate::{self, Wrap};
use crate::io::format::{ImageFormat, Names};
use crate::io::read_plan::ReadPlan;
use crate::io::reading::{Image, ReadOptions};
use crate::io::source::Source;
use crate::io::voxels::{self, Order, Shape};
use crate::io::{atomic, check, vectors};
use crate::transform::Field;
use crate::{Error, Geometry, PixelType, Result, Volume};
use header::{Encoding, Header};
use space::Inner;

/// `.nrrd`, and `.nhdr`, which is only read.
pub struct Nrrd;

impl ImageFormat for Nrrd {
    fn names(&self) -> &Names {
        const BOTH: &[&str] = &[".nrrd", ".nhdr"];
        const ONE: &[&str] = &[".nrrd"];
        &Names { read: BOTH, written: ONE, fields: ONE, listed: [BOTH, ONE] }
    }

    fn read(&self, path: &Path, options: &ReadOptions) -> Result<Image> {
        let (plan, coding, geometry, voxels) = parts(path, |header, axes, inner| {
            let (size, volumes) = header.volumes(axes)?;
            let several = |numbers, order| options.choose(Shape { size, numbers, order });
            match inner {
                [] => several(volumes, Order::Planes),
                [inner]
                    if inner.is_list()
                        && volumes == 1
                        && let Some(order) = inner.order(axes) =>
                {
                    several(check::volumes(&[inner.size])?, order)
                }
                [inner] if inner.is_colour() && inner.axis == 0 && header.coding()?.pixel == PixelType::U8 => {
                    options.channels(Shape { size, numbers: inner.size as usize, order: Order::Voxels }, volumes)
                }
                [inner]
                    if options.channel.is_number()
                        && let Some(order) = inner.order(axes) =>
                {
                    options.channels(Shape { size, numbers: check::volumes(&[inner.size])?, order }, volumes)
                }
                [inner, ..] => Err(inner.refusal().into()),
            }
        })?;
        Ok(plan.image(geometry, &coding, voxels))
    }

    fn geometry(&self, path: &Path) -> Result<Geometry> {
        let header = Header::read(&mut Source::open(path)?)?;
        let placed = space::axes(&header).and_then(|(axes, _)| {
            let (size, _) = header.volumes(&axes)?;
            space::geometry(&header, &axes, size)
        });
        placed.map_err(Error::at(path))
    }

    fn write(&self, path: &Path, volume: &Volume) -> Result<()> {
        write_voxels(path, &volume.geometry, volume.pixel, &volume.voxels, 1)
    }

    /// Reads a field whose vectors are along the fastest or the slowest axis.
    fn read_field(&self, path: &Path) -> Result<Field> {
        let (plan, _, geometry, numbers) = parts(path, |header, axes, inner| {
            let (size, volumes) = header.volumes(axes)?;
            check::one_field(volumes)?;
            let (numbers, order) = match inner {
                [] => (1, Order::Voxels),
                [inner] if inner.is_vector() && let Some(order) = inner.order(axes) => (inner.size as usize, order),
                _ => return Err("its axes are not those of a displacement field (kinds: vector domain domain domain); correct the header".into()),
            };
            check::numbers(size, numbers)?;
            space::vectors_in_lps(header)?;
            Ok(ReadPlan::all(Shape { size, numbers, order }))
        })?;
        Ok(vectors::field(geometry, &numbers, plan.shape.order))
    }

    fn write_field(&self, path: &Path, field: &Field) -> Result<()> {
        let numbers = vectors::numbers(field, Order::Voxels);
        write_voxels(path, &field.geometry, PixelType::F32, &numbers, vectors::channels(&field.geometry))
    }
}

/// Reads a file. `choose` decides by the header, its spatial axes and its other axes which voxels to take. Returns its
/// decision, the coding of the voxels, their grid, and the voxels.
fn parts(
    path: &Path,
    choose: impl Fn(&Header, &[usize], &[Inner]) -> Result<ReadPlan, Message>,
) -> Result<(ReadPlan, Coding, Geometry, Vec<f32>)> {
    let mut source = Source::open(path)?;
    let header = Header::read(&mut source)?;
    let wrong = |message: String| Error::file(path, message);
    let (axes, inner) = space::axes(&header).map_err(wrong)?;
    let plan = choose(&header, &axes, &inner).map_err(Error::at(path))?;
    let geometry = space::geometry(&header, &axes, plan.shape.size).map_err(wrong)?;
    let coding = header.coding().map_err(wrong)?;
    let encoding = header.encoding().map_err(wrong)?;
    if let Some(name) = header.data_file().map_err(wrong)? {
        source = Source::open_named(path, name)?;
    }
    source.skip_lines(u64::try_from(header.number("line skip").map_err(wrong)?).unwrap_or(0))?;
    if encoding == Encoding::Gzip {
        source = source.gzip();
    }
    match header.number("byte skip").map_err(wrong)? {
        0 => {}
        // The voxels are at the end of the file.
        -1 if encoding == Encoding::Raw => {
            source.skip_to(source.position() + source.remaining().saturating_sub(plan.shape.bytes(&coding)))?
        }
        skip => match u64::try_from(skip) {
            Ok(skip) => source.skip_to(source.position().saturating_add(skip))?,
            Err(_) => {
                return Err(wrong(format!("its field \"byte skip: {skip}\" should be 0 or more; correct the header")));
            }
        },
    }
    let voxels = match encoding {
        Encoding::Ascii => voxels::read_text(source, &plan.shape, plan.take)?,
        Encoding::Raw | Encoding::Gzip => voxels::read(source, &plan.shape, &coding, plan.take)?,
    };
    Ok((plan, coding, geometry, voxels))
}

/// Writes a compressed file with `channels` numbers per voxel.
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
    // Vectors have an axis of their own, the fastest.
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
    atomic::write_with(path, |file| {
        file.write_all(header.as_bytes())?;
        deflate::compress(Wrap::Gzip, &[], numbers, |part| coding::encode(part, pixel), file)
    })
}
