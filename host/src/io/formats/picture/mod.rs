//! PNG, JPEG and TIFF as 2-D images. Pixels are 1 mm, with the first at the origin, rows along x and columns along y.

mod layout;
mod rows;
mod tiff;
mod whole;
mod write;

use std::io::{BufReader, Cursor};
use std::path::Path;

use glam::DVec3;
use image::{DynamicImage, ImageReader, Limits};

use crate::error::{Message, message};
use crate::image::pyramid;
use crate::io::check;
use crate::io::format::{ImageFormat, Names, ends};
use crate::io::reading::{Image, ReadOptions};
use crate::io::source::{self, MOST_DEFLATED, Source};
use crate::{Error, Geometry, PixelType, Result, Volume};
use rows::Rows;
pub use rows::Samples;
pub use whole::Whole;

/// Bytes that a decoder may allocate for its tables, whatever the length of the file.
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
    let (sink, notes) = rows(path, format, options, |whole, pixel| SubsamplingSink::new(whole, pixel, options))?;
    Ok(sink.finish(notes))
}

/// Passes the rows of the PNG or JPEG at `path` to a sink, which `sink` makes for a grid and a pixel type. Returns the
/// sink, and notes on the channels taken.
fn rows<S: Sink>(
    path: &Path,
    format: image::ImageFormat,
    options: &ReadOptions,
    sink: impl FnOnce(Geometry, PixelType) -> S,
) -> Result<(S, Vec<Message>)> {
    let rows = decoded(path, format, options)?;
    let (take, notes) = options.channel(rows.colours()).map_err(Error::at(path))?;
    let mut sink = sink(rows.grid().map_err(Error::at(path))?, rows.samples.pixel());
    let (rows, take, notes) = rows.behind_colours(options, (take, notes));
    rows.give(take, &mut |rows| sink.push(rows));
    Ok((sink, notes))
}

/// All pixels of the PNG or JPEG at `path`.
fn decoded(path: &Path, format: image::ImageFormat, options: &ReadOptions) -> Result<Rows> {
    options.volume(1, "volume").map_err(Error::at(path))?;
    let bytes = Source::open(path)?.bytes()?;
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(most_decoded(bytes.len() as u64));
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits);
    let image = reader.decode().map_err(|e| refused(path, format, &e.to_string()))?;
    let (width, channels) = (image.width() as usize, image.color().channel_count().into());
    let samples = match image {
        DynamicImage::ImageLuma8(image) => Samples::Bytes(image.into_raw()),
        DynamicImage::ImageLumaA8(image) => Samples::Bytes(image.into_raw()),
        DynamicImage::ImageRgb8(image) => Samples::Bytes(image.into_raw()),
        DynamicImage::ImageRgba8(image) => Samples::Bytes(image.into_raw()),
        DynamicImage::ImageLuma16(image) => Samples::Words(image.into_raw()),
        DynamicImage::ImageLumaA16(image) => Samples::Words(image.into_raw()),
        DynamicImage::ImageRgb16(image) => Samples::Words(image.into_raw()),
        DynamicImage::ImageRgba16(image) => Samples::Words(image.into_raw()),
        other => return Err(Error::file(path, other_pixels(&format!("{:?}", other.color())))),
    };
    Ok(Rows { samples, channels, width })
}

/// A receiver of the rows of an image.
trait Sink {
    /// Receives the next rows, with one number per pixel.
    fn push(&mut self, rows: &[f32]);
}

/// Makes a volume of rows, and subsamples it if the options limit the number of pixels.
struct SubsamplingSink {
    whole: Geometry,
    pixel: PixelType,
    step: usize,
    subsampler: pyramid::RowSubsampler,
}

impl Sink for SubsamplingSink {
    fn push(&mut self, rows: &[f32]) {
        self.subsampler.push(rows);
    }
}

impl SubsamplingSink {
    fn new(whole: Geometry, pixel: PixelType, options: &ReadOptions) -> Self {
        let step = options.step(whole.size);
        Self { whole, pixel, step, subsampler: pyramid::RowSubsampler::new(whole, step) }
    }

    fn finish(self, mut notes: Vec<Message>) -> Image {
        let Self { whole, pixel, step, subsampler } = self;
        let volume = subsampler.finish(pixel);
        let is_subsampled = step > 1;
        if is_subsampled {
            let [width, height, _] = volume.geometry.size;
            notes.push(message!("registered at {width} x {height} pixels, one in {step} along each axis"));
        }
        Image { volume, whole: is_subsampled.then_some(whole), notes }
    }
}

/// The most bytes that a file of this length can decode to.
fn most_decoded(length: u64) -> u64 {
    length.saturating_mul(MOST_DEFLATED).saturating_add(TABLES)
}

/// The most bytes that the pixels of a file of `length` bytes may decode to. The allowance is smaller than in
/// [`most_decoded`], because pixels are kept as f32.
fn most_pixels(length: u64) -> u64 {
    length.saturating_mul(MOST_DEFLATED).saturating_add(TABLES / 4)
}

/// The grid of an image of this many pixels.
fn grid(width: u32, height: u32) -> Result<Geometry, String> {
    let size = check::size([width.into(), height.into(), 1])?;
    Ok(Geometry::axis_aligned(size, DVec3::ONE, DVec3::ZERO))
}

/// The error for a file that a decoder refuses.
fn refused(path: &Path, format: image::ImageFormat, says: &str) -> Error {
    let says = says.replace('\n', " ");
    Error::file(path, format!("is no {format:?} that mireg reads ({says}); save it again with 8 or 16 bits a pixel"))
}

/// The error for pixels of a type that is not read.
fn other_pixels(kind: &str) -> Message {
    format!("its pixels are {kind}; save it with 8 or 16 bits a pixel").into()
}
