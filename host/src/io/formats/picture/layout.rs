//! The pixel layout of a TIFF page, and the conversion of its pixels to grey or to red, green and blue.

use tiff::ColorType;

use super::grid;
use super::rows::{Rows, Samples};
use crate::error::Message;
use crate::io::reading::ReadOptions;
use crate::io::voxels::Take;
use crate::{Geometry, PixelType};

/// The layout of a page's pixels.
pub struct Layout {
    pub size: [u32; 2],
    /// The size of a strip or tile. The last ones may extend beyond the image.
    pub unit: [u32; 2],
    pub colour: ColorType,
    /// Numbers per pixel, and bytes per number, after decompression.
    pub channels: usize,
    pub bytes: usize,
}

impl Layout {
    /// The number of strips or tiles along each axis.
    pub fn units(&self) -> [u32; 2] {
        [0, 1].map(|axis| self.size[axis].div_ceil(self.unit[axis]))
    }

    /// Bytes per row.
    pub fn stride(&self) -> usize {
        self.size[0] as usize * self.channels * self.bytes
    }

    pub fn grid(&self) -> Result<Geometry, String> {
        grid(self.size[0], self.size[1])
    }

    pub fn pixel(&self) -> PixelType {
        if self.bytes == 2 { PixelType::U16 } else { PixelType::U8 }
    }

    /// Which channels to take, with notes for the user. Only colours have luma.
    pub fn channels_to_take(&self, options: &ReadOptions) -> Result<(Take, Vec<Message>), Message> {
        match (self.colour, options.channel) {
            (ColorType::Multiband { .. }, channel) if !channel.is_number() => {
                let message = Message::from(format!("has {} channels", self.channels));
                Err(message.then(&options.channel_advice(self.channels)))
            }
            (ColorType::CMYK(_), _) => options.channel(3),
            _ => options.channel(self.channels),
        }
    }

    /// Converts bytes to pixels, and colours to red, green and blue.
    pub fn rows(&self, bytes: Vec<u8>) -> Rows {
        let samples = match self.bytes {
            1 => Samples::Bytes(bytes),
            _ => Samples::Words(bytes.chunks_exact(2).map(|word| u16::from_ne_bytes([word[0], word[1]])).collect()),
        };
        let samples = match (self.colour, samples) {
            (ColorType::YCbCr(_), Samples::Bytes(bytes)) => Samples::Bytes(mapped(&bytes, rgb_of_chroma)),
            (ColorType::CMYK(_), Samples::Bytes(bytes)) => {
                Samples::Bytes(mapped(&bytes, |[c, m, y, k]| rgb_of_inks([c, m, y], k, 255.0).map(|v| v as u8)))
            }
            (ColorType::CMYK(_), Samples::Words(words)) => {
                Samples::Words(mapped(&words, |[c, m, y, k]| rgb_of_inks([c, m, y], k, 65535.0).map(|v| v as u16)))
            }
            (_, samples) => samples,
        };
        let inks = matches!(self.colour, ColorType::CMYK(_));
        Rows { samples, channels: if inks { 3 } else { self.channels }, width: self.size[0] as usize }
    }
}

/// Converts every pixel by `pixel`.
fn mapped<T: Copy, const N: usize, const M: usize>(samples: &[T], pixel: impl Fn([T; N]) -> [T; M]) -> Vec<T> {
    samples.as_chunks::<N>().0.iter().flat_map(|&from| pixel(from)).collect()
}

/// Converts YCbCr, as in JPEG, to red, green and blue.
fn rgb_of_chroma([y, blue, red]: [u8; 3]) -> [u8; 3] {
    let [y, blue, red] = [f32::from(y), f32::from(blue) - 128.0, f32::from(red) - 128.0];
    [y + 1.402 * red, y - 0.344_136 * blue - 0.714_136 * red, y + 1.772 * blue].map(|v| v.round() as u8)
}

/// Converts cyan, magenta, yellow and black, from 0 to `full`, to red, green and blue.
fn rgb_of_inks<T: Into<f32>>(inks: [T; 3], black: T, full: f32) -> [f32; 3] {
    let left = 1.0 - black.into() / full;
    inks.map(|ink| (full - ink.into()) * left)
}
