//! Writes PNG, JPEG and TIFF files.

use std::io::Cursor;
use std::path::Path;

use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageFormat};

use super::rows::Samples;
use crate::io::atomic;
use crate::{Error, PixelType, Result, Volume};

/// The quality of JPEG files, on a scale of 1 to 100.
const QUALITY: u8 = 95;

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
    // The casts below clamp.
    let rounded = volume.voxels.iter().map(|voxel| voxel.round_ties_even());
    let samples = match volume.pixel {
        PixelType::U8 => Samples::Bytes(rounded.map(|v| v as u8).collect()),
        _ => Samples::Words(rounded.map(|v| v as u16).collect()),
    };
    let image = samples.image(width, height);
    let image = image.ok_or_else(|| wrong("the volume has other voxels than its size says".into()))?;
    encode(path, &image, format)
}

/// Writes a grey image.
pub fn encode(path: &Path, image: &DynamicImage, format: ImageFormat) -> Result<()> {
    let mut bytes = Cursor::new(Vec::new());
    let encoded = match format {
        ImageFormat::Jpeg => image.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, QUALITY)),
        _ => image.write_to(&mut bytes, format),
    };
    encoded.map_err(|e| Error::file(path, format!("cannot be written as {format:?} ({e}); write .nii.gz")))?;
    atomic::write(path, &[bytes.get_ref()])
}
