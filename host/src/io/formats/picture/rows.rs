//! Rows of pixels as they are stored, and the grey values that become of them.

use image::{DynamicImage, ImageBuffer};
use rayon::prelude::*;

use super::grid;
use crate::error::Message;
use crate::io::colour_map::ColourMap;
use crate::io::reading::{Channel, ReadOptions, Role, Select};
use crate::io::voxels::Take;
use crate::io::wanted::colours_became_values;
use crate::{Geometry, PixelType};

/// Pixels whose luma is made at once, and those that are given on at once.
const PART: usize = 1 << 16;
const GIVEN: usize = 1 << 22;

/// Some whole rows of pixels one after the other, each pixel with its channels side by side.
pub struct Rows {
    pub samples: Samples,
    pub channels: usize,
    /// Pixels of a row.
    pub width: usize,
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

    /// A grey picture of these pixels; none where they are not as many as it has.
    pub fn image(self, width: u32, height: u32) -> Option<DynamicImage> {
        match self {
            Self::Bytes(bytes) => ImageBuffer::from_raw(width, height, bytes).map(DynamicImage::ImageLuma8),
            Self::Words(words) => ImageBuffer::from_raw(width, height, words).map(DynamicImage::ImageLuma16),
        }
    }
}

impl Rows {
    /// Channels among which one can be chosen: what lies beside grey is alpha.
    pub fn colours(&self) -> usize {
        if self.channels == 2 { 1 } else { self.channels }
    }

    /// The grid of these rows alone.
    pub fn grid(&self) -> Result<Geometry, String> {
        let samples = match &self.samples {
            Samples::Bytes(bytes) => bytes.len(),
            Samples::Words(words) => words.len(),
        };
        grid(self.width as u32, (samples / self.channels / self.width) as u32)
    }

    /// These and those that follow them.
    pub fn then(mut self, next: Self) -> Self {
        match (&mut self.samples, next.samples) {
            (Samples::Bytes(all), Samples::Bytes(next)) => all.extend(next),
            (Samples::Words(all), Samples::Words(next)) => all.extend(next),
            _ => {}
        }
        self
    }

    /// The values behind the colours of a colour map, if their luma was to be `taken` and nobody chose it; else these rows as they are. Beside
    /// them what is to be taken of them, and what is said of it.
    pub fn behind_colours(self, options: &ReadOptions, taken: (Take, Vec<Message>)) -> (Self, Take, Vec<Message>) {
        // Masks and labels are no measurements, and pages of several have a map each.
        let measured = options.role != Role::Plain && options.volume != Some(Select::Mean);
        let asked = measured && taken.0 == Take::Luma && options.channel == Channel::Auto;
        let channels = self.channels;
        let values = asked.then(|| match &self.samples {
            Samples::Bytes(bytes) => values(bytes, channels, 255.0, |v| v as u8).map(Samples::Bytes),
            Samples::Words(words) => values(words, channels, 65535.0, |v| v as u16).map(Samples::Words),
        });
        match values.flatten() {
            Some(samples) => (Self { samples, channels: 1, ..self }, Take::All, vec![colours_became_values()]),
            None => (self, taken.0, taken.1),
        }
    }

    /// Gives a number per pixel, some rows at a time: what is taken of its channels, and the first of them where all are.
    pub fn give(&self, take: Take, given: &mut dyn FnMut(&[f32])) {
        let part = (GIVEN / self.width).max(1) * self.width * self.channels;
        match &self.samples {
            Samples::Bytes(bytes) => bytes.chunks(part).for_each(|part| given(&self.grey(part, take, of_bytes))),
            Samples::Words(words) => words.chunks(part).for_each(|part| given(&self.grey(part, take, of_words))),
        }
    }

    fn grey<T: Copy + Into<f32> + Sync>(&self, part: &[T], take: Take, luma: Luma<T>) -> Vec<f32> {
        let channel = match take {
            Take::Luma => return lumas(part, self.channels, luma),
            Take::One(channel) => channel,
            Take::All | Take::Mean => 0,
        };
        part.iter().skip(channel).step_by(self.channels).map(|&sample| sample.into()).collect()
    }
}

/// The values behind the colours of a colour map, from 0 to `white`; none where they are not of one.
fn values<T>(samples: &[T], channels: usize, white: f64, number: fn(f64) -> T) -> Option<Vec<T>>
where
    T: Copy + Into<f64> + Send + Sync,
{
    ColourMap::of(samples, channels, white).map(|map| map.values(samples, channels, white, number))
}

/// Red, green and blue of pixels to their luma.
type Luma<T> = fn(Vec<T>) -> Option<Vec<T>>;

fn of_bytes(colours: Vec<u8>) -> Option<Vec<u8>> {
    let image = ImageBuffer::from_raw((colours.len() / 3) as u32, 1, colours)?;
    Some(DynamicImage::ImageRgb8(image).into_luma8().into_raw())
}

fn of_words(colours: Vec<u16>) -> Option<Vec<u16>> {
    let image = ImageBuffer::from_raw((colours.len() / 3) as u32, 1, colours)?;
    Some(DynamicImage::ImageRgb16(image).into_luma16().into_raw())
}

/// The luma of the first three channels of every pixel.
fn lumas<T: Copy + Into<f32> + Sync>(samples: &[T], channels: usize, luma: Luma<T>) -> Vec<f32> {
    let mut grey = vec![0.0; samples.len() / channels];
    grey.par_chunks_mut(PART).zip(samples.par_chunks(PART * channels)).for_each(|(grey, pixels)| {
        let colours = pixels.chunks_exact(channels).flat_map(|pixel| &pixel[..3]).copied().collect();
        let luma = luma(colours).unwrap_or_default();
        grey.iter_mut().zip(luma).for_each(|(grey, luma)| *grey = luma.into());
    });
    grey
}
