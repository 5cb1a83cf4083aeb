//! NIfTI-1 and NIfTI-2, read; NIfTI-1, written.

mod fields;
mod form;
mod header;

use std::path::Path;

use super::atomic;
use super::deflate::{self, Wrap};
use super::field::Vectors;
use super::source::Source;
use super::voxels::{self, Coding, Order, Shape};
use crate::{Error, Geometry, PixelType, Result, Volume};
use header::Header;

/// Reads the header of the file at `path`.
pub fn geometry(path: &Path) -> Result<Geometry> {
    let header = Header::read(&mut Source::open_gzip(path)?)?;
    let placed = header.size().and_then(|size| form::geometry(&header, size));
    placed.map_err(|message| Error::file(path, message))
}

/// Reads the file at `path`, or the pair of it and its `.img`, gzip or not.
pub fn read(path: &Path) -> Result<Volume> {
    let source = Source::open_gzip(path)?;
    let (_, coding, geometry, voxels) = parts(path, source, |header| Ok((header.size()?, 1)))?;
    let pixel = coding.volume_pixel();
    Ok(Volume { geometry, voxels, pixel })
}

/// Reads the displacement field in the file at `path`, gzip or not.
pub fn read_field(path: &Path) -> Result<Vectors> {
    let source = Source::open_gzip(path)?;
    let numbers = |header: &Header| header.field().map(|(size, numbers, _)| (size, numbers));
    let (header, _, geometry, mut numbers) = parts(path, source, numbers)?;
    let ras = header.field().is_ok_and(|(.., ras)| ras);
    if ras {
        // The x and y of all voxels come first.
        let xy = 2 * geometry.voxels();
        numbers[..xy].iter_mut().for_each(|number| *number = -*number);
    }
    Ok(Vectors { geometry, numbers, order: Order::Planes })
}

/// The header, where the voxels lie, and the voxels, of the size and numbers each that `shape` takes from the header.
fn parts(
    path: &Path,
    mut source: Source,
    shape: impl Fn(&Header) -> std::result::Result<([usize; 3], usize), String>,
) -> Result<(Header, Coding, Geometry, Vec<f32>)> {
    let header = Header::read(&mut source)?;
    let wrong = |message: String| Error::file(path, message);
    let (size, numbers) = shape(&header).map_err(wrong)?;
    let geometry = form::geometry(&header, size).map_err(wrong)?;
    let coding = header.coding().map_err(wrong)?;
    let start = header.voxel_offset().map_err(wrong)?;
    if header.pair {
        source = Source::open(&path.with_extension("img"))?;
    }
    source.skip_to(start)?;
    let voxels = voxels::read(source, &Shape { size, numbers, order: Order::Planes }, &coding)?;
    Ok((header, coding, geometry, voxels))
}

/// Writes one `.nii` file, compressed or not.
pub fn write(path: &Path, volume: &Volume, gzip: bool) -> Result<()> {
    write_voxels(path, &volume.geometry, volume.pixel, &volume.voxels, gzip)
}

/// Writes one `.nii` file of vectors, compressed or not: `planes` has all their first numbers, then all their second ones, and so on.
pub fn write_field(path: &Path, geometry: &Geometry, planes: &[f32], gzip: bool) -> Result<()> {
    write_voxels(path, geometry, PixelType::F32, planes, gzip)
}

fn write_voxels(path: &Path, geometry: &Geometry, pixel: PixelType, voxels: &[f32], gzip: bool) -> Result<()> {
    let header = header::bytes(geometry, pixel, voxels.len() / geometry.voxels());
    let header = header.map_err(|message| Error::file(path, message))?;
    if gzip {
        return atomic::write(path, &[&deflate::compress(Wrap::Gzip, &header, voxels, pixel)]);
    }
    atomic::write(path, &[&header, &voxels::encode(voxels, pixel)])
}
