//! PNG, JPEG and TIFF as 2-D images: a pixel is 1 mm, the first at the origin, rows along x, columns along y.

use std::io::Cursor;
use std::path::Path;

use glam::DVec3;
use image::codecs::jpeg::JpegEncoder;
use image::{ColorType, DynamicImage, ImageBuffer, ImageReader, Limits};

use crate::io::format::{ImageFormat, Names, ends};
use crate::io::reading::{Image, ReadOptions};
use crate::io::source::{MOST_DEFLATED, Source};
use crate::io::wanted::colours_became_luma;
use crate::io::{atomic, check};
use crate::{Error, Geometry, PixelType, Result, Volume};

/// Bytes that a decoder may take whatever the file's length: its tables.
const TABLES: u64 = 1 << 20;
/// Of JPEG, on its scale of 1 to 100.
const QUALITY: u8 = 95;

/// PNG, JPEG and TIFF.
pub struct Picture;

impl ImageFormat for Picture {
    fn names(&self) -> &Names {
        const ENDS: &[&str] = &[".png", ".jpg", ".jpeg", ".tif", ".tiff"];
        const LISTED: &[&str] = &[".png", ".jpg", ".tif"];
        &Names { read: ENDS, written: ENDS, fields: &[], listed: [LISTED, LISTED] }
    }

    fn is_picture(&self) -> bool {
        true
    }

    fn read(&self, path: &Path, options: &ReadOptions) -> Result<Image> {
        options.one_volume().map_err(Error::at(path))?;
        read(path, format(path))
    }

    fn write(&self, path: &Path, volume: &Volume) -> Result<()> {
        write(path, volume, format(path))
    }
}

fn format(path: &Path) -> image::ImageFormat {
    match () {
        () if ends(path, &[".png"]) => image::ImageFormat::Png,
        () if ends(path, &[".tif", ".tiff"]) => image::ImageFormat::Tiff,
        () => image::ImageFormat::Jpeg,
    }
}

/// Reads the first image in the file at `path`, which must be of `format`.
fn read(path: &Path, format: image::ImageFormat) -> Result<Image> {
    let bytes = Source::open(path)?.bytes()?;
    let refused = |says: String| {
        Error::file(
            path,
            format!("is no {format:?} that mireg reads ({says}); save it again with 8 or 16 bits a pixel"),
        )
    };
    if format == image::ImageFormat::Tiff && !entries_fit(&bytes) {
        return Err(refused("its directory claims more values than the file can hold".into()));
    }
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some((bytes.len() as u64).saturating_mul(MOST_DEFLATED).saturating_add(TABLES));
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits);
    let image = reader.decode().map_err(|e| refused(e.to_string().replace('\n', " ")))?;
    let size = check::size([image.width().into(), image.height().into(), 1]).map_err(|m| Error::file(path, m))?;
    let notes = if image.color().has_color() { vec![colours_became_luma()] } else { Vec::new() };
    let (voxels, pixel) = match image.color() {
        ColorType::L8 | ColorType::La8 | ColorType::Rgb8 | ColorType::Rgba8 => {
            (grey(&image.into_luma8()), PixelType::U8)
        }
        ColorType::L16 | ColorType::La16 | ColorType::Rgb16 | ColorType::Rgba16 => {
            (grey(&image.into_luma16()), PixelType::U16)
        }
        other => return Err(Error::file(path, format!("its pixels are {other:?}; save it with 8 or 16 bits a pixel"))),
    };
    let geometry = Geometry::axis_aligned(size, DVec3::ONE, DVec3::ZERO);
    Ok(Image { volume: Volume { geometry, voxels, pixel }, notes })
}

fn grey<T: Copy + Into<f32>>(samples: &[T]) -> Vec<f32> {
    samples.iter().map(|&sample| sample.into()).collect()
}

/// Whether no entry of the first directory of a TIFF file claims more values than there are bytes. Its decoder allocates what
/// they claim before it can be given a limit.
fn entries_fit(bytes: &[u8]) -> bool {
    let number = |at: usize, width: usize| {
        let push = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
        let bytes_of_it = bytes.get(at..at.checked_add(width)?)?;
        let reversed = bytes.starts_with(b"II");
        Some(if reversed { bytes_of_it.iter().rev().fold(0, push) } else { bytes_of_it.iter().fold(0, push) })
    };
    // Of BigTIFF and of TIFF: where the directory's place is, and the bytes of that place, of the number of its entries, of an
    // entry, and of a count in it.
    let (at, offset, total, entry, count) = if number(2, 2) == Some(43) { (8, 8, 8, 20, 8) } else { (4, 4, 2, 12, 4) };
    let Some(start) = number(at, offset).and_then(|start| usize::try_from(start).ok()) else { return true };
    let entries = number(start, total).unwrap_or(0);
    let first = start.saturating_add(total);
    let mut counts = (0..entries).map_while(|n| number(first.saturating_add(n as usize * entry + 4), count));
    counts.all(|count| count <= bytes.len() as u64)
}

/// Writes the 2-D image `volume`.
fn write(path: &Path, volume: &Volume, format: image::ImageFormat) -> Result<()> {
    let wrong = |message: String| Error::file(path, message);
    let [width, height, slices] = volume.geometry.size;
    if slices != 1 {
        return Err(wrong(format!("{format:?} holds one slice, not {slices}; write .nii.gz")));
    }
    if format == image::ImageFormat::Jpeg && volume.pixel != PixelType::U8 {
        return Err(wrong(format!("JPEG holds voxels of u8, not of {:?}; write .png or .tif", volume.pixel)));
    }
    let (Ok(width), Ok(height)) = (u32::try_from(width), u32::try_from(height)) else {
        return Err(wrong(format!("{width} x {height} pixels are too many for {format:?}; write .mha")));
    };
    // A cast from float to integer clamps.
    let rounded = volume.voxels.iter().map(|voxel| voxel.round_ties_even());
    let image: Option<DynamicImage> = if volume.pixel == PixelType::U8 {
        ImageBuffer::from_raw(width, height, rounded.map(|v| v as u8).collect()).map(DynamicImage::ImageLuma8)
    } else {
        ImageBuffer::from_raw(width, height, rounded.map(|v| v as u16).collect()).map(DynamicImage::ImageLuma16)
    };
    let image = image.ok_or_else(|| wrong("the volume has other voxels than its size says".into()))?;
    let mut bytes = Cursor::new(Vec::new());
    let encoded = match format {
        image::ImageFormat::Jpeg => image.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, QUALITY)),
        _ => image.write_to(&mut bytes, format),
    };
    encoded.map_err(|e| wrong(format!("cannot be written as {format:?} ({e}); write .nii.gz")))?;
    atomic::write(path, &[bytes.get_ref()])
}
