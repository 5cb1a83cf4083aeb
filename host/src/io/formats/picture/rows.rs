//! Rows of pixels as they are stored, and their conversion to grey values.

use image::{DynamicImage, ImageBuffer};
use rayon::prelude::*;

use super::grid;
use crate::error::Message;
use crate::io::colour_map::ColourMap;
use crate::io::read_plan::colours_became_values;
use crate::io::reading::{Channel, ReadOptions, Role, Select};
use crate::io::voxels::Take;
use crate::{Geometry, PixelType};

/// Pixels whose luma is computed at once ([`PART`]), and pixels that are passed on at once ([`GIVEN`]).
const PART: usize = 1 << 16;
const GIVEN: usize = 1 << 22;

/// Consecutive whole rows of pixels, with the channels of a pixel side by side.
pub struct Rows {
    pub samples: Samples,
    pub channels: usize,
    /// Pixels per row.
    pub width: usize,
}

/// Integers of one type.
pub enum Samples {
    Bytes(Vec<u8>),
    Words(Vec<u16>),
}

impl Samples {
    /// The type of a number.
    pub fn pixel(&self) -> PixelType {
        match self {
            Self::Bytes(_) => PixelType::U8,
            Self::Words(_) => PixelType::U16,
        }
    }

    /// Makes a grey image of these pixels; `None` if their number is not that of the image.
    pub fn image(self, width: u32, height: u32) -> Option<DynamicImage> {
        match self {
            Self::Bytes(bytes) => ImageBuffer::from_raw(width, height, bytes).map(DynamicImage::ImageLuma8),
            Self::Words(words) => ImageBuffer::from_raw(width, height, words).map(DynamicImage::ImageLuma16),
        }
    }
}

impl Rows {
    /// The number of channels to choose from. The second of two channels is alpha, and is not among them.
    pub fn colours(&self) -> usize {
        if self.channels == 2 { 1 } else { self.channels }
    }

    /// The grid of these rows.
    pub fn grid(&self) -> Result<Geometry, String> {
        let samples = match &self.samples {
            Samples::Bytes(bytes) => bytes.len(),
            Samples::Words(words) => words.len(),
        };
        grid(self.width as u32, (samples / self.channels / self.width) as u32)
    }

    /// Appends the following rows.
    pub fn then(mut self, next: Self) -> Self {
        match (&mut self.samples, next.samples) {
            (Samples::Bytes(all), Samples::Bytes(next)) => all.extend(next),
            (Samples::Words(all), Samples::Words(next)) => all.extend(next),
            _ => {}
        }
        self
    }

    /// Replaces the colours of a colour map by their values, if luma was to be taken by default. Other rows are
    /// returned as they are. Also returns what to take of the new rows, and notes for the user.
    pub fn behind_colours(self, options: &ReadOptions, taken: (Take, Vec<Message>)) -> (Self, Take, Vec<Message>) {
        // Masks and labels are not measurements. Of several pages, each could have its own colour map.
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

    /// Passes on one number per pixel, some rows at a time: what `take` selects of the channels, or the first channel
    /// if it selects all.
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

/// The values of the colours of a colour map, from 0 to `white`; `None` if the colours are not those of one.
fn values<T>(samples: &[T], channels: usize, white: f64, number: fn(f64) -> T) -> Option<Vec<T>>
where
    T: Copy + Into<f64> + Send + Sync,
{
    ColourMap::of(samples, channels, white).map(|map| map.values(samples, channels, white, number))
}

/// Converts red, green and blue of pixels to luma.
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
