//! Reads NIfTI-1 and NIfTI-2, and writes NIfTI-1.

mod form;
mod header;
mod written;

use std::path::{Path, PathBuf};

use crate::error::Message;
use crate::io::coding;
use crate::io::deflate::{self, Wrap};
use crate::io::format::{ImageFormat, Names, ends};
use crate::io::read_plan::ReadPlan;
use crate::io::reading::{Image, ReadOptions};
use crate::io::source::Source;
use crate::io::voxels::{self, Order, Shape};
use crate::io::{atomic, vectors};
use crate::transform::Field;
use crate::{Error, Geometry, PixelType, Result, Volume};
use header::Header;

/// `.nii`, `.nii.gz`, and `.hdr` with `.img`.
pub struct Nifti;

impl ImageFormat for Nifti {
    fn names(&self) -> &Names {
        &Names {
            read: &[".nii.gz", ".nii", ".hdr", ".img"],
            written: &[".nii.gz", ".nii"],
            fields: &[".nii.gz", ".nii"],
            listed: [&[".nii", ".nii.gz", ".hdr with .img"], &[".nii", ".nii.gz"]],
        }
    }

    fn read(&self, path: &Path, options: &ReadOptions) -> Result<Image> {
        let (header, plan, geometry, voxels) = parts(&header_file(path), |header| {
            let (size, volumes) = header.volumes()?;
            match header.colours() {
                Some(numbers) => options.channels(Shape { size, numbers, order: Order::Voxels }, volumes),
                None => options.choose(Shape { size, numbers: volumes, order: Order::Planes }),
            }
        })?;
        let coding = header.coding().map_err(Error::at(path))?;
        let note = form::sides_note(&header, &geometry);
        let mut image = plan.image(geometry, &coding, voxels);
        image.notes.extend(note);
        Ok(image)
    }

    fn geometry(&self, path: &Path) -> Result<Geometry> {
        let path = header_file(path);
        let header = Header::read(&mut Source::open_gzip(&path)?)?;
        let placed = header.volumes().and_then(|(size, _)| form::geometry(&header, size));
        placed.map_err(|message| Error::file(path, message))
    }

    fn write(&self, path: &Path, volume: &Volume) -> Result<()> {
        write_voxels(path, &volume.geometry, volume.pixel, &volume.voxels)
    }

    fn read_field(&self, path: &Path) -> Result<Field> {
        let (header, _, geometry, mut numbers) = parts(&header_file(path), |header| {
            let (size, numbers, _) = header.field()?;
            Ok(ReadPlan::all(Shape { size, numbers, order: Order::Planes }))
        })?;
        let ras = header.field().is_ok_and(|(.., ras)| ras);
        if ras {
            // RAS to LPS: negates x and y, whose planes come first.
            let xy = 2 * geometry.voxels();
            numbers[..xy].iter_mut().for_each(|number| *number = -*number);
        }
        Ok(vectors::field(geometry, &numbers, Order::Planes))
    }

    fn write_field(&self, path: &Path, field: &Field) -> Result<()> {
        write_voxels(path, &field.geometry, PixelType::F32, &vectors::numbers(field, Order::Planes))
    }
}

/// The file with the header. For a pair of files it is read first.
fn header_file(path: &Path) -> PathBuf {
    if ends(path, &[".img"]) { path.with_extension("hdr") } else { path.to_owned() }
}

/// Reads a file. `choose` decides by the header which voxels to take. Returns the header, this decision, the grid, and
/// the voxels.
fn parts(
    path: &Path,
    choose: impl Fn(&Header) -> Result<ReadPlan, Message>,
) -> Result<(Header, ReadPlan, Geometry, Vec<f32>)> {
    let mut source = Source::open_gzip(path)?;
    let header = Header::read(&mut source)?;
    let wrong = |message: String| Error::file(path, message);
    let plan = choose(&header).map_err(Error::at(path))?;
    let geometry = form::geometry(&header, plan.shape.size).map_err(wrong)?;
    let coding = header.coding().map_err(wrong)?;
    let start = header.voxel_offset().map_err(wrong)?;
    if header.pair {
        source = Source::open(&path.with_extension("img"))?;
    }
    source.skip_to(start)?;
    let voxels = voxels::read(source, &plan.shape, &coding, plan.take)?;
    Ok((header, plan, geometry, voxels))
}

fn write_voxels(path: &Path, geometry: &Geometry, pixel: PixelType, voxels: &[f32]) -> Result<()> {
    let header = written::header(geometry, pixel, voxels.len() / geometry.voxels());
    let header = header.map_err(|message| Error::file(path, message))?;
    let encode = |part: &[f32]| coding::encode(part, pixel);
    if ends(path, &[".gz"]) {
        return atomic::write_with(path, |file| deflate::compress(Wrap::Gzip, &header, voxels, encode, file));
    }
    atomic::write(path, &[&header, &encode(voxels)])
}
