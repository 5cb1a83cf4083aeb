//! NRRD: `.nrrd`, and `.nhdr` with the voxels in a file of their own.

mod header;
mod space;

use std::path::Path;

use super::deflate::{self, Wrap};
use super::source::Source;
use super::{atomic, voxels};
use crate::{Error, PixelType, Result, Volume};
use header::{Encoding, Header};

/// Reads the file at `path`, and the one that it names where the voxels are not in it.
pub fn read(path: &Path) -> Result<Volume> {
    let mut source = Source::open(path)?;
    let header = Header::read(&mut source)?;
    let wrong = |message: String| Error::file(path, message);
    let axes = space::axes(&header).map_err(wrong)?;
    let size = header.size(&axes).map_err(wrong)?;
    let geometry = space::geometry(&header, &axes, size).map_err(wrong)?;
    let coding = header.coding().map_err(wrong)?;
    let encoding = header.encoding().map_err(wrong)?;
    if let Some(name) = header.data_file().map_err(wrong)? {
        source = Source::open(&path.with_file_name(name))?;
    }
    source.skip_lines(u64::try_from(header.number("line skip").map_err(wrong)?).unwrap_or(0))?;
    if encoding == Encoding::Gzip {
        source = source.gzip();
    }
    let bytes = size.iter().fold(coding.pixel.bytes() as u64, |bytes, &n| bytes.saturating_mul(n as u64));
    match header.number("byte skip").map_err(wrong)? {
        0 => {}
        // The voxels are what the file ends with.
        -1 if encoding == Encoding::Raw => {
            source.skip_to(source.position() + source.remaining().saturating_sub(bytes))?
        }
        skip => match u64::try_from(skip) {
            Ok(skip) => source.skip_to(source.position().saturating_add(skip))?,
            Err(_) => {
                return Err(wrong(format!("its field \"byte skip: {skip}\" should be 0 or more; correct the header")));
            }
        },
    }
    let voxels = match encoding {
        Encoding::Ascii => voxels::read_text(source, size)?,
        Encoding::Raw | Encoding::Gzip => voxels::read(source, size, &coding)?,
    };
    Ok(Volume { geometry, voxels, pixel: coding.pixel })
}

/// Writes one file with compressed voxels.
pub fn write(path: &Path, volume: &Volume) -> Result<()> {
    let kind = match volume.pixel {
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
    let n = if volume.geometry.size[2] == 1 { 2 } else { 3 };
    let header = format!(
        "NRRD0004\ntype: {kind}\ndimension: {n}\nsizes: {}\n{}kinds: {}\nendian: little\nencoding: gzip\n\n",
        volume.geometry.size.map(|n| n.to_string())[..n].join(" "),
        space::fields(&volume.geometry),
        ["domain"; 3][..n].join(" "),
    );
    atomic::write(path, &[header.as_bytes(), &deflate::compress(Wrap::Gzip, &[], &volume.voxels, volume.pixel)])
}
