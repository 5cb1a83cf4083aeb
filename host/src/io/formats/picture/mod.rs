//! PNG, JPEG and TIFF as 2-D images: a pixel is 1 mm, the first at the origin, rows along x, columns along y.

mod rows;
mod tiff;
mod write;

use std::io::{BufReader, Cursor};
use std::path::Path;

use glam::DVec3;
use image::{DynamicImage, ImageReader, Limits};

use crate::error::Message;
use crate::io::check;
use crate::io::format::{ImageFormat, Names, ends};
use crate::io::reading::{Image, ReadOptions};
use crate::io::source::{self, MOST_DEFLATED, Source};
use crate::{Error, Geometry, Result, Volume};
use rows::{Rows, Samples};

/// Bytes that a decoder may take whatever the file's length: its tables.
const TABLES: u64 = 1 << 20;

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
        match format(path) {
            image::ImageFormat::Tiff => tiff::read(path, options),
            format => read(path, format, options),
        }
    }

    fn geometry(&self, path: &Path) -> Result<Geometry> {
        match format(path) {
            image::ImageFormat::Tiff => tiff::geometry(path),
            format => {
                let reader = ImageReader::with_format(BufReader::new(source::open(path)?.0), format);
                let (width, height) = reader.into_dimensions().map_err(|e| refused(path, format, &e.to_string()))?;
                grid(width, height).map_err(Error::at(path))
            }
        }
    }

    fn write(&self, path: &Path, volume: &Volume) -> Result<()> {
        write::write(path, volume, format(path))
    }
}

fn format(path: &Path) -> image::ImageFormat {
    match () {
        () if ends(path, &[".png"]) => image::ImageFormat::Png,
        () if ends(path, &[".tif", ".tiff"]) => image::ImageFormat::Tiff,
        () => image::ImageFormat::Jpeg,
    }
}

/// Reads the PNG or JPEG at `path`.
fn read(path: &Path, format: image::ImageFormat, options: &ReadOptions) -> Result<Image> {
    options.volume(1, "volume").map_err(Error::at(path))?;
    let bytes = Source::open(path)?.bytes()?;
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(most_decoded(bytes.len() as u64));
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits);
    let image = reader.decode().map_err(|e| refused(path, format, &e.to_string()))?;
    let [width, height] = [image.width(), image.height()];
    let rows = match image {
        DynamicImage::ImageLuma8(image) => Rows { samples: Samples::Bytes(image.into_raw()), channels: 1 },
        DynamicImage::ImageLumaA8(image) => Rows { samples: Samples::Bytes(image.into_raw()), channels: 2 },
        DynamicImage::ImageRgb8(image) => Rows { samples: Samples::Bytes(image.into_raw()), channels: 3 },
        DynamicImage::ImageRgba8(image) => Rows { samples: Samples::Bytes(image.into_raw()), channels: 4 },
        DynamicImage::ImageLuma16(image) => Rows { samples: Samples::Words(image.into_raw()), channels: 1 },
        DynamicImage::ImageLumaA16(image) => Rows { samples: Samples::Words(image.into_raw()), channels: 2 },
        DynamicImage::ImageRgb16(image) => Rows { samples: Samples::Words(image.into_raw()), channels: 3 },
        DynamicImage::ImageRgba16(image) => Rows { samples: Samples::Words(image.into_raw()), channels: 4 },
        other => return Err(Error::file(path, other_pixels(&format!("{:?}", other.color())))),
    };
    // What lies beside grey is no channel to choose, but alpha.
    let channels = if rows.channels == 2 { 1 } else { rows.channels };
    let (take, notes) = options.channel(channels).map_err(Error::at(path))?;
    let pixel = rows.samples.pixel();
    let voxels = rows.grey(take);
    let geometry = grid(width, height).map_err(Error::at(path))?;
    Ok(Image { volume: Volume { geometry, voxels, pixel }, notes })
}

/// Bytes that a file of this length can hold when it is decoded.
fn most_decoded(length: u64) -> u64 {
    length.saturating_mul(MOST_DEFLATED).saturating_add(TABLES)
}

/// The grid of a picture of these pixels.
fn grid(width: u32, height: u32) -> Result<Geometry, String> {
    let size = check::size([width.into(), height.into(), 1])?;
    Ok(Geometry::axis_aligned(size, DVec3::ONE, DVec3::ZERO))
}

/// What is said of a file that a decoder refuses.
fn refused(path: &Path, format: image::ImageFormat, says: &str) -> Error {
    let says = says.replace('\n', " ");
    Error::file(path, format!("is no {format:?} that mireg reads ({says}); save it again with 8 or 16 bits a pixel"))
}

/// What is said of pixels that are not read.
fn other_pixels(kind: &str) -> Message {
    format!("its pixels are {kind}; save it with 8 or 16 bits a pixel").into()
}
