//! MetaImage: `.mha`, and `.mhd` with the voxels in a separate file.

mod header;

use std::path::Path;

use crate::error::{Message, message};
use crate::io::check::IF_FIELD;
use crate::io::coding::{self, Coding};
use crate::io::deflate::{self, Wrap};
use crate::io::format::{ImageFormat, Names, ends};
use crate::io::read_plan::ReadPlan;
use crate::io::reading::{Image, ReadOptions};
use crate::io::source::Source;
use crate::io::voxels::{self, Order, Shape};
use crate::io::{atomic, check, vectors};
use crate::transform::Field;
use crate::{Error, Geometry, PixelType, Result, Volume};
use header::{Data, Element, Header};

/// The error for a file of vectors that is read as an image.
const SEVERAL: &str = "has several numbers per voxel (ElementNumberOfChannels)";

/// `.mha` and `.mhd`.
pub struct MetaImage;

impl ImageFormat for MetaImage {
    fn names(&self) -> &Names {
        const ENDS: &[&str] = &[".mha", ".mhd"];
        &Names { read: ENDS, written: ENDS, fields: ENDS, listed: [ENDS, ENDS] }
    }

    fn read(&self, path: &Path, options: &ReadOptions) -> Result<Image> {
        let (plan, coding, geometry, voxels) = parts(path, |header| {
            let (size, volumes) = header.volumes()?;
            match (header.channels()?, header.coding()?.pixel) {
                (1, _) => options.choose(Shape { size, numbers: volumes, order: Order::Planes }),
                (numbers, pixel) => {
                    let shape = Shape { size, numbers, order: Order::Voxels };
                    let colours = matches!(numbers, 3 | 4) && pixel == PixelType::U8;
                    if colours || options.channel.is_number() {
                        return options.channels(shape, volumes);
                    }
                    let several = Message::from(SEVERAL).then(&options.channel_advice(numbers));
                    Err(if matches!(numbers, 2 | 3) { several.then(&message!(""; ". {IF_FIELD}")) } else { several })
                }
            }
        })?;
        Ok(plan.image(geometry, &coding, voxels))
    }

    fn geometry(&self, path: &Path) -> Result<Geometry> {
        let header = Header::read(&mut Source::open(path)?)?;
        header.volumes().and_then(|(size, _)| header.geometry(size)).map_err(|message| Error::file(path, message))
    }

    fn write(&self, path: &Path, volume: &Volume) -> Result<()> {
        write(path, &volume.geometry, &Element { pixel: volume.pixel, channels: 1 }, &volume.voxels)
    }

    fn read_field(&self, path: &Path) -> Result<Field> {
        let (_, _, geometry, numbers) = parts(path, |header| {
            let ((size, volumes), numbers) = (header.volumes()?, header.channels()?);
            check::one_field(volumes)?;
            check::numbers(size, numbers)?;
            Ok(ReadPlan::all(Shape { size, numbers, order: Order::Voxels }))
        })?;
        Ok(vectors::field(geometry, &numbers, Order::Voxels))
    }

    fn write_field(&self, path: &Path, field: &Field) -> Result<()> {
        let element = Element { pixel: PixelType::F32, channels: vectors::channels(&field.geometry) };
        write(path, &field.geometry, &element, &vectors::numbers(field, Order::Voxels))
    }
}

/// Reads a file. `choose` decides by the header which voxels to take. Returns its decision, the coding of the voxels,
/// their grid, and the voxels.
fn parts(
    path: &Path,
    choose: impl Fn(&Header) -> Result<ReadPlan, Message>,
) -> Result<(ReadPlan, Coding, Geometry, Vec<f32>)> {
    let mut source = Source::open(path)?;
    let header = Header::read(&mut source)?;
    let wrong = |message: String| Error::file(path, message);
    let plan = choose(&header).map_err(Error::at(path))?;
    let geometry = header.geometry(plan.shape.size).map_err(wrong)?;
    let coding = header.coding().map_err(wrong)?;
    if let Data::File(name) = header.data().map_err(wrong)? {
        source = Source::open_named(path, &name)?;
    }
    let bytes = header.data_bytes(&plan.shape, &coding).map_err(wrong)?;
    if let Some(start) = header.start(&source, bytes).map_err(wrong)? {
        source.skip_to(start)?;
    }
    if header.compressed().map_err(wrong)? {
        source = source.zlib();
    }
    let voxels = voxels::read(source, &plan.shape, &coding, plan.take)?;
    Ok((plan, coding, geometry, voxels))
}

/// Writes a single file, or for `.mhd` the voxels to a `.raw` file and then the header.
fn write(path: &Path, geometry: &Geometry, element: &Element, numbers: &[f32]) -> Result<()> {
    let write = if ends(path, &[".mhd"]) { mhd } else { mha };
    write(path, geometry, element, numbers)
}

fn mha(path: &Path, geometry: &Geometry, element: &Element, numbers: &[f32]) -> Result<()> {
    atomic::write_with(path, |file| {
        // The header gives the number of compressed bytes, so the voxels are compressed first.
        let mut data = Vec::new();
        deflate::compress(Wrap::Zlib, &[], numbers, |part| coding::encode(part, element.pixel), &mut data)?;
        file.write_all(header::text(geometry, element, "LOCAL", Some(data.len())).as_bytes())?;
        file.write_all(&data)
    })
}

fn mhd(path: &Path, geometry: &Geometry, element: &Element, numbers: &[f32]) -> Result<()> {
    let raw = path.with_extension("raw");
    let name = raw.file_name().unwrap_or_default().to_string_lossy();
    let header = header::text(geometry, element, &name, None);
    atomic::write(&raw, &[&coding::encode(numbers, element.pixel)])?;
    atomic::write(path, &[header.as_bytes()])
}
