//! PNG, JPEG and TIFF as 2-D images: a pixel is 1 mm, the first at the origin, rows along x, columns along y.

use std::fs::File;
use std::io::{BufReader, Cursor};
use std::path::Path;

use glam::DVec3;
use image::codecs::jpeg::JpegEncoder;
use image::{ColorType, DynamicImage, ImageBuffer, ImageError, ImageFormat, ImageReader, Limits};

use super::source::{MOST_DEFLATED, Source};
use super::{atomic, check};
use crate::{Error, Geometry, PixelType, Result, Volume};

/// Bytes that a decoder may take whatever the file's length: its tables.
const TABLES: u64 = 1 << 20;
/// Of JPEG, on its scale of 1 to 100.
const QUALITY: u8 = 95;

/// Reads the one image in the file at `path`, which must be of `format`.
pub fn read(path: &Path, format: ImageFormat) -> Result<Volume> {
    let length = Source::open(path)?.remaining();
    let damaged = |e: ImageError| {
        let says = e.to_string().replace('\n', " ");
        Error::file(
            path,
            format!("is no {format:?} that mireg reads ({says}); save it again with 8 or 16 bits a pixel"),
        )
    };
    let file = File::open(path).map_err(|e| damaged(e.into()))?;
    let mut reader = ImageReader::with_format(BufReader::new(file), format);
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(length.saturating_mul(MOST_DEFLATED).saturating_add(TABLES));
    reader.limits(limits);
    let image = reader.decode().map_err(damaged)?;
    let size = check::size([image.width().into(), image.height().into(), 1]).map_err(|m| Error::file(path, m))?;
    let (voxels, pixel) = match image.color() {
        ColorType::L8 | ColorType::La8 | ColorType::Rgb8 | ColorType::Rgba8 => {
            (image.into_luma8().into_raw().into_iter().map(f32::from).collect(), PixelType::U8)
        }
        ColorType::L16 | ColorType::La16 | ColorType::Rgb16 | ColorType::Rgba16 => {
            (image.into_luma16().into_raw().into_iter().map(f32::from).collect(), PixelType::U16)
        }
        other => return Err(Error::file(path, format!("its pixels are {other:?}; save it with 8 or 16 bits a pixel"))),
    };
    Ok(Volume { geometry: Geometry::axis_aligned(size, DVec3::ONE, DVec3::ZERO), voxels, pixel })
}

/// Writes the 2-D image `volume`.
pub fn write(path: &Path, volume: &Volume, format: ImageFormat) -> Result<()> {
    let wrong = |message: String| Error::file(path, message);
    let [width, height, slices] = volume.geometry.size;
    if slices != 1 {
        return Err(wrong(format!("{format:?} holds one slice, not {slices}; write .nii.gz")));
    }
    if format == ImageFormat::Jpeg && volume.pixel != PixelType::U8 {
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
        ImageFormat::Jpeg => image.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, QUALITY)),
        _ => image.write_to(&mut bytes, format),
    };
    encoded.map_err(|e| wrong(format!("cannot be written as {format:?} ({e}); write .nii.gz")))?;
    atomic::write(path, &[bytes.get_ref()])
}
