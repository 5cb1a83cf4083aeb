//! How a file stores its pixels (PS3.3 C.7.6.3), and the conversion of frames to intensities.

use super::codecs::{self, DecodedFrame, Order};
use super::elements::Pixels;
use super::file::DicomFile;
use super::plane::Rescale;
use super::tags;
use crate::PixelType;
use crate::io::luma::luma;
use crate::io::source::MOST_DEFLATED;
use crate::io::voxels::Take;

/// How the pixels of a file are stored.
pub struct Layout {
    packing: Packing,
    colours: Option<Colours>,
    order: Order,
    /// Whether 8-bit pixels are stored in 16-bit big-endian words, so that each two bytes are swapped.
    swapped: bool,
    big_endian: bool,
    /// The bits allocated for each number, the bits that are used, and the index of the most significant used bit.
    allocated: u32,
    stored: u32,
    high: u32,
    signed: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Packing {
    Native,
    Rle,
    Jpeg,
    Jpeg2000,
}

/// The colour space of a pixel's three numbers.
#[derive(Clone, Copy, PartialEq)]
enum Colours {
    Rgb,
    Ybr,
}

impl Layout {
    pub fn of(file: &DicomFile) -> Result<Self, String> {
        let elements = &file.elements;
        let packing = packing(&file.syntax)?;
        let samples = elements.short(tags::SAMPLES).unwrap_or(1);
        let photometric = elements.text(tags::PHOTOMETRIC).unwrap_or_else(|| "MONOCHROME2".into());
        let colours = match (samples, &photometric[..]) {
            (1, "MONOCHROME1" | "MONOCHROME2") => None,
            (3, "RGB") => Some(Colours::Rgb),
            (3, "YBR_FULL" | "YBR_FULL_422" | "YBR_RCT" | "YBR_ICT") => Some(Colours::Ybr),
            (1, "PALETTE COLOR") => {
                let what = "its pixels are indices into a palette of colours, which mireg does not read";
                return Err(format!("{what}; convert it to RGB, for example with gdcmconv --apply-lut"));
            }
            _ => {
                return Err(format!(
                    "its pixels have {samples} samples and are {photometric}; mireg reads grey, RGB and YBR images"
                ));
            }
        };
        let allocated = elements.short(tags::ALLOCATED).unwrap_or(0).into();
        let stored = elements.short(tags::STORED).map_or(allocated, u32::from);
        let high = elements.short(tags::HIGH_BIT).map_or(stored.saturating_sub(1), u32::from);
        if ![8, 16, 32].contains(&allocated) || stored == 0 || high + 1 < stored || high >= allocated {
            return Err(format!(
                "its pixels use {stored} of {allocated} bits, up to bit {high}; mireg reads pixels of 8, 16 and 32 bits"
            ));
        }
        let order = match (colours, &photometric[..], elements.short(tags::PLANAR)) {
            (Some(_), "YBR_FULL_422", _) => Order::Pairs,
            (Some(_), _, Some(1)) => Order::Planes,
            _ => Order::Pixels,
        };
        let words = matches!(file.pixels(), Some(Pixels::Native { words: true, .. }));
        let big_endian = file.encoding.big_endian;
        let swapped = big_endian && allocated == 8 && words;
        let signed = elements.short(tags::REPRESENTATION) == Some(1);
        Ok(Self { packing, colours, order, swapped, big_endian, allocated, stored, high, signed })
    }

    /// The bytes of an uncompressed frame of `count` pixels.
    pub fn frame_bytes(&self, count: usize) -> u64 {
        let numbers = match (self.colours, self.order) {
            (None, _) => count,
            (Some(_), Order::Pairs) => 2 * count,
            (Some(_), _) => 3 * count,
        };
        let bytes = numbers as u64 * u64::from(self.allocated / 8);
        // Words hold two bytes each.
        if self.swapped { bytes.next_multiple_of(2) } else { bytes }
    }

    /// Checks that `file` can hold `frames` frames of `count` pixels.
    pub fn fits(&self, file: &DicomFile, count: usize, frames: usize) -> Result<(), String> {
        let bytes = self.frame_bytes(count).saturating_mul(frames as u64);
        if self.swapped && frames > 1 && !count.is_multiple_of(2) {
            return Err("holds 8-bit pixels in big-endian words; save it as explicit little-endian".into());
        }
        match file.pixels() {
            None => Err("holds no pixels (PixelData); give another file of the series".into()),
            Some(Pixels::Native { start, length, .. }) if self.packing == Packing::Native => {
                let there = (*length).min(if file.deflated() { u64::MAX } else { file.length.saturating_sub(*start) });
                let most = file.length.saturating_mul(MOST_DEFLATED);
                match there.min(most) < bytes {
                    true => Err(format!(
                        "has {there} bytes of pixels, not {bytes}, so it is truncated; copy or download it again"
                    )),
                    false => Ok(()),
                }
            }
            Some(Pixels::Fragments { .. }) if self.packing != Packing::Native => {
                match file.length.saturating_mul(MOST_DEFLATED) < bytes {
                    true => Err(format!(
                        "its header claims {frames} frames of {count} pixels, more than the file can hold ({} bytes); it is \
                         truncated or damaged: copy or download it again",
                        file.length
                    )),
                    false => Ok(()),
                }
            }
            _ => Err(format!(
                "its pixels are not stored as its transfer syntax ({}) says; save it again as DICOM",
                file.syntax
            )),
        }
    }

    /// The numbers per pixel: 3 for colours, else 1.
    pub fn channels(&self) -> usize {
        if self.colours.is_some() { 3 } else { 1 }
    }

    /// The type that holds the stored pixels, before rescaling.
    pub fn pixel(&self) -> PixelType {
        match (self.allocated, self.signed) {
            (8, false) => PixelType::U8,
            (8, true) => PixelType::I8,
            (16, false) => PixelType::U16,
            (16, true) => PixelType::I16,
            (_, false) => PixelType::U32,
            (_, true) => PixelType::I32,
        }
    }

    /// Converts a frame, stored as `bytes`, to intensities: rescaled numbers, or what `take` selects of colours.
    pub fn decode(
        &self,
        bytes: &[u8],
        size: [usize; 2],
        (rescale, take): (Rescale, Take),
        voxels: &mut [f32],
    ) -> Result<(), String> {
        let count = size[0] * size[1];
        let samples = self.channels();
        let width = self.allocated as usize / 8;
        let rgb = self.colours == Some(Colours::Rgb);
        let frame = match self.packing {
            Packing::Native => {
                DecodedFrame { order: self.order, big_endian: self.big_endian, ..DecodedFrame::of(bytes, width) }
            }
            Packing::Rle => codecs::rle::unpack(bytes, count, width, samples)?,
            Packing::Jpeg => codecs::jpeg::unpack(bytes, size, samples, rgb)?,
            Packing::Jpeg2000 => codecs::jpeg2000::unpack(bytes, size, samples)?,
        };
        let needed = if frame.order == Order::Pairs { 2 * count } else { samples * count } * frame.width;
        if frame.bytes.len() < needed {
            let there = frame.bytes.len();
            return Err(format!(
                "has {there} bytes of pixels in a frame, not {needed}, so it is truncated; copy or download it again"
            ));
        }
        let number = |n: usize| self.number(&frame, n);
        match self.colours {
            None => {
                let voxel = |n| (number(n) * rescale.slope + rescale.intercept) as f32;
                voxels.iter_mut().enumerate().for_each(|(n, intensity)| *intensity = voxel(n));
            }
            Some(colours) => {
                let rgb = rgb || frame.rgb;
                let zero = f64::from(1u32 << (self.stored - 1).min(31));
                let colours = if rgb { Colours::Rgb } else { colours };
                let rgb = |n| colours.rgb(frame.order.samples(n, count).map(number), zero);
                let taken = |n| match take {
                    Take::One(channel) => rgb(n)[channel] as f32,
                    _ => luma(&rgb(n)),
                };
                voxels.iter_mut().enumerate().for_each(|(n, intensity)| *intensity = taken(n));
            }
        }
        Ok(())
    }

    /// The `n`th number of a frame.
    fn number(&self, frame: &DecodedFrame, n: usize) -> f64 {
        let n = if self.swapped { n ^ 1 } else { n };
        let Some(bytes) = frame.bytes.get(n * frame.width..(n + 1) * frame.width) else { return 0.0 };
        let push = |word: u32, &byte: &u8| word << 8 | u32::from(byte);
        let word = if frame.big_endian { bytes.iter().fold(0, push) } else { bytes.iter().rev().fold(0, push) };
        // Bits outside the used ones may hold something else.
        let [up, down] = [31 - self.high, 32 - self.stored];
        if self.signed { f64::from(((word << up) as i32) >> down) } else { f64::from(word << up >> down) }
    }
}

impl Colours {
    /// Red, green and blue of a pixel. `zero` is the number that stands for a chroma of 0.
    fn rgb(self, [a, b, c]: [f64; 3], zero: f64) -> [f64; 3] {
        match self {
            Self::Rgb => [a, b, c],
            Self::Ybr => {
                let (cb, cr) = (b - zero, c - zero);
                let most = 2.0 * zero - 1.0;
                let colours = [a + 1.402 * cr, a - 0.344_136 * cb - 0.714_136 * cr, a + 1.772 * cb];
                colours.map(|colour| colour.round().clamp(0.0, most))
            }
        }
    }
}

/// The compression of a transfer syntax.
fn packing(syntax: &str) -> Result<Packing, String> {
    let name = match syntax.strip_prefix("1.2.840.10008.1.2").unwrap_or(syntax) {
        "" | ".1" | ".2" | ".1.99" => return Ok(Packing::Native),
        ".5" => return Ok(Packing::Rle),
        ".4.50" | ".4.51" | ".4.57" | ".4.70" => return Ok(Packing::Jpeg),
        ".4.90" | ".4.91" => return Ok(Packing::Jpeg2000),
        ".4.80" | ".4.81" => "JPEG-LS",
        other if other.starts_with(".4.10") => {
            return Err(
                "its pixels are a film compressed with MPEG, which mireg does not read; give a series of slices".into(),
            );
        }
        _ => {
            return Err(format!(
                "its pixels are compressed in a way that mireg does not read (transfer syntax {syntax}); decompress it with a \
                 program that knows this transfer syntax"
            ));
        }
    };
    Err(format!("its pixels are compressed with {name}, which mireg does not read; {}", codecs::DECOMPRESS))
}
