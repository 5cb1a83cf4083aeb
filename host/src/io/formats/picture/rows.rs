//! Rows of pixels as they are stored, and the grey values that become of them.

use image::{DynamicImage, ImageBuffer};
use rayon::prelude::*;

use crate::PixelType;
use crate::io::voxels::Take;

/// Pixels whose luma is made at once.
const PART: usize = 1 << 16;

/// Some pixels one after the other, each with its channels side by side.
pub struct Rows {
    pub samples: Samples,
    pub channels: usize,
}

/// Whole numbers of one type.
pub enum Samples {
    Bytes(Vec<u8>),
    Words(Vec<u16>),
}

impl Samples {
    /// The type that holds each.
    pub fn pixel(&self) -> PixelType {
        match self {
            Self::Bytes(_) => PixelType::U8,
            Self::Words(_) => PixelType::U16,
        }
    }
}

impl Rows {
    /// A number per pixel: what is taken of its channels, and the first of them where all are.
    pub fn grey(&self, take: Take) -> Vec<f32> {
        let channel = if let Take::One(channel) = take { channel } else { 0 };
        match (&self.samples, take) {
            (Samples::Bytes(bytes), Take::Luma) => luma(bytes, self.channels, |colours| {
                let image = ImageBuffer::from_raw((colours.len() / 3) as u32, 1, colours)?;
                Some(DynamicImage::ImageRgb8(image).into_luma8().into_raw())
            }),
            (Samples::Words(words), Take::Luma) => luma(words, self.channels, |colours| {
                let image = ImageBuffer::from_raw((colours.len() / 3) as u32, 1, colours)?;
                Some(DynamicImage::ImageRgb16(image).into_luma16().into_raw())
            }),
            (Samples::Bytes(bytes), _) => every(bytes, self.channels, channel),
            (Samples::Words(words), _) => every(words, self.channels, channel),
        }
    }
}

/// One channel of every pixel.
fn every<T: Copy + Into<f32>>(samples: &[T], channels: usize, channel: usize) -> Vec<f32> {
    samples.iter().skip(channel).step_by(channels).map(|&sample| sample.into()).collect()
}

/// What `luma` makes of the first three channels of every pixel.
fn luma<T: Copy + Into<f32> + Sync>(
    samples: &[T],
    channels: usize,
    luma: impl Fn(Vec<T>) -> Option<Vec<T>> + Sync,
) -> Vec<f32> {
    let mut grey = vec![0.0; samples.len() / channels];
    grey.par_chunks_mut(PART).zip(samples.par_chunks(PART * channels)).for_each(|(grey, pixels)| {
        let colours = pixels.chunks_exact(channels).flat_map(|pixel| &pixel[..3]).copied().collect();
        let luma = luma(colours).unwrap_or_default();
        grey.iter_mut().zip(luma).for_each(|(grey, luma)| *grey = luma.into());
    });
    grey
}
