//! Reads all pixels of a large image, as the 8-bit or 16-bit numbers that its file holds.

use std::path::Path;

use image::ImageFormat;
use rayon::prelude::*;

use super::rows::Samples;
use super::{Sink, format, rows, tiff, write};
use crate::io::reading::ReadOptions;
use crate::{Error, Geometry, PixelType, Result};

/// An image with one number per pixel.
pub struct Whole {
    pub geometry: Geometry,
    pub samples: Samples,
}

impl Whole {
    /// Reads the image at `path` with all its pixels, even if `options` limit their number.
    ///
    /// # Errors
    /// Those of [`read_with`](crate::io::read_with).
    pub fn read(path: &Path, options: &ReadOptions) -> Result<Self> {
        let (whole, _) = match format(path) {
            ImageFormat::Tiff => tiff::rows(path, options, Self::new)?,
            other => rows(path, other, options, Self::new)?,
        };
        Ok(whole)
    }

    fn new(geometry: Geometry, pixel: PixelType) -> Self {
        let count = geometry.voxels();
        let samples = match pixel {
            PixelType::U8 => Samples::Bytes(Vec::with_capacity(count)),
            _ => Samples::Words(Vec::with_capacity(count)),
        };
        Self { geometry, samples }
    }

    /// Writes the image.
    ///
    /// # Errors
    /// Those of [`write`](crate::io::write).
    pub fn write(self, path: &Path) -> Result<()> {
        let [width, height, _] = self.geometry.size.map(|n| n as u32);
        let image = self.samples.image(width, height);
        let image = image.ok_or_else(|| Error::file(path, "has another number of pixels than its grid"))?;
        write::encode(path, &image, format(path))
    }
}

impl Sink for Whole {
    fn push(&mut self, rows: &[f32]) {
        match &mut self.samples {
            Samples::Bytes(bytes) => bytes.par_extend(rows.par_iter().map(|&v| v as u8)),
            Samples::Words(words) => words.par_extend(rows.par_iter().map(|&v| v as u16)),
        }
    }
}
