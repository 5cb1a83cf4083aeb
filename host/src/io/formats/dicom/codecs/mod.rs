//! Decompresses frames (PS3.5 8.2, A.4).

pub mod jpeg;
pub mod jpeg2000;
pub mod rle;

use std::borrow::Cow;

/// What to do about compressed frames that mireg does not read.
pub const DECOMPRESS: &str = "decompress it, for example with gdcmconv --raw, or convert it to NIfTI with dcm2niix";

/// A decompressed frame.
pub struct DecodedFrame<'a> {
    pub bytes: Cow<'a, [u8]>,
    /// Bytes per number.
    pub width: usize,
    pub big_endian: bool,
    pub order: Order,
    /// Whether colours were converted to red, green and blue.
    pub rgb: bool,
}

impl<'a> DecodedFrame<'a> {
    /// A frame of little-endian numbers of `width` bytes.
    pub fn of(bytes: impl Into<Cow<'a, [u8]>>, width: usize) -> Self {
        Self { bytes: bytes.into(), width, big_endian: false, order: Order::Pixels, rgb: false }
    }
}

/// The order of the samples of colour pixels.
#[derive(Clone, Copy, PartialEq)]
pub enum Order {
    /// All samples of a pixel, then all of the next pixel.
    Pixels,
    /// The first sample of every pixel, then the second of every pixel, then the third.
    Planes,
    /// The first samples of two pixels, then the second and the third sample, which both pixels share.
    Pairs,
}

impl Order {
    /// The indices of the three samples of pixel `n` in a frame of `count` pixels.
    pub fn samples(self, n: usize, count: usize) -> [usize; 3] {
        match self {
            Self::Pixels => [3 * n, 3 * n + 1, 3 * n + 2],
            Self::Planes => [n, count + n, 2 * count + n],
            Self::Pairs => [n / 2 * 4 + n % 2, n / 2 * 4 + 2, n / 2 * 4 + 3],
        }
    }
}

/// Checks that a frame has the size that the header of its file says.
fn same_size(kind: &str, frame: [usize; 2], header: [usize; 2]) -> Result<(), String> {
    match frame == header {
        true => Ok(()),
        false => Err(format!(
            "its {kind} is of {} x {} pixels but its header says {} x {}; copy or download it again",
            frame[0], frame[1], header[0], header[1]
        )),
    }
}

/// Checks that a frame has as many samples per pixel as the header of its file says.
fn same_samples(kind: &str, frame: usize, header: usize) -> Result<(), String> {
    match frame == header {
        true => Ok(()),
        false => Err(format!(
            "its {kind} has {frame} samples per pixel but its header says {header}; save it again as DICOM"
        )),
    }
}
