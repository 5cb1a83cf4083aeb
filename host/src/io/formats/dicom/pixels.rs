//! The pixels of a slice as intensities: native, RLE (PS3.5 G) or JPEG, then modality rescale (PS3.3 C.11.1).

use std::borrow::Cow;

use jpeg_decoder::{Decoder, PixelFormat};

use super::elements::{Elements, Tag};
use crate::PixelType;
use crate::io::source::MOST_DEFLATED;

const SAMPLES: Tag = (0x0028, 0x0002);
const PHOTOMETRIC: Tag = (0x0028, 0x0004);
const ALLOCATED: Tag = (0x0028, 0x0100);
const STORED: Tag = (0x0028, 0x0101);
const HIGH_BIT: Tag = (0x0028, 0x0102);
const REPRESENTATION: Tag = (0x0028, 0x0103);
const INTERCEPT: Tag = (0x0028, 0x1052);
const SLOPE: Tag = (0x0028, 0x1053);

/// How the pixels of a slice are stored.
pub struct Layout {
    packing: Packing,
    /// Bits that each pixel takes and has, and the number of its most significant.
    allocated: u32,
    stored: u32,
    high: u32,
    signed: bool,
    slope: f64,
    intercept: f64,
}

enum Packing {
    Native,
    Rle,
    Jpeg,
}

/// Pixels as unpacked: `width` bytes each.
struct Unpacked<'a> {
    bytes: Cow<'a, [u8]>,
    width: usize,
    big_endian: bool,
}

impl Layout {
    pub fn of(elements: &Elements) -> Result<Self, String> {
        let packing = match elements.syntax.strip_prefix("1.2.840.10008.1.2").unwrap_or("other") {
            "" | ".1" | ".2" => Packing::Native,
            ".5" => Packing::Rle,
            ".4.50" | ".4.51" | ".4.57" | ".4.70" => Packing::Jpeg,
            _ => {
                return Err(format!(
                    "its pixels are compressed in a way that mireg does not read (transfer syntax {}); decompress it, for \
                     example with gdcmconv --raw, or convert it to NIfTI with dcm2niix",
                    elements.syntax
                ));
            }
        };
        let photometric = elements.text(PHOTOMETRIC).unwrap_or_else(|| "MONOCHROME2".into());
        if elements.short(SAMPLES).unwrap_or(1) != 1 || !photometric.starts_with("MONOCHROME") {
            return Err(format!("its pixels are colours ({photometric}); give an image of one number per pixel"));
        }
        let allocated = elements.short(ALLOCATED).unwrap_or(0).into();
        let stored = elements.short(STORED).map_or(allocated, u32::from);
        let high = elements.short(HIGH_BIT).map_or(stored.saturating_sub(1), u32::from);
        if ![8, 16, 32].contains(&allocated) || stored == 0 || high + 1 < stored || high >= allocated {
            return Err(format!(
                "its pixels use {stored} of {allocated} bits, up to bit {high}; mireg reads pixels of 8, 16 and 32 bits"
            ));
        }
        if allocated == 8 && elements.big_endian {
            return Err("holds 8-bit pixels in big-endian words; save it as explicit little-endian".into());
        }
        let [slope] = elements.numbers(SLOPE, "RescaleSlope")?.unwrap_or([1.0]);
        let [intercept] = elements.numbers(INTERCEPT, "RescaleIntercept")?.unwrap_or([0.0]);
        if slope == 0.0 {
            return Err("its RescaleSlope is 0; correct it".into());
        }
        let signed = elements.short(REPRESENTATION) == Some(1);
        Ok(Self { packing, allocated, stored, high, signed, slope, intercept })
    }

    /// Whether `count` pixels can be in a file of `length` bytes.
    pub fn fits(&self, count: usize, length: u64) -> Result<(), String> {
        let bytes = count as u64 * u64::from(self.allocated / 8);
        let most = match self.packing {
            Packing::Native => length,
            Packing::Rle | Packing::Jpeg => length.saturating_mul(MOST_DEFLATED),
        };
        if bytes > most {
            return Err(format!(
                "its header claims {count} pixels, more than the file can hold ({length} bytes); it is truncated or damaged: \
                 copy or download it again"
            ));
        }
        Ok(())
    }

    /// The type that holds the pixels without rescale; none where there is any.
    pub fn unscaled(&self) -> Option<PixelType> {
        let pixel = match (self.allocated, self.signed) {
            (8, false) => PixelType::U8,
            (8, true) => PixelType::I8,
            (16, false) => PixelType::U16,
            (16, true) => PixelType::I16,
            (_, false) => PixelType::U32,
            (_, true) => PixelType::I32,
        };
        (self.slope == 1.0 && self.intercept == 0.0).then_some(pixel)
    }

    /// Whether rescale gives whole numbers.
    pub fn is_whole(&self) -> bool {
        self.slope.fract() == 0.0 && self.intercept.fract() == 0.0
    }

    /// Appends the pixels, which `elements` holds, to `voxels`.
    pub fn decode(&self, elements: &Elements, size: [usize; 2], voxels: &mut Vec<f32>) -> Result<(), String> {
        let count = size[0] * size[1];
        let Unpacked { bytes, width, big_endian } = match self.packing {
            Packing::Native => {
                let width = self.allocated as usize / 8;
                Unpacked { bytes: Cow::Borrowed(&elements.pixels), width, big_endian: elements.big_endian }
            }
            Packing::Rle => rle(&elements.pixels, count, self.allocated as usize / 8)?,
            Packing::Jpeg => jpeg(&elements.pixels, size)?,
        };
        if bytes.len() < count * width {
            return Err(format!(
                "has {} bytes of pixels, not {}, so it is truncated; copy or download it again",
                bytes.len(),
                count * width
            ));
        }
        let [up, down] = [31 - self.high, 32 - self.stored];
        voxels.extend(bytes.chunks_exact(width).take(count).map(|pixel| {
            let push = |word: u32, &byte: &u8| word << 8 | u32::from(byte);
            let word = if big_endian { pixel.iter().fold(0, push) } else { pixel.iter().rev().fold(0, push) };
            // The bits above the pixel's own may hold something else.
            let stored =
                if self.signed { f64::from(((word << up) as i32) >> down) } else { f64::from(word << up >> down) };
            (stored * self.slope + self.intercept) as f32
        }));
        Ok(())
    }
}

/// Unpacks `count` pixels of `width` bytes: a segment for each byte, the most significant first.
fn rle(packed: &[u8], count: usize, width: usize) -> Result<Unpacked<'static>, String> {
    let damaged = || "its RLE pixels are damaged; copy or download it again".to_owned();
    let word = |n: usize| packed.get(4 * n..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes) as usize);
    if word(0) != Some(width) {
        return Err(damaged());
    }
    let mut bytes = vec![0; count * width];
    for segment in 0..width {
        let start = word(1 + segment).ok_or_else(damaged)?;
        let unpacked = unpack_bits(packed.get(start..).ok_or_else(damaged)?, count);
        if unpacked.len() < count {
            return Err(damaged());
        }
        bytes.iter_mut().skip(segment).step_by(width).zip(unpacked).for_each(|(byte, value)| *byte = value);
    }
    Ok(Unpacked { bytes: bytes.into(), width, big_endian: true })
}

/// The first `count` bytes of a PackBits stream, or fewer where it ends.
fn unpack_bits(mut packed: &[u8], count: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while bytes.len() < count
        && let Some((&code, rest)) = packed.split_first()
    {
        let (taken, run) = match code {
            0..128 => (usize::from(code) + 1, None),
            128 => (0, None),
            129.. => (1, Some(257 - usize::from(code))),
        };
        let Some((literal, after)) = rest.split_at_checked(taken) else { break };
        match run {
            Some(run) => bytes.resize(bytes.len() + run, literal[0]),
            None => bytes.extend(literal),
        }
        packed = after;
    }
    bytes.truncate(count);
    bytes
}

fn jpeg(packed: &[u8], size: [usize; 2]) -> Result<Unpacked<'static>, String> {
    let damaged =
        |e: jpeg_decoder::Error| format!("its JPEG pixels are damaged or of a kind that mireg does not read ({e})");
    let mut decoder = Decoder::new(packed);
    decoder.set_max_decoding_buffer_size(packed.len().saturating_mul(MOST_DEFLATED as usize));
    decoder.read_info().map_err(damaged)?;
    let info = decoder.info().ok_or("its JPEG pixels have no header; copy or download it again")?;
    let width = match info.pixel_format {
        PixelFormat::L8 => 1,
        PixelFormat::L16 => 2,
        _ => return Err("its JPEG pixels are colours; give an image of one number per pixel".into()),
    };
    if [info.width, info.height].map(usize::from) != size {
        return Err(format!(
            "its JPEG is of {} x {} pixels but its header says {} x {}; copy or download it again",
            info.width, info.height, size[0], size[1]
        ));
    }
    let bytes = decoder.decode().map_err(damaged)?;
    Ok(Unpacked { bytes: bytes.into(), width, big_endian: cfg!(target_endian = "big") })
}
